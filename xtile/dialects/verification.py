"""Verifies a module and collects every error, where xDSL stops at the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    ModuleOp,
    UnregisteredOp,
)
from xdsl.ir import Block, Operation, Region
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator, OpTrait
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.text.diagnostics import Diagnostics
from xtile.text.extensions import verify_operation
from xtile.text.source import Source, source_of, span_of

DialectVerifier = Callable[[ModuleOp, Diagnostics, Source | None], None]
"""Adds every error of a module that has operations of one dialect."""

_DIALECT_VERIFIERS = {
    "tensorlang": "xtile.dialects.tensorlang.verifier",
}
"""The modules whose `verify` checks a module with operations of that dialect.

It checks the operations of other dialects too, by what they say about themselves.
"""


class VerifyExceptionAt(VerifyException):
    """What an operation's own verifier finds wrong with another one, which stands in it.

    Attributes:
        operation: The other one.
    """

    def __init__(self, message: str, operation: Operation) -> None:
        super().__init__(message)
        self.operation = operation


class NamesBlocks(OpTrait):
    """Of an operation whose successors are blocks that it names and does not branch to."""


def verify_module(module: ModuleOp, diagnostics: Diagnostics, source: Source | None = None) -> None:
    """Checks every operation of a module.

    Args:
        module: What to check.
        diagnostics: Where the errors go.
        source: The text that the module was read from; None takes the one attached to it.
    """
    source = source or source_of(module)
    operations = list(module.walk())
    dialects = {kind.dialect_name() for kind in {type(operation) for operation in operations}}
    special = [dialect for dialect in _DIALECT_VERIFIERS if dialect in dialects]
    # In this order an operation comes after everything that a block before it may have defined.
    visited: set[Operation] = set()
    isolated: _Isolated = {}
    for operation in operations:
        problems: list[str] = []
        if not _uses_values_before_it(operation, visited):
            problems += _problems_of_order(operation, visited)
            problems += _problems_of_reach(operation, isolated)
        visited.add(operation)
        if not special or operation.dialect_name() not in special:
            problems += _problems_of_blocks(operation)
        for problem in problems:
            diagnostics.error(source, span_of(operation, source), problem)
        if not special:
            _verify_operation(operation, diagnostics, source)
    for function in operations:
        if function.attributes:
            _verify_attributes(function, diagnostics, source)
        if _says_more_of_arguments(function):
            _verify_arguments(function, diagnostics, source)
    for dialect in special:
        verifier = cast(DialectVerifier, import_module(_DIALECT_VERIFIERS[dialect]).verify)
        verifier(module, diagnostics, source)


def _verify_level(function: Operation, diagnostics: Diagnostics, source: Source | None) -> None:
    """Checks that a kernel in core form holds only what its level may hold."""
    from xtile.dialects.core.levels import find_problems

    for operation, problem in find_problems(function):
        diagnostics.error(source, span_of(operation, source), problem)


def _verify_signature(function: Operation, diagnostics: Diagnostics, source: Source | None) -> None:
    """Checks what a kernel says of the parameters of its source."""
    from xtile.dialects.core.signature import find_problems

    type = function.properties.get("function_type")
    if isinstance(type, FunctionType):
        for problem in find_problems(function, type.inputs.data):
            diagnostics.error(source, span_of(function, source), problem)


def _verify_checks(
    name: str, function: Operation, diagnostics: Diagnostics, source: Source | None
) -> None:
    """Checks an attribute of a kernel that lists what holds for launches of it."""
    from xtile.dialects.core.launch_checks import problem_of_checks

    problem = problem_of_checks(function, name)
    if problem is not None:
        diagnostics.error(source, span_of(function, source), problem)


def _verify_grid(function: Operation, diagnostics: Diagnostics, source: Source | None) -> None:
    """Checks how many subgroups a kernel says that share its matrices."""
    from xtile.dialects.core.attributes import subgroup_grid_of

    try:
        subgroup_grid_of(function)
    except ValueError as error:
        diagnostics.error(source, span_of(function, source), str(error))


_ATTRIBUTE_VERIFIERS = {
    "core.launch_checks": partial(_verify_checks, "core.launch_checks"),
    "core.level": _verify_level,
    "core.preferred_launches": partial(_verify_checks, "core.preferred_launches"),
    "core.signature": _verify_signature,
    "core.subgroup_grid": _verify_grid,
}
"""What checks an attribute of a kernel in core form."""


def _verify_attributes(
    function: Operation, diagnostics: Diagnostics, source: Source | None
) -> None:
    """Checks what the core form's attributes say of a kernel."""
    for name in sorted(_ATTRIBUTE_VERIFIERS.keys() & function.attributes.keys()):
        _ATTRIBUTE_VERIFIERS[name](function, diagnostics, source)


