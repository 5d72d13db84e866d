"""The text of what view types consist of.

Source: NVIDIA/cuda-tile 13.3.0, `Types.cpp`, the parsers and printers of the view types.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.enumerations import PaddingValue
from xtile.dialects.cuda_tile.type_text import parse_type, size_text

_MAXIMUM_SIZE = (1 << 31) - 1

_TensorViewT = TypeVar("_TensorViewT", bound=Attribute)


def parse_strides(parser: AttrParser, rank: int) -> list[int]:
    """Reads `, strides=[?,1]` of a tensor view; nothing if it has no dimensions.

    Raises:
        ParseError: There is none or too much, or a stride is not positive.
    """
    if not rank:
        return []
    parser.parse_punctuation(",", " before the strides of the tensor_view")
    parser.parse_keyword("strides")
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_stride(parser), " in the strides"
    )


def _parse_stride(parser: AttrParser) -> int:
    start = parser.pos
    if parser.parse_optional_punctuation("?") is not None:
        return DYNAMIC_INDEX
    stride = parser.parse_integer(allow_boolean=False)
    if stride <= 0:
        parser.raise_error(f"a stride is positive or ?, but got {stride}", start, parser.pos)
    return stride


def print_strides(printer: Printer, strides: Sequence[int]) -> None:
    """Prints `, strides=[?,1]`."""
    printer.print_string(f", strides=[{','.join(map(size_text, strides))}]")


def parse_tile_shape(parser: AttrParser) -> list[int]:
    """Reads `tile=(4x8),`.

    Raises:
        ParseError: It is malformed, or a size does not fit into 31 bits.
    """
    parser.parse_keyword("tile")
    parser.parse_punctuation("=")
    parser.parse_punctuation("(")
    start = parser.pos
    sizes = parser.parse_dimension_list()
    for size in sizes:
        if not 0 < size <= _MAXIMUM_SIZE:
            message = f"the sizes of a tile are 1 to {_MAXIMUM_SIZE}, but got {size_text(size)}"
            parser.raise_error(message, start, parser.pos)
    parser.parse_punctuation(")")
    parser.parse_punctuation(",")
    return sizes


def print_tile_shape(printer: Printer, sizes: Sequence[int]) -> None:
    """Prints `tile=(4x8), `."""
    printer.print_string(f"tile=({'x'.join(map(str, sizes))}), ")


def parse_traversal_strides(parser: AttrParser) -> list[int]:
    """Reads `traversal_strides=[4,3],`.

    Raises:
        ParseError: It is malformed.
    """
    parser.parse_keyword("traversal_strides")
    parser.parse_punctuation("=")
    strides = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
    parser.parse_punctuation(",")
    return strides


def print_traversal_strides(printer: Printer, strides: Sequence[int]) -> None:
    """Prints `traversal_strides=[4,3], `."""
    printer.print_string(f"traversal_strides=[{','.join(map(str, strides))}], ")


def parse_padding(parser: AttrParser) -> PaddingValue | None:
    """Reads `padding_value = zero,` if it stands there.

    Raises:
        ParseError: There is no such value.
    """
    if parser.parse_optional_keyword("padding_value") is None:
        return None
    parser.parse_punctuation("=")
    start = parser.pos
    name = parser.parse_identifier()
    values = {value.value: value for value in PaddingValue}
    if name not in values:
        message = f"there is no padding_value '{name}'; expected one of {', '.join(values)}"
        parser.raise_error(message, start, start + len(name))
    parser.parse_punctuation(",")
    return values[name]


def print_padding(printer: Printer, padding: PaddingValue | None) -> None:
    """Prints `padding_value = zero, ` if there is a value."""
    if padding is not None:
        printer.print_string(f"padding_value = {padding.value}, ")


def parse_tensor_view(parser: AttrParser, expected: type[_TensorViewT]) -> _TensorViewT:
    """Reads the type of a tensor view.

    Raises:
        ParseError: It is another type.
    """
    start = parser.pos
    type = parse_type(parser)
    if not isinstance(type, expected):
        parser.raise_error(f"expected a tensor_view, but got {type}", start, parser.pos)
    return type


def parse_dimension_map(parser: AttrParser, rank: int) -> list[int]:
    """Reads `, dim_map=[1, 0]`; without it the dimensions are in order.

    Raises:
        ParseError: It is malformed.
    """
    if parser.parse_optional_punctuation(",") is None:
        return list(range(rank))
    parser.parse_keyword("dim_map")
    parser.parse_punctuation("=")
    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)


def print_dimension_map(printer: Printer, dim_map: Sequence[int]) -> None:
    """Prints `, dim_map=[1, 0]` unless the dimensions are in order."""
    if list(dim_map) != list(range(len(dim_map))):
        printer.print_string(f", dim_map=[{', '.join(map(str, dim_map))}]")


def parse_sparse_dimension(parser: AttrParser) -> int:
    """Reads `, sparse_dim=0`.

    Raises:
        ParseError: It is malformed.
    """
    parser.parse_punctuation(",")
    parser.parse_keyword("sparse_dim")
    parser.parse_punctuation("=")
    return parser.parse_integer(allow_boolean=False, allow_negative=False)
