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

from xtile.text.known_texts import SkippingParser

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

_WITHIN = r"""[^<>#!/"]*+"""
"""What has no brackets, and begins no alias, no comment and no string."""

_TYPE = re.compile(
    rf"token(?![\w.$<])|(?:{'|'.join(MNEMONICS)})"
    rf"<{_WITHIN}(?:<{_WITHIN}(?:<{_WITHIN}>{_WITHIN})*+>{_WITHIN})*+>"
)
"""A type of this dialect whose text always means the same."""

_KNOWN_TYPES: dict[str, Attribute] = {}
"""The types that were read, by their texts."""

_MAXIMUM_KNOWN = 4096


def parse_type(parser: AttrParser) -> Attribute:
    """Reads a type, the dialect's own with or without prefix.

    A text has few types, but names them at every operation: each is read once.

    Raises:
        ParseError: There is none.
    """
    if not isinstance(parser, SkippingParser):
        return _parse_type(parser)
    match = _TYPE.match(parser.text, parser.pos)
    if match is None:
        return _parse_type(parser)
    written = match[0]
    known = _KNOWN_TYPES.get(written)
    if known is not None:
        parser.skip_to(match.end())
        return known
    type = _parse_type(parser)
    if parser.previous_end == match.end():
        if len(_KNOWN_TYPES) == _MAXIMUM_KNOWN:
            _KNOWN_TYPES.clear()
        _KNOWN_TYPES[written] = type
    return type


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
