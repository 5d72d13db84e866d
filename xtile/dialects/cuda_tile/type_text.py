"""The text of types, in which the dialect's own need no `!cuda_tile.`.

`tile<4xptr<f32>>` and `!cuda_tile.tile<4x!cuda_tile.ptr<f32>>` are the same type.

Source: NVIDIA/cuda-tile 13.3.0, `Types.cpp`, `parseCudaTileType` and `printCudaTileType`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xtile.text.mlir_number_parser import NumberParser

DIALECT_PREFIX = "cuda_tile."

MNEMONICS = (
    "gather_scatter_view",
    "partition_view",
    "ptr",
    "strided_view",
    "tensor_view",
    "tile",
    "token",
)
"""What the names of the dialect's types are without its prefix."""

_BEGIN = re.compile(rf"(?:{'|'.join(MNEMONICS)})<")

_BRACKET_OR_NAME = re.compile(r"[<>#!/\"]")
"""Brackets, and what begins an alias, a comment or a string."""

_MAXIMUM_LENGTH = 500

_KNOWN_TYPES: dict[str, Attribute] = {}
"""The types that were read, by their texts."""

_MAXIMUM_KNOWN = 4096


def parse_type(parser: AttrParser) -> Attribute:
    """Reads a type, the dialect's own with or without prefix.

    A text has few types, but names them at every operation: each is read once.

    Raises:
        ParseError: There is none.
    """
    if not isinstance(parser, NumberParser):
        return _parse_type(parser)
    start = parser.pos
    end = _end_of_type(parser.text, start)
    if end is None:
        return _parse_type(parser)
    written = parser.text[start:end]
    known = _KNOWN_TYPES.get(written)
    if known is not None:
        parser.skip_to(end)
        return known
    type = _parse_type(parser)
    if parser.previous_end == end:
        if len(_KNOWN_TYPES) == _MAXIMUM_KNOWN:
            _KNOWN_TYPES.clear()
        _KNOWN_TYPES[written] = type
    return type


def _end_of_type(text: str, start: int) -> int | None:
    """Where a type of this dialect ends, if its text always means the same; else None."""
    begin = _BEGIN.match(text, start)
    if begin is None:
        return None
    depth = 1
    for bracket in _BRACKET_OR_NAME.finditer(text, begin.end(), start + _MAXIMUM_LENGTH):
        if bracket[0] == "<":
            depth += 1
        elif bracket[0] == ">":
            depth -= 1
            if not depth:
                return bracket.end()
        else:
            return None
    return None


def _parse_type(parser: AttrParser) -> Attribute:
    start = parser.pos
    mnemonic = parser.parse_optional_keyword_in(MNEMONICS)
    if mnemonic is None:
        type = parser.parse_optional_type()
        if type is None:
            known = ", ".join(MNEMONICS)
            parser.raise_error(
                f"expected a type: one of MLIR's such as f32, or one of {known}", start, parser.pos
            )
        return type
    definition = parser.ctx.get_optional_type(f"{DIALECT_PREFIX}{mnemonic}")
    assert definition is not None
    own = cast("type[ParametrizedAttribute]", definition)
    return own.new(own.parse_parameters(parser))


def print_type(printer: Printer, type: Attribute) -> None:
    """Prints a type, the dialect's own without prefix."""
    own = isinstance(type, ParametrizedAttribute) and isinstance(type, TypeAttribute)
    if not own or not type.name.startswith(DIALECT_PREFIX):
        printer.print_attribute(type)
        return
    printer.print_string(type.name.removeprefix(DIALECT_PREFIX))
    cast("ParametrizedAttribute", type).print_parameters(printer)


def parse_shaped(parser: AttrParser, *, allow_dynamic: bool) -> tuple[list[int], Attribute]:
    """Reads `4x8xf32`: sizes and the type of the elements.

    Raises:
        ParseError: It is malformed, or a size is `?` where it may not be.
    """
    start = parser.pos
    sizes = parser.parse_dimension_list()
    if not allow_dynamic and DYNAMIC_INDEX in sizes:
        parser.raise_error("the sizes of a tile are constants, not ?", start, parser.pos)
    if sizes:
        parser.parse_shape_delimiter()
    return sizes, parse_type(parser)


def print_shaped(printer: Printer, sizes: Sequence[int], element_type: Attribute) -> None:
    """Prints `4x8xf32`."""
    for size in sizes:
        printer.print_string(f"{size_text(size)}x")
    print_type(printer, element_type)


def size_text(size: int) -> str:
    """A size or a stride; `?` if it is known at run time only."""
    return "?" if size == DYNAMIC_INDEX else str(size)
