"""Constant tiles, and their text `<f32: [1.0, 2.0]> : tile<2xf32>`.

The elements are xDSL's dense attribute on a tile: each element in the bytes of xDSL's element type.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `parseDenseTypedElementsAttr`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    AnyDenseElement,
    DenseIntOrFPElementsAttr,
    IntegerType,
    PackableType,
    RankedStructure,
)
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.types import TileType, is_number
from xtile.text.mlir_attributes import dense_elements, equal_elements


def constant_attribute(
    type: TileType, values: Sequence[float] | Sequence[int]
) -> DenseIntOrFPElementsAttr:
    """A constant tile.

    Args:
        type: The tile.
        values: Its numbers in row-major order, or one for all elements.
    """
    element = type.element_type
    if isinstance(element, IntegerType):
        values = [element.get_normalized_value(int(value)) for value in values]
    data = cast("PackableType[Any]", element).pack(values)
    return equal_elements(type, data) if len(values) == 1 else dense_elements(type, data)


def tile_of(value: DenseIntOrFPElementsAttr) -> Attribute:
    """The type of a constant; a tile where it is one of this dialect."""
    return cast("Attribute", value.type)


def parse_constant(parser: Parser) -> DenseIntOrFPElementsAttr:
    """Reads `<f32: [1.0, 2.0]> : tile<2xf32>`.

    Raises:
        ParseError: It is malformed, or its parts contradict each other.
    """
    # Only what reads text loads the parser of MLIR's literals.
    from xtile.text.mlir_literals import LiteralParser

    parser = LiteralParser.in_place_of(parser)
    parser.parse_punctuation("<", " before the elements of a constant")
    start = parser.pos
    element = parse_type(parser)
    if not is_number(element):
        parser.raise_error(
            "the elements of a constant are i1, i8, i16, i32, i64, f16, bf16, f32, tf32, f64, "
            f"f8E4M3FN, f8E5M2, f8E8M0FNU or f4E2M1FN, not {element}",
            start,
            parser.previous_end,
        )
    parser.parse_punctuation(":", " after the element type of a constant")

    def parse_tile() -> RankedStructure[AnyDenseElement]:
        start = parser.pos
        type = parse_type(parser)
        if not isinstance(type, TileType):
            message = f"expected the type of the constant, a tile of {element}, but got {type}"
            parser.raise_error(message, start, parser.previous_end)
        if type.element_type != element:
            message = f"this is a tile of {type.element_type}, but the elements are {element}"
            parser.raise_error(message, start, parser.previous_end)
        return cast("RankedStructure[AnyDenseElement]", type)

    return parser.parse_elements_with(parse_tile)


def print_constant(printer: Printer, value: DenseIntOrFPElementsAttr) -> None:
    """Prints `<f32: [1.0, 2.0]> : tile<2xf32>`."""
    from xtile.text.mlir_attribute_forms import elements_text

    printer.print_string("<")
    print_type(printer, value.get_element_type())
    printer.print_string(f": {elements_text(value, can_be_bytes=True)}> : ")
    print_type(printer, tile_of(value))


@irdl_custom_directive
class Constant(CustomDirective):
    """`custom<Constant>($value, type($result))`: a constant and with it the type of a result."""

    value: AttributeVariable
    result: TypeDirective

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        value = parse_constant(parser)
        self.value.set(state, value)
        self.result.set(state, (tile_of(value),))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print(printer, state, self.value.get(op))


@irdl_custom_directive
class ConstantWithoutResult(CustomDirective):
    """`custom<ConstantWithoutResult>($value)`: a constant."""

    value: AttributeVariable

    @override
    def parse(self, parser: Parser, state: ParsingState) -> None:
        self.value.set(state, parse_constant(parser))

    @override
    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        _print(printer, state, self.value.get(op))


def _print(printer: Printer, state: PrintingState, value: Attribute | None) -> None:
    state.print_whitespace(printer)
    if isinstance(value, DenseIntOrFPElementsAttr):
        print_constant(printer, cast("DenseIntOrFPElementsAttr", value))
    elif value is not None:
        printer.print_attribute(value)
