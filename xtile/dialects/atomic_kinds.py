"""The kinds of atomic updates that upstream's dialects share, and their text.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithBase.td`, `AtomicRMWKindAttr`.
"""

from __future__ import annotations

from enum import IntEnum

from typing_extensions import override
from xdsl.dialects.builtin import IntegerAttr, i64
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
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa


class AtomicRMWKind(IntEnum):
    """How an atomic update combines memory and value; the numbers are those of the attribute."""

    addf = 0
    addi = 1
    andi = 2
    assign = 3
    maximumf = 4
    maxnumf = 5
    maxs = 6
    maxu = 7
    minimumf = 8
    minnumf = 9
    mins = 10
    minu = 11
    mulf = 12
    muli = 13
    ori = 14
    xori = 15


@irdl_custom_directive
class AtomicKind(CustomDirective):
    """The keyword of a kind, such as `addf`, for a property that holds its number."""

    kind: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        start = parser.pos
        keyword = parser.parse_identifier_or_str_literal()
        if keyword not in AtomicRMWKind.__members__:
            kinds = ", ".join(AtomicRMWKind.__members__)
            message = f"there is no atomic update '{keyword}'; expected one of {kinds}"
            parser.raise_error(message, start, start + len(keyword))
        self.kind.set(state, kind_attribute(AtomicRMWKind[keyword]))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        state.print_whitespace(printer)
        printer.print_string(kind_of(self.kind.get(op)).name)


def kind_attribute(kind: AtomicRMWKind) -> IntegerAttr:
    """The attribute that stands for a kind."""
    return IntegerAttr(kind.value, i64)


def kind_of(attribute: Attribute | None) -> AtomicRMWKind:
    """The kind that an attribute stands for.

    Raises:
        VerifyException: It stands for none.
    """
    if isa(attribute, IntegerAttr) and attribute.type == i64:
        number = attribute.value.data
        if number in list(AtomicRMWKind):
            return AtomicRMWKind(number)
    last = max(AtomicRMWKind).value
    raise VerifyException(f"kind is {attribute}; expected a number from 0 to {last} of type i64")
