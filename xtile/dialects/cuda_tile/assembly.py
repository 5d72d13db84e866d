"""The directives that the operations share in their assembly formats.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp` and `Types.cpp`, the functions that `custom<..>` of
`Ops.td` names.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.type_text import parse_type, print_type


@irdl_custom_directive
class CudaTileType(CustomDirective):
    """`custom<CudaTileType>(type($x))`: a type, or several, without the dialect's prefix."""

    types: TypeDirective

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        if self.types.is_variadic_like():
            types = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, lambda: parse_type(parser)
            )
            self.types.set(state, types)
        else:
            self.types.set(state, (parse_type(parser),))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        types = self.types.get(op)
        if types:
            state.print_whitespace(printer)
            printer.print_list(types, lambda type: print_type(printer, type))

    @override
    def is_present(self, op: IRDLOperation) -> bool:
        return self.types.is_present(op)

    @override
    def is_anchorable(self) -> bool:
        return self.types.is_anchorable()

    @override
    def is_variadic_like(self) -> bool:
        return self.types.is_variadic_like()

    @override
    def is_optional_like(self) -> bool:
        return self.types.is_optional_like()

    @override
    def set_empty(self, state: ParsingState) -> None:
        self.types.set_empty(state)
