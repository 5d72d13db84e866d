"""The text of optimization hints: `<default = {latency = 3}, sm_90 = {num_cta_in_cga = 2}>`.

Source: NVIDIA/cuda-tile 13.3.0, `Attributes.cpp`, `OptimizationHintsAttr::parse` and `print`.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, TypedAttribute
from xdsl.parser import AttrParser
from xdsl.printer import Printer

_IDENTIFIER = re.compile(r"[A-Za-z_][\w.$-]*")


def parse_hints(parser: AttrParser) -> DictionaryAttr:
    """Reads the hints of each architecture.

    Raises:
        ParseError: They are malformed, or an architecture is there twice.
    """
    architectures: dict[str, Attribute] = {}

    def parse_entry() -> None:
        start = parser.pos
        name = parser.parse_identifier_or_str_literal()
        if name in architectures:
            parser.raise_error(f"'{name}' is there twice", start, start + len(name))
        parser.parse_punctuation("=")
        position = parser.pos
        hints = parser.parse_attribute()
        if not isinstance(hints, DictionaryAttr):
            message = f"expected the hints of '{name}' in braces, but got {hints}"
            parser.raise_error(message, position, parser.pos)
        architectures[name] = hints

    parser.parse_punctuation("<", " before optimization hints")
    if parser.parse_optional_punctuation(">") is None:
        parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_entry)
        parser.parse_punctuation(">", " after optimization hints")
    return DictionaryAttr(architectures)


def print_hints(printer: Printer, architectures: DictionaryAttr) -> None:
    """Prints the hints of each architecture, in the order of the names."""
    with printer.in_angle_brackets():
        printer.print_list(
            sorted(architectures.data.items()), lambda item: _print_hints(printer, *item)
        )


def _print_hints(printer: Printer, name: str, hints: Attribute) -> None:
    _print_name(printer, name)
    printer.print_string(" = {")
    if isinstance(hints, DictionaryAttr):
        printer.print_list(sorted(hints.data.items()), lambda item: _print_hint(printer, *item))
    printer.print_string("}")


def _print_name(printer: Printer, name: str) -> None:
    # NVIDIA's tools print no quotes, and cannot read such a name again.
    if _IDENTIFIER.fullmatch(name):
        printer.print_string(name)
    else:
        printer.print_string_literal(name)


def _print_hint(printer: Printer, name: str, value: Attribute) -> None:
    _print_name(printer, name)
    printer.print_string(" = ")
    if isinstance(value, TypedAttribute):
        value.print_without_type(printer)
    else:
        printer.print_attribute(value)
