"""The memory semantics and modes of updates that stand as keywords in the text.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` and `CudaTile.cpp`, `parseMemoryAttributes`.
"""

from __future__ import annotations

from typing import TypeVar

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from xtile.dialects.cuda_tile.attributes import enumerated, member_of, parse_member
from xtile.dialects.cuda_tile.enumerations import (
    AtomicRMWMode,
    MemoryOrderingSemantics,
    MemoryScope,
)

_EnumT = TypeVar("_EnumT", bound=StrEnum)


def parse_ordering(parser: Parser) -> IntegerAttr[IntegerType]:
    """Reads `weak`, `relaxed`, ...

    Raises:
        ParseError: There is no such ordering.
    """
    what = "memory_ordering_semantics"
    return enumerated(parse_member(parser, MemoryOrderingSemantics, what))


def parse_optional_scope(parser: Parser) -> IntegerAttr[IntegerType] | None:
    """Reads `tl_blk`, `device` or `sys` if it stands there."""
    keyword = parser.parse_optional_keyword_in([scope.value for scope in MemoryScope])
    return None if keyword is None else enumerated(MemoryScope(keyword))


def parse_mode(parser: Parser) -> IntegerAttr[IntegerType]:
    """Reads `addf`, `xchg`, ...

    Raises:
        ParseError: There is no such mode.
    """
    return enumerated(parse_member(parser, AtomicRMWMode, "mode"))


def keyword_of(enumeration: type[_EnumT], attribute: Attribute | None) -> str:
    """The keyword of a member that is kept as a number; the number itself where there is none."""
    assert attribute is not None
    try:
        return member_of(enumeration, attribute).value
    except ValueError:
        return str(attribute)


def print_semantics(printer: Printer, ordering: Attribute, scope: Attribute | None) -> None:
    """Prints ` relaxed device`."""
    printer.print_string(f" {keyword_of(MemoryOrderingSemantics, ordering)}")
    if scope is not None:
        printer.print_string(f" {keyword_of(MemoryScope, scope)}")


@irdl_custom_directive
class MemorySemantics(CustomDirective):
    """An ordering and, where it is given, a scope: `weak`, `acq_rel device`."""

    ordering: AttributeVariable
    scope: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.ordering.set(state, parse_ordering(parser))
        scope = parse_optional_scope(parser)
        if scope is not None:
            self.scope.set(state, scope)
        elif not self.scope.is_optional:
            parser.raise_error("expected a memory_scope: tl_blk, device or sys")

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        ordering = self.ordering.get(op)
        assert ordering is not None
        print_semantics(printer, ordering, self.scope.get(op))
        state.should_emit_space = True
        state.last_was_punctuation = False


@irdl_custom_directive
class AtomicMode(CustomDirective):
    """How memory and operand are combined: `addf`."""

    mode: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.mode.set(state, parse_mode(parser))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(keyword_of(AtomicRMWMode, self.mode.get(op)))
