"""From xDSL's classes to ours and back, for operations that xDSL's classes do not always hold.

What a compiler built with xDSL makes is of xDSL's classes: its `gpu.func` without attributes of
arguments, its `arith.cmpi` of scalars only. Translations and passes of ours take it as theirs, and
stock passes get those of our operations that xDSL's classes hold as xDSL's. What those know no
property for, and what only promises something, becomes a discardable attribute on the way.
`xtile/text/extensions.py` and the tables of the dialects say which these are.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.walk import walk
from xtile.text.extensions import (
    Extension,
    Replacement,
    default_properties,
    replacement_of,
    table_of,
)
from xtile.text.source import clone_with_source


def normalised(module: ModuleOp) -> ModuleOp:
    """Returns a module with classes of ours for operations that xDSL's do not always hold.

    Where our class derives from xDSL's, the operation stays what it was for everyone else, and
    changes in place. If there are others, the result is a copy.
    """
    has_others = False
    for operation in walk(module):
        row = replacement_of(type(operation))
        if row is not None and row.adapt is None:
            _take(operation, row)
        elif row is not None:
            has_others = True
    if has_others:
        module = clone_with_source(module)
        normalise(module)
    return module


def normalise(module: ModuleOp) -> None:
    """Gives operations that xDSL's classes do not always hold the classes of ours, in place."""
    for operation in module.walk():
        row = replacement_of(type(operation))
        if row is not None:
            _take(operation, row)


def give_back(module: ModuleOp) -> None:
    """Gives operations xDSL's classes where those hold them, as passes of xDSL's expect them."""
    for operation in module.walk():
        kind = _replaced_by(type(operation))
        if kind is not None:
            _give(operation, kind)


def reading_either(kind: type[Operation], own: type[Operation]) -> type[Operation]:
    """Returns a class that reads an operation as xDSL's where that holds it, and else as ours.

    Args:
        kind: xDSL's class.
        own: The class of ours that derives from it.
    """

    def parse(_: type[Operation], parser: Parser) -> Operation:
        return narrowed(own.parse(parser))

    def create(_: type[Operation], *arguments: Any, **named: Any) -> Operation:
        return narrowed(own.create(*arguments, **named))

    def narrowed(operation: Operation) -> Operation:
        _give(operation, kind)
        return operation

    members = {"parse": classmethod(parse), "create": classmethod(create)}
    return type(own.__name__, (own,), members)


def _take(operation: Operation, row: Replacement) -> None:
    operation.__class__ = row.load()
    if row.adapt is not None:
        row.adapt(operation)
        _exchange(operation, operation.attributes, operation.properties)
    operation.properties = {**default_properties(type(operation)), **operation.properties}


def _give(operation: Operation, kind: type[Operation]) -> None:
    row = replacement_of(kind)
    assert row is not None
    own, operation.__class__ = type(operation), kind
    if row.restore is not None:
        row.restore(operation)
        _exchange(operation, operation.properties, operation.attributes)
    if not _holds(kind, operation):
        operation.__class__ = own
        _take(operation, row)


def _holds(kind: type[Operation], operation: Operation) -> bool:
    """Whether a class of xDSL's holds an operation, which may be one that nobody has verified."""
    try:
        kind.verify_(operation)
    # memory_space_cast asks memrefs without a rank for a shape, gpu.func its body for a block.
    except (AttributeError, IndexError, VerifyException):
        return False
    except Exception as error:
        # memref.load and memref.store raise nothing more special.
        if type(error) is not Exception:
            raise
        return False
    return True


def _exchange(
    operation: Operation, source: dict[str, Attribute], target: dict[str, Attribute]
) -> None:
    """Moves what an operation has as a property into the attributes, or back, if its class does."""
    assert isinstance(operation, IRDLOperation)
    known = operation.get_irdl_definition().properties
    moved = [name for name in source if (name in known) == (target is operation.properties)]
    for name in moved:
        target[name] = source.pop(name)


@cache
def _replaced_by(kind: type[Operation]) -> type[Operation] | None:
    """Returns the class of xDSL's that a class of ours stands for."""
    table = table_of(kind)
    return next((known for known, row in table.items() if _loads(row, kind)), None)


def _loads(row: Extension | Replacement, kind: type[Operation]) -> bool:
    if not isinstance(row, Replacement) or row.name != kind.__name__:
        return False
    return row.load() is kind and (row.adapt is None or row.restore is not None)
