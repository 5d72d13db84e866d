"""What the texts of `ttg`'s and `amdg`'s operations share."""

from __future__ import annotations

from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from xtile.dialects.triton.ttg.types import MemDescType


def parse_short_type(parser: Parser, kind: type[ParametrizedAttribute]) -> Attribute:
    """Reads a type in full, or as `<...>` without its name."""
    start = parser.pos
    type_ = parser.parse_optional_type()
    if type_ is None:
        return kind.new(kind.parse_parameters(parser))
    if not isinstance(type_, kind):
        parser.raise_error(f"expected a type !{kind.name}<...>, but got {type_}", start, parser.pos)
    return type_


def parse_memdesc(parser: Parser) -> Attribute:
    """Reads the type of a view of local memory, in full or without its name."""
    return parse_short_type(parser, MemDescType)


def print_short_type(printer: Printer, type_: Attribute) -> None:
    """Prints a type as `<...>`, without its name."""
    assert isinstance(type_, ParametrizedAttribute)
    type_.print_parameters(printer)


def parse_optional_value(parser: Parser, keyword: str) -> UnresolvedOperand | None:
    """Reads `keyword %value` or `keyword = %value`."""
    if parser.parse_optional_keyword(keyword) is None:
        return None
    parser.parse_optional_punctuation("=")
    return parser.parse_unresolved_operand()


def clear_default(operation: IRDLOperation, name: str, default: Attribute) -> None:
    """Leaves a property out that says what is so without it."""
    if operation.properties.get(name) == default:
        del operation.properties[name]
