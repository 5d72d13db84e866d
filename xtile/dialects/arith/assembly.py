"""The directives that `arith` operations share in their assembly formats.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td` and `ArithBase.td`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.arith import IntegerOverflowAttr, IntegerOverflowFlag
from xdsl.dialects.builtin import IntegerAttr, i32
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
from xdsl.utils.hints import isa

ROUNDING_MODES = (
    "to_nearest_even",
    "downward",
    "upward",
    "toward_zero",
    "to_nearest_away",
)
"""The rounding modes; the attribute holds the position in this list."""


@irdl_custom_directive
class Overflow(CustomDirective):
    """`overflow<nsw, nuw>`: what does not overflow, if anything is promised."""

    flags: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        if parser.parse_optional_keyword("overflow") is not None:
            self.flags.set(state, IntegerOverflowAttr(_parse_flags(parser)))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        flags = self.flags.get(op)
        if not isinstance(flags, IntegerOverflowAttr) or not flags.data:
            return
        state.print_whitespace(printer)
        names = ", ".join(flag.value for flag in IntegerOverflowFlag if flag in flags.data)
        printer.print_string(f"overflow<{names}>")


def _parse_flags(parser: Parser) -> list[IntegerOverflowFlag]:
    names = ("none", *(flag.value for flag in IntegerOverflowFlag))
    flags: list[IntegerOverflowFlag] = []

    def parse_flag() -> None:
        position = parser.pos
        name = parser.parse_identifier()
        if name not in names:
            parser.raise_error(
                f"expected one of {', '.join(names)}, got {name}", position, parser.pos
            )
        if name != "none":
            flags.append(IntegerOverflowFlag(name))

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_flag)
    return flags


@irdl_custom_directive
class RoundingMode(CustomDirective):
    """`to_nearest_even`: how a result is rounded, if it is said."""

    mode: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        name = parser.parse_optional_keyword_in(list(ROUNDING_MODES))
        if name is not None:
            self.mode.set(state, IntegerAttr(ROUNDING_MODES.index(name), i32))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        mode = self.mode.get(op)
        if isa(mode, IntegerAttr):
            state.print_whitespace(printer)
            printer.print_string(ROUNDING_MODES[mode.value.data])
