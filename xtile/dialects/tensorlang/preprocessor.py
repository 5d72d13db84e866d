"""The preprocessor: `$name = ...` and `!calc(...)`.

Definitions are resolved while reading; a module does not hold them.

Source: preprocessor reference of tinytc v0.4.0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.assembly import Definition
from xtile.dialects.tensorlang.operation import integer_attribute
from xtile.dialects.tensorlang.term_reader import INTEGER_RANGE, ReadError
from xtile.dialects.tensorlang.types import PoisonType

if TYPE_CHECKING:
    from xtile.dialects.tensorlang.term_reader import TermReader

MAX_EXPONENT = 63
"""No larger power of an integer but 0, 1 and -1 is in range."""


def read_definition(reader: TermReader) -> None:
    """Reads `$name = constant | type | attribute | $name | !calc(...)` and remembers it."""
    lexer = reader.lexer
    definition = Definition(lexer.value[1:], lexer.start, lexer.end)
    lexer.advance()
    reader.punctuation("=")
    try:
        value = _read_value(reader)
    except ReadError:
        reader.definitions.define(definition, PoisonType())
        raise
    reader.define_constant(definition, value)


def _read_value(reader: TermReader) -> Attribute:
    lexer = reader.lexer
    if lexer.kind == "definition":
        return reader.defined_value()
    if lexer.kind == "calc":
        lexer.advance()
        reader.punctuation("(")
        value = _calculate(reader)
        reader.punctuation(")")
        return integer_attribute(value)
    if lexer.value == "{":
        return reader.dictionary_attribute(0)
    if lexer.value == "[":
        return reader.constant() if _is_complex(reader) else reader.array_attribute(0)
    if lexer.kind == "string":
        text = lexer.value[1:-1]
        lexer.advance()
        return StringAttr(text)
    if lexer.kind in ("integer", "float") or lexer.value in ("true", "false"):
        return reader.plain_constant()
    return reader.type()


def _is_complex(reader: TermReader) -> bool:
    """Whether the bracket that comes next opens a complex constant."""
    lexer, start = reader.lexer, reader.lexer.start
    lexer.advance()
    is_complex = lexer.kind == "float"
    lexer.move_to(start)
    return is_complex


def _power(base: int, exponent: int) -> int:
    if exponent < 0:
        raise ValueError("the exponent must not be negative")
    if abs(base) > 1 and exponent > MAX_EXPONENT:
        return INTEGER_RANGE.stop
    if exponent > MAX_EXPONENT:
        # The base is 0, 1 or -1, whose powers depend on no more than the exponent's parity.
        exponent = 2 + exponent % 2
    return base**exponent


def _quotient(a: int, b: int) -> int:
    if b == 0:
        raise ValueError("division by zero")
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "^": _power,
    "-": lambda a, b: a - b,
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "/": _quotient,
    "%": lambda a, b: a - b * _quotient(a, b),
    "min": min,
    "max": max,
}
"""The calculator's operators; division rounds towards zero, as in C++."""


def _calculate(reader: TermReader) -> int:
    """Reads an expression in reverse Polish notation up to the closing parenthesis."""
    lexer = reader.lexer
    stack: list[int] = []
    while lexer.value != ")":
        operator = OPERATORS.get(lexer.value)
        if operator is None:
            stack.append(reader.integer("calculation"))
            continue
        if len(stack) < 2:
            raise ReadError(reader.span(), f"'{lexer.value}' needs two integers in front of it")
        b, a = stack.pop(), stack.pop()
        stack.append(_apply(reader, operator, a, b))
        lexer.advance()
    if len(stack) != 1:
        raise ReadError(
            reader.span(), f"the calculation leaves {len(stack)} integers; it must leave one"
        )
    return stack[0]


def _apply(reader: TermReader, operator: Callable[[int, int], int], a: int, b: int) -> int:
    try:
        value = operator(a, b)
    except ValueError as error:
        raise ReadError(reader.span(), str(error)) from None
    if value not in INTEGER_RANGE:
        raise ReadError(reader.span(), f"{a} {b} {reader.lexer.value} is out of range")
    return value
