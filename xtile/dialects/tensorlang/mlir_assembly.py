"""Instructions in MLIR's custom form: `%0 = tensorlang.load %A[%i] : f32`.

The text is that of `.ir` files but for what MLIR's lexer asks for: modifiers stand apart
(`gemm n t`), types are MLIR's, and discardable attributes follow in braces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    FloatAttr,
    f64,
)
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span

from xtile.dialects.tensorlang.assembly import (
    Definition,
    Parts,
)
from xtile.dialects.tensorlang.operation import (
    TensorLangOperation,
    array_entries,
    integer_attribute,
)
from xtile.dialects.tensorlang.printer import constant_text
from xtile.dialects.tensorlang.syntax import directives_of, has_dictionary, readers_of

_CONSTANT_WORDS: dict[str, Attribute] = {
    "true": BoolAttr.from_bool(True),
    "false": BoolAttr.from_bool(False),
    "inf": FloatAttr(float("inf"), f64),
    "neg_inf": FloatAttr(float("-inf"), f64),
    "nan": FloatAttr(float("nan"), f64),
    "neg_nan": FloatAttr(-float("nan"), f64),
}
"""Constants that MLIR's lexer has no literal for; a lone minus is no token of its own there."""

OperationT = TypeVar("OperationT", bound=TensorLangOperation)


def parse_operation(cls: type[OperationT], parser: Parser) -> OperationT:
    """Parses what follows the operation's name."""
    parts = Parts()
    source = MlirInput(parser)
    for read_piece in readers_of(cls):
        read_piece(source, parts)
    if not has_dictionary(cls):
        parts.attributes.update(parser.parse_optional_attr_dict())
    operation = parts.build(cls)
    assert isinstance(operation, cls)
    return operation


def print_operation(operation: TensorLangOperation, printer: Printer) -> None:
    """Prints what follows the operation's name."""
    output = MlirOutput(printer)
    for directive in directives_of(type(operation)):
        directive.write(output, operation)
    if not has_dictionary(type(operation)):
        output.dictionary(operation.attributes, " ")


