"""The text of regions with arguments.

Source: NVIDIA/cuda-tile 13.3.0, `CudaTile.cpp`, "Custom Function Signature Parsing" and "Control
Flow Op Utilities".
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer

from xtile.dialects.cuda_tile.type_text import parse_type, print_type


def parse_arguments(
    parser: Parser,
) -> tuple[list[Parser.Argument], ArrayAttr[DictionaryAttr] | None]:
    """Reads `(%a: type {...}, ...)`.

    Returns:
        The arguments and their attributes; None if there are none.

    Raises:
        ParseError: It is malformed.
    """
    pairs = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_argument(parser), " in the arguments"
    )
    attributes = [pair[1] for pair in pairs]
    has_any = any(dictionary.data for dictionary in attributes)
    return [pair[0] for pair in pairs], ArrayAttr(attributes) if has_any else None


def _parse_argument(parser: Parser) -> tuple[Parser.Argument, DictionaryAttr]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation(":", " after the name of an argument")
    type = parse_type(parser)
    attributes = parser.parse_optional_attr_dict()
    location = parser.parse_optional_location()
    return Parser.Argument(argument.name, type, location), DictionaryAttr(attributes)


def print_arguments(
    printer: Printer,
    arguments: Sequence[SSAValue],
    attributes: ArrayAttr[DictionaryAttr] | None = None,
) -> None:
    """Prints `(%a: type {...}, ...)`.

    Args:
        printer: Where they go.
        arguments: The arguments.
        attributes: Those of each argument. NVIDIA's printer leaves them out, but its parser reads
            them.
    """
    dictionaries = iter(() if attributes is None else attributes.data)

    def print_one(argument: SSAValue) -> None:
        printer.print_ssa_value(argument)
        printer.print_string(": ")
        print_type(printer, argument.type)
        dictionary = next(dictionaries, None)
        if dictionary is not None:
            printer.print_op_attributes(dictionary.data)

    with printer.in_parens():
        printer.print_list(arguments, print_one)


def parse_types(parser: Parser) -> list[Attribute]:
    """Reads `type, ...`."""
    return parser.parse_comma_separated_list(parser.Delimiter.NONE, lambda: parse_type(parser))


def print_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Prints `type, ...`."""
    printer.print_list(types, lambda type: print_type(printer, type))


def parse_optional_results(parser: Parser) -> list[Attribute]:
    """Reads `-> type` or `-> (type, ...)`, if it is there."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parse_type(parser)
    )
    return [parse_type(parser)] if types is None else list(types)


def print_optional_results(printer: Printer, types: Sequence[Attribute]) -> None:
    """Prints ` -> type` or ` -> (type, ...)`; nothing if there are none."""
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1:
        print_type(printer, types[0])
        return
    with printer.in_parens():
        print_types(printer, types)


def print_new_line(printer: Printer) -> None:
    """Ends the line, and indents the next as the operation is."""
    # Only xDSL's printer knows how deep it is.
    printer._print_new_line()  # pyright: ignore[reportPrivateUsage]


def print_body(printer: Printer, region: Region, implicit: type[Operation]) -> None:
    """Prints a region; without its end where that is implicit and has no operands."""
    end = region.blocks[0].last_op if region.blocks else None
    is_implicit = isinstance(end, implicit) and not end.operands
    printer.print_region(
        region, print_entry_block_args=False, print_block_terminators=not is_implicit
    )
