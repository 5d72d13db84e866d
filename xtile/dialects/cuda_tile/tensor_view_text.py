"""The text of `make_tensor_view`, in which sizes are numbers or values.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `MakeTensorViewOp::parse` and `print`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.type_text import parse_type, print_type, size_text
from xtile.dialects.cuda_tile.types import PointerType, TensorViewType, TileType

TensorViewParts: TypeAlias = tuple[
    SSAValue, list[SSAValue], list[SSAValue], dict[str, Attribute], TensorViewType
]
"""The pointer, the sizes and strides that are values, the attributes and the type."""


@dataclass
class _Sizes:
    """Numbers, with `DYNAMIC_INDEX` for values, and the values."""

    what: str
    start: int
    end: int = 0
    numbers: list[int] = field(default_factory=list[int])
    positions: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    values: list[UnresolvedOperand] = field(default_factory=list[UnresolvedOperand])

    def parse_one(self, parser: Parser) -> None:
        """Reads a number or a value."""
        start = parser.pos
        value = parser.parse_optional_unresolved_operand()
        if value is None:
            number = parser.parse_optional_integer(allow_boolean=False)
            if number is None:
                parser.raise_error(f"expected a {self.what}, a number or a value")
            self.numbers.append(number)
        else:
            self.numbers.append(DYNAMIC_INDEX)
            self.values.append(value)
        self.positions.append((start, parser.pos))

    def check(self, parser: Parser, expected: Sequence[int]) -> None:
        """Checks that these are the type's.

        Raises:
            ParseError: They are not.
        """
        if len(expected) != len(self.numbers):
            message = (
                f"the tensor_view has {len(expected)} dimensions, but here are "
                f"{len(self.numbers)}; expected a {self.what} for each"
            )
            parser.raise_error(message, self.start, self.end)
        for number, wanted, position in zip(self.numbers, expected, self.positions, strict=True):
            if number != wanted:
                right = "a value" if wanted == DYNAMIC_INDEX else str(wanted)
                found = "a value" if number == DYNAMIC_INDEX else str(number)
                parser.raise_error(
                    f"the tensor_view has the {self.what} {size_text(wanted)} here; expected "
                    f"{right}, but got {found}",
                    *position,
                )


def _parse_sizes(parser: Parser, keyword: str, what: str) -> _Sizes:
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    sizes = _Sizes(what, parser.pos)
    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: sizes.parse_one(parser))
    sizes.end = parser.pos
    return sizes


def parse_tensor_view(parser: Parser) -> TensorViewParts:
    """Reads `%p, shape = [%m, 64], strides = [%s, 1] : tile<i64> -> tensor_view<...>`.

    Raises:
        ParseError: It is malformed, or does not match the type.
    """
    base = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    shape = _parse_sizes(parser, "shape", "size")
    parser.parse_punctuation(",")
    strides = _parse_sizes(parser, "strides", "stride")
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    index: Attribute | None = None
    if shape.values or strides.values:
        index = parse_type(parser)
        parser.parse_punctuation("->")
    start = parser.pos
    type = parse_type(parser)
    if not isinstance(type, TensorViewType):
        parser.raise_error(f"expected a tensor_view, but got {type}", start, parser.pos)
    shape.check(parser, type.get_shape())
    strides.check(parser, type.get_strides())
    pointer = parser.resolve_operand(base, TileType((), PointerType.new((type.element_type,))))
    dynamic = [
        [parser.resolve_operand(value, index) for value in sizes.values if index is not None]
        for sizes in (shape, strides)
    ]
    return pointer, dynamic[0], dynamic[1], attributes, type


def print_tensor_view(
    printer: Printer,
    base: SSAValue,
    dynamic_shape: Sequence[SSAValue],
    dynamic_strides: Sequence[SSAValue],
    attributes: Mapping[str, Attribute],
    type: Attribute,
) -> None:
    """Prints what `parse_tensor_view` reads."""
    assert isinstance(type, TensorViewType)
    printer.print_string(" ")
    printer.print_ssa_value(base)
    printer.print_string(", shape = [")
    _print_sizes(printer, type.get_shape(), dynamic_shape)
    printer.print_string("], strides = [")
    _print_sizes(printer, type.get_strides(), dynamic_strides)
    printer.print_string("]")
    printer.print_op_attributes(dict(attributes))
    printer.print_string(" : ")
    for value in (*dynamic_shape, *dynamic_strides)[:1]:
        print_type(printer, value.type)
        printer.print_string(" -> ")
    print_type(printer, type)


def _print_sizes(printer: Printer, numbers: Sequence[int], values: Sequence[SSAValue]) -> None:
    remaining = iter(values)

    def print_one(number: int) -> None:
        value = next(remaining, None) if number == DYNAMIC_INDEX else None
        if value is None:
            printer.print_string(size_text(number))
        else:
            printer.print_ssa_value(value)

    printer.print_list(numbers, print_one)