def _says_more_of_arguments(function: Operation) -> bool:
    """Whether the core form says something of an argument; for others nothing of it is loaded."""
    given = function.properties.get("arg_attrs")
    if given is None or not isa(given, ArrayAttr[DictionaryAttr]):
        return False
    return any(name.startswith("core.") for attributes in given for name in attributes.data)


def _verify_arguments(function: Operation, diagnostics: Diagnostics, source: Source | None) -> None:
    """Checks what the core form's attributes promise of a function's arguments."""
    from xtile.dialects.core.arguments import find_problems

    for problem in find_problems(function):
        diagnostics.error(source, span_of(function, source), problem)


def _verify_operation(
    operation: Operation, diagnostics: Diagnostics, source: Source | None
) -> None:
    """Adds the first thing that an operation's own verifier finds."""
    try:
        # `Operation.verify` would print the whole module for each error.
        verify_operation(operation)
    except VerifyExceptionAt as error:
        diagnostics.error(source, span_of(error.operation, source), str(error))
    # A verifier may meet values that its author did not expect, and raise anything.
    except Exception as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        diagnostics.error(source, span_of(operation, source), f"'{operation.name}': {reason}")


def _uses_values_before_it(operation: Operation, visited: set[Operation]) -> bool:
    """Whether all operands are defined before an operation in its own block.

    Those of nearly all operations are, so that nothing else needs to be asked about them.
    """
    block = operation.parent
    for operand in operation.operands:
        definition = operand.owner
        if definition is block:
            continue
        if definition.parent is not block or definition not in visited:
            return False
    return True


def _problems_of_order(operation: Operation, visited: set[Operation]) -> Iterator[str]:
    """Yields the operands that are defined after the operation.

    The order does not matter in a module, nor under operations that are not registered, because
    those may hold graphs. Between the blocks of a control flow graph it is not checked.
    """
    for index, operand in enumerate(operation.operands):
        definition = operand.owner
        if definition in visited or isinstance(definition, Block):
            continue
        owner = definition.parent_op()
        if isinstance(owner, ModuleOp | UnregisteredOp):
            continue
        region = definition.parent_region()
        if region is not None and len(region.blocks) == 1:
            yield f"operand {index} of '{operation.name}' is used before its definition"


_Isolated: TypeAlias = dict[tuple[Region | None, Region], Operation | None]
"""What keeps the values of the second region out of the first one, which stands in it."""


def _problems_of_reach(operation: Operation, isolated: _Isolated) -> Iterator[str]:
    """Yields the operands that an operation around this one keeps out of its regions."""
    inner = operation.parent_region()
    for index, operand in enumerate(operation.operands):
        # A value that a reader made up stands in no region.
        region = operand.owner.parent_region()
        if region is None or region is inner:
            continue
        if (inner, region) not in isolated:
            isolated[inner, region] = _isolated_between(operation, region)
        around = isolated[inner, region]
        if around is not None:
            yield (
                f"operand {index} of '{operation.name}' is defined outside of the "
                f"'{around.name}' around it, which may only use values of its own"
            )


def _isolated_between(operation: Operation, region: Region) -> Operation | None:
    """The operation around another one, but within the region, that values do not reach into."""
    around = operation.parent_op()
    while around is not None:
        if around.has_trait(IsolatedFromAbove):
            return around
        around = None if around.parent_region() is region else around.parent_op()
    return None


def _problems_of_blocks(operation: Operation) -> Iterator[str]:
    """Yields what is wrong with an operation's successors and with the blocks it owns."""
    if operation.successors:
        if operation.next_op is not None and not operation.has_trait(NamesBlocks):
            yield f"'{operation.name}' has successors and must be the last of its block"
        region = operation.parent_region()
        if any(successor.parent is not region for successor in operation.successors):
            yield f"'{operation.name}' has a successor in another region"
    if not operation.regions or operation.has_trait(NoTerminator):
        return
    for region in operation.regions:
        for block in region.blocks:
            yield from _problems_of_end(block, operation)


def _problems_of_end(block: Block, operation: Operation) -> Iterator[str]:
    """Yields what is wrong with the last operation of a block that needs a terminator."""
    last = block.last_op
    if last is None:
        yield f"'{operation.name}' has an empty block, which must end with a terminator"
    elif not last.has_trait(IsTerminator):
        yield (
            f"'{operation.name}' has a block that ends with '{last.name}', "
            "which is not a terminator"
        )
