"""Older revisions of the tensor language, and spellings that only its reference uses.

`revisions.py` tells them apart, `handlers.py` lists what reads which instruction, `implied.py`
inserts what older text leaves unsaid. docs/tensorlang-revisions.md has the whole list.

Current text needs none of this, so what reads older text is loaded with the first piece of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.tensorlang.assembly import Parts
from xtile.dialects.tensorlang.legacy.revisions import (
    CURRENT,
    OLDER_NAMES,
    REVISIONS,
    detect_revision,
    has_older_constructs,
)
from xtile.dialects.tensorlang.operation import TensorLangOperation
from xtile.dialects.tensorlang.ops.arithmetic import ConstantOp, is_constant_of
from xtile.dialects.tensorlang.ops.memory import ExpandOp, FuseOp, LoadOp, SizeOp, SubviewOp
from xtile.dialects.tensorlang.types import GroupType, MemrefType, component_type
from xtile.text.source import Span

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.legacy.implied import ImpliedValues
    from xtile.dialects.tensorlang.reader import Reader
    from xtile.dialects.tensorlang.term_reader import ReadError, TermReader

Handler = Callable[["Reader", str], TensorLangOperation]

VIEWS = frozenset({SubviewOp, ExpandOp, FuseOp, LoadOp, SizeOp})
"""The instructions whose annotation older text makes the operand's type."""

__all__ = [
    "REVISIONS",
    "VIEWS",
    "adjust",
    "detect_revision",
    "handler_of",
    "has_older_annotation",
    "has_older_constructs",
    "implied_values",
    "missing_group_size",
    "read_dropped_type",
    "read_index_immediate",
    "read_integer_part",
    "reread",
    "warn_older_form",
]


def handler_of(mnemonic: str, revision: str) -> Handler | None:
    """What reads an instruction in the first location; None for the current grammar."""
    if revision == CURRENT and mnemonic not in OLDER_NAMES:
        return None
    from xtile.dialects.tensorlang.legacy import handlers

    return handlers.handler_of(mnemonic)


def has_older_annotation(reader: Reader, cls: type[TensorLangOperation], parts: Parts) -> bool:
    """Whether `adjust` should look at an instruction that has just been read."""
    if reader.lexer.value in (":", "->"):
        return True
    if cls is ConstantOp:
        component = component_type(parts.result_types[0])
        return not is_constant_of(parts.properties["value"], component)
    if cls not in VIEWS:
        return False
    operand, annotated = parts.operands[0].type, parts.result_types[0]
    if cls is SizeOp:
        return isinstance(annotated, MemrefType | GroupType)
    if type(operand) is not type(annotated):
        return False
    if not isinstance(operand, MemrefType) or not isinstance(annotated, MemrefType):
        return True
    return cls is LoadOp or operand.shape_attr == annotated.shape_attr


def adjust(reader: Reader, cls: type[TensorLangOperation], parts: Parts, start: int) -> None:
    """Corrects an instruction that carries its operands' types, or a constant of another form."""
    if cls in VIEWS:
        from xtile.dialects.tensorlang.legacy.view_types import operand_style_result

        # Most views of the same shape are current, and need nothing else of what reads older text.
        if operand_style_result(cls, parts) is None:
            return
    from xtile.dialects.tensorlang.legacy import handlers

    handlers.adjust(reader, cls, parts, start)


def reread(reader: Reader, mnemonic: str, end: int, error: ReadError) -> TensorLangOperation:
    """Reads an instruction again that does not follow the current grammar."""
    from xtile.dialects.tensorlang.legacy import handlers

    return handlers.reread(reader, mnemonic, end, error)


def warn_older_form(reader: Reader, span: Span, mnemonic: str) -> None:
    """Warns, in current text, about an instruction in an older form."""
    from xtile.dialects.tensorlang.legacy import handlers

    handlers.warn_older_form(reader, span, mnemonic)


def implied_values(reader: Reader) -> ImpliedValues:
    """What inserts the instructions that a text implies."""
    from xtile.dialects.tensorlang.legacy.implied import ImpliedValues

    return ImpliedValues(reader)


def read_index_immediate(reader: Reader) -> SSAValue:
    """Reads an integer where the current revision wants an index value."""
    from xtile.dialects.tensorlang.legacy import terms

    return terms.read_index_immediate(reader)


def read_dropped_type(reader: TermReader) -> Attribute:
    """Reads a type that the current revision does not have."""
    from xtile.dialects.tensorlang.legacy import terms

    return terms.read_dropped_type(reader)


def read_integer_part(reader: TermReader) -> FloatAttr:
    """Reads an integer where a complex constant of the current revision has a floating one."""
    from xtile.dialects.tensorlang.legacy import scalars

    return scalars.read_integer_part(reader)


def missing_group_size(reader: TermReader, span: Span) -> int:
    """The size of a group that is written without one."""
    from xtile.dialects.tensorlang.legacy import terms

    return terms.missing_group_size(reader, span)