class MlirInput:
    """`assembly.Input` on xDSL's parser."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser

    def operand(self) -> SSAValue:
        """Reads a value, which stands before its use and so has a type already."""
        value = self._optional_operand()
        if value is None:
            self.parser.raise_error("operand expected")
        return value

    def _optional_operand(self) -> SSAValue | None:
        name = self.parser.parse_optional_unresolved_operand()
        if name is None:
            return None
        values = self.parser.ssa_values.get(name.operand_name, ())
        if name.index >= len(values):
            self.parser.raise_error(f"%{name.operand_name} is not defined here", name.span)
        return values[name.index]

    def index_operands(self, close: str) -> list[SSAValue]:
        """Reads comma-separated values, possibly none."""
        values: list[SSAValue] = []
        first = self._optional_operand()
        if first is not None:
            values.append(first)
            while self.parser.parse_optional_punctuation(","):
                values.append(self.operand())
        return values

    def definition(self) -> Definition:
        """Reads the name of a region argument."""
        span = self.parser.parse_argument(expect_type=False).name
        return Definition(span.text, span.start, span.end)

    def integer(self, what: str) -> int:
        """Reads an integer."""
        return self.parser.parse_integer(context_msg=f" for the {what}")

    def index_or_operand(self, what: str) -> int | SSAValue:
        """Reads an integer or a value."""
        value = self.parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        return self.operand() if value is None else value

    def punctuation(self, text: str) -> None:
        """Reads the given punctuation or keyword."""
        if not self.optional_punctuation(text):
            self.parser.raise_error(f"'{text}' expected")

    def optional_punctuation(self, text: str) -> bool:
        """Reads the given punctuation or keyword, if it is there."""
        if text == "<=":
            # MLIR has no such token.
            if self.parser.parse_optional_punctuation("<") is None:
                return False
            self.parser.parse_punctuation("=")
            return True
        if text.isalpha():
            return self.parser.parse_optional_keyword(text) is not None
        return self.parser.parse_optional_punctuation(text) is not None  # pyright: ignore[reportArgumentType]

    def next_is(self, text: str) -> bool:
        """Whether the given punctuation comes next."""
        start = self.parser.pos
        return self.parser.lexer.input.content.startswith(text, start)

    def modifier(self, spellings: Mapping[str, Attribute | None]) -> str | None:
        """Reads one of the given modifiers, if it is there."""
        return self.parser.parse_optional_keyword_in(list(spellings))

    def missing_modifier(self, spellings: Sequence[str]) -> Exception:
        """Raises at the current token."""
        self.parser.raise_error(f"expected one of {', '.join(spellings)}")

    def type(self) -> Attribute:
        """Reads a type."""
        return self.parser.parse_type()

    def parameter_type(self) -> Attribute:
        """Reads a type."""
        return self.type()

    def parameter_dictionary(self) -> dict[str, Attribute]:
        """Reads an attribute dictionary, if it is there."""
        return self.dictionary()

    def constant(self) -> Attribute:
        """Reads `true`, an integer, a floating number or `[re, im]`."""
        if self.parser.parse_optional_punctuation("[") is None:
            return self._scalar_constant()
        real = self._scalar_constant()
        self.parser.parse_punctuation(",")
        imaginary = self._scalar_constant()
        self.parser.parse_punctuation("]")
        return ArrayAttr([real, imaginary])

    def _scalar_constant(self) -> Attribute:
        word = self.parser.parse_optional_keyword_in(_CONSTANT_WORDS)
        if word is not None:
            return _CONSTANT_WORDS[word]
        number = self.parser.parse_number(allow_boolean=False)
        return FloatAttr(number, f64) if isinstance(number, float) else integer_attribute(number)

    def dictionary(self) -> dict[str, Attribute]:
        """Reads an attribute dictionary, if it is there."""
        return self.parser.parse_optional_attr_dict()

    def symbol(self) -> str:
        """Reads `@name`."""
        return self.parser.parse_symbol_name().data

    def region(self, arguments: Sequence[tuple[Definition, Attribute]] = ()) -> Region:
        """Reads a region in braces."""
        text = self.parser.lexer.input
        resolved = [
            Parser.Argument(Span(name.start, name.end, text), type) for name, type in arguments
        ]
        return self.parser.parse_region(resolved)


class MlirOutput:
    """`assembly.Output` on xDSL's printer."""

    def __init__(self, printer: Printer) -> None:
        self.printer = printer
        self.write = printer.print_string

    def modifier(self, spelling: str) -> None:
        """Prints ` spelling`."""
        self.write(f" {spelling}")

    def operand(self, value: SSAValue) -> None:
        """Prints the name of a value."""
        self.printer.print_operand(value)

    def type(self, type: Attribute) -> None:
        """Prints a type."""
        self.printer.print_attribute(type)

    def constant(self, value: Attribute) -> None:
        """Prints a constant without its storage type."""
        self.write(_constant_text(value))

    def dictionary(self, entries: Mapping[str, Attribute], lead: str) -> None:
        """Prints `lead` and the entries in braces; nothing where there are none."""
        if entries:
            self.write(lead)
            self.printer.print_attr_dict(entries)

    def discardable(self, operation: Operation) -> Mapping[str, Attribute]:
        """All of the operation's discardable attributes."""
        return operation.attributes

    def symbol(self, name: str) -> None:
        """Prints `@name`."""
        self.printer.print_symbol_name(name)

    def region(self, region: Region) -> None:
        """Prints a region without its arguments."""
        self.write(" ")
        self.printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


def _constant_text(value: Attribute) -> str:
    parts = array_entries(value)
    if parts is not None:
        return f"[{', '.join(map(_constant_text, parts))}]"
    for word, constant in _CONSTANT_WORDS.items():
        if constant == value:
            return word
    if not isinstance(value, FloatAttr):
        return constant_text(value)
    text = repr(value.value.data)
    # MLIR's lexer wants a point in front of an exponent.
    return text.replace("e", ".0e") if "." not in text else text
