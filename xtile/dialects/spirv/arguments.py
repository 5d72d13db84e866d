"""What an instruction is given besides values: literals, enumerants, types, functions, blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from typing_extensions import override
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.hints import isa


@dataclass(frozen=True, slots=True)
class Target:
    """Stands for the next block that an instruction names.

    Attributes:
        forwarded: How many of the next operands become the block's arguments.
    """

    forwarded: int = 0


@dataclass(frozen=True, slots=True)
class ConstantId:
    """The id of an `i32` constant, which sizes in types are given by."""

    number: int


@dataclass(frozen=True, slots=True)
class FloatLiteral:
    """A literal number of a floating-point type, by its bits."""

    bits: int
    type: AnyFloat


Argument: TypeAlias = int | str | FloatLiteral | ConstantId | Target | Attribute | None
"""One argument.

None stands for the next operand. A text is an enumerant (`"Aligned|Volatile"`), a literal string or
the name of a function, an attribute is a type; the table says what is right at each position. What
a mask's enumerants have as parameters follows the mask.
"""


@irdl_attr_definition
class ArgumentsAttr(Data[tuple[Argument, ...]]):
    """The arguments of an instruction, in the order of the grammar.

    ```
    #spirv.arguments<_, "Aligned", 4>
    #spirv.arguments<1.5 : f32>
    #spirv.arguments<_, block 1, block>
    ```
    """

    name = "spirv.arguments"

    @property
    def types(self) -> Iterator[Attribute]:
        """The types among the arguments."""
        return (argument for argument in self.data if isinstance(argument, Attribute))

    @override
    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            print_arguments(printer, self.data)

    @classmethod
    @override
    def parse_parameter(cls, parser: AttrParser) -> tuple[Argument, ...]:
        delimiter = parser.Delimiter.ANGLE
        return tuple(parser.parse_comma_separated_list(delimiter, lambda: parse_argument(parser)))


def print_arguments(printer: Printer, arguments: tuple[Argument, ...]) -> None:
    """Prints arguments with commas between them."""
    for index, argument in enumerate(arguments):
        printer.print_string(", " if index else "")
        _print_argument(printer, argument)


def _print_argument(printer: Printer, argument: Argument) -> None:
    if argument is None:
        printer.print_string("_")
    elif isinstance(argument, Target):
        count = f" {argument.forwarded}" if argument.forwarded else ""
        printer.print_string(f"block{count}")
    elif isinstance(argument, ConstantId):
        printer.print_string(f"constant {argument.number}")
    elif isinstance(argument, int):
        printer.print_string(str(argument))
    elif isinstance(argument, str):
        printer.print_string_literal(argument)
    elif isinstance(argument, FloatLiteral):
        from xtile.text.mlir_numbers import float_from_bits, float_text

        number = float_text(float_from_bits(argument.bits, argument.type), argument.type)
        printer.print_string(f"{number} : ")
        printer.print_attribute(argument.type)
    else:
        printer.print_attribute(argument)


def parse_argument(parser: AttrParser) -> Argument:
    """Reads one argument."""
    if parser.parse_optional_keyword("_") is not None:
        return None
    if parser.parse_optional_keyword("block") is not None:
        return Target(parser.parse_optional_integer(allow_boolean=False, allow_negative=False) or 0)
    if parser.parse_optional_keyword("constant") is not None:
        return ConstantId(parser.parse_integer(allow_boolean=False))
    text = parser.parse_optional_str_literal()
    if text is not None:
        return text
    type = parser.parse_optional_type()
    if type is not None:
        return type
    return _parse_number(parser)


def _parse_number(parser: AttrParser) -> int | FloatLiteral:
    from xtile.text.mlir_numbers import float_bits

    start = parser.pos
    number = parser.parse_number(allow_boolean=False)
    if parser.parse_optional_punctuation(":") is None:
        if isinstance(number, float):
            parser.raise_error("expected ': ' and the number's type", start, parser.pos)
        return number
    type = parser.parse_type()
    if not isa(type, AnyFloat):
        parser.raise_error("expected a floating-point type", start, parser.pos)
    # As in MLIR, an integer in hexadecimal stands for the bits.
    bits = float_bits(number, type) if isinstance(number, float) else number
    return FloatLiteral(bits, type)
