"""The mask and the padding of a load, which stand in a row without names.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`, `cuda_tile.load_ptr_tko`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    CustomDirective,
    OptionalOperandVariable,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.types import TileType


def reads_as_mask(operation: Operation) -> bool:
    """Whether an operation has padding without a mask that its text would give it as a mask."""
    mask, padding = getattr(operation, "mask", None), getattr(operation, "padding_value", None)
    return mask is None and padding is not None and _is_mask(padding.type)


def _is_mask(type: Attribute) -> bool:
    return isinstance(type, TileType) and type.element_type == i1


@irdl_custom_directive
class MaskAndPadding(CustomDirective):
    """`, %mask, %padding`, either of which may be absent: what they are, their types say."""

    mask: OptionalOperandVariable
    padding: OptionalOperandVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        for operand in (self.mask, self.padding):
            is_there = parser.parse_optional_punctuation(",") is not None
            operand.set(state, parser.parse_unresolved_operand() if is_there else None)

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for operand in (self.mask.get(op), self.padding.get(op)):
            if operand is not None:
                printer.print_string(", ")
                printer.print_ssa_value(operand)


@irdl_custom_directive
class MaskAndPaddingTypes(CustomDirective):
    """The types of `custom<MaskAndPadding>`; a lone operand that is not of i1 is the padding."""

    mask: TypeDirective
    padding: TypeDirective

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        types: list[Attribute] = []
        while len(types) < 2 and parser.parse_optional_punctuation(",") is not None:
            types.append(parse_type(parser))
        mask, padding = self.mask.inner, self.padding.inner
        assert isinstance(mask, OptionalOperandVariable)
        assert isinstance(padding, OptionalOperandVariable)
        if len(types) == 1 and not _is_mask(types[0]) and not state.operands[padding.index]:
            state.operands[padding.index] = state.operands[mask.index]
            mask.set(state, None)
            mask, padding = padding, mask
        mask.set_types(state, types[:1])
        padding.set_types(state, types[1:])

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        for type in (*self.mask.get(op), *self.padding.get(op)):
            printer.print_string(", ")
            print_type(printer, type)
