"""The text that accesses through views share.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, `parseViewTkoCommon`, `parseIndexTypes` and
`printIndexTypes`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.attributes import OptimizationHintsAttr
from xtile.dialects.cuda_tile.type_text import parse_type, print_type
from xtile.dialects.cuda_tile.types import TokenType


def parse_access(parser: Parser) -> tuple[UnresolvedOperand, list[UnresolvedOperand]]:
    """Reads `%view[%i, %j]`.

    Raises:
        ParseError: It is malformed.
    """
    view = parser.parse_unresolved_operand()
    indices = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, parser.parse_unresolved_operand, " in the index"
    )
    return view, indices


def print_access(printer: Printer, view: SSAValue, indices: Sequence[SSAValue]) -> None:
    """Prints `%view[%i, %j]`."""
    printer.print_ssa_value(view)
    with printer.in_square_brackets():
        printer.print_list(indices, printer.print_ssa_value)


def parse_optional_token(parser: Parser) -> UnresolvedOperand | None:
    """Reads `token = %t` if it stands there."""
    if parser.parse_optional_keyword("token") is None:
        return None
    parser.parse_punctuation("=")
    return parser.parse_unresolved_operand()


def print_optional_token(printer: Printer, token: SSAValue | None) -> None:
    """Prints ` token = %t` if there is one."""
    if token is not None:
        printer.print_string(" token = ")
        printer.print_ssa_value(token)


def resolve_optional(parser: Parser, token: UnresolvedOperand | None) -> SSAValue | None:
    """The value of a token that was read, if it was."""
    return None if token is None else parser.resolve_operand(token, TokenType())


def parse_optional_hints(parser: Parser) -> OptimizationHintsAttr | None:
    """Reads `optimization_hints = <...>` if it stands there.

    Raises:
        ParseError: It is malformed.
    """
    if parser.parse_optional_keyword("optimization_hints") is None:
        return None
    parser.parse_punctuation("=")
    return OptimizationHintsAttr.new(OptimizationHintsAttr.parse_parameters(parser))


def print_optional_hints(printer: Printer, hints: OptimizationHintsAttr | None) -> None:
    """Prints ` optimization_hints = <...>` if there are any."""
    if hints is not None:
        printer.print_string(" optimization_hints = ")
        hints.print_parameters(printer)


def inbounds_of(indices: Sequence[bool]) -> DenseArrayBase | None:
    """The property that says which indices are certainly within the view; None if none is said."""
    return DenseArrayBase.from_list(i1, list(map(int, indices))) if any(indices) else None


def parse_optional_inbounds(parser: Parser) -> DenseArrayBase | None:
    """Reads `inbounds = [true, false]` if it stands there.

    Raises:
        ParseError: It is malformed.
    """
    if parser.parse_optional_keyword("inbounds") is None:
        return None
    parser.parse_punctuation("=")
    return inbounds_of(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_boolean)
    )


def print_optional_inbounds(printer: Printer, inbounds: DenseArrayBase | None) -> None:
    """Prints ` inbounds = [true, false]` if an index is certainly within the view."""
    values = [] if inbounds is None else [bool(byte) for byte in inbounds.data.data]
    if any(values):
        words = ", ".join("true" if value else "false" for value in values)
        printer.print_string(f" inbounds = [{words}]")


def verify_inbounds(inbounds: DenseArrayBase | None, indices: Sequence[SSAValue]) -> None:
    """Checks that there is a truth value for each index.

    Raises:
        VerifyException: There are more or fewer.
    """
    if inbounds is not None and len(inbounds) != len(indices):
        raise VerifyException(
            f"expected {len(indices)} truth values in inbounds, one for each index, but got "
            f"{len(inbounds)}"
        )


def parse_index_types(parser: Parser, indices: Sequence[UnresolvedOperand]) -> list[Attribute]:
    """Reads `, type` for all indices, or `, type, type` for each its own.

    Raises:
        ParseError: There are not as many as indices.
    """
    start = parser.pos
    types: list[Attribute] = []
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parse_type(parser))
    if len(types) == 1:
        return types * len(indices)
    if len(types) != len(indices):
        parser.raise_error(
            f"expected the types of the {len(indices)} indices, or one for all, got {len(types)}",
            start,
            parser.pos,
        )
    return types


def print_index_types(printer: Printer, indices: Sequence[SSAValue]) -> None:
    """Prints the types of indices; once if they are equal."""
    types = [index.type for index in indices]
    for type in types[:1] if len(set(types)) == 1 else types:
        printer.print_string(", ")
        print_type(printer, type)
