"""Reads MLIR's numbers: integers, sizes, and floating-point numbers in decimal or as bits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from typing_extensions import override
from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    FloatData,
    IndexType,
    IntegerAttr,
    IntegerType,
    f64,
    i64,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.mlir_numbers import (
    Scalar,
    as_scalar,
    bit_width,
    float_bits,
    float_from_bits,
    has_bits,
    is_boolean,
)
from xtile.text.mlir_token_parser import TokenParser

MAXIMUM_RANK = 100
"""How many dimensions a shape may have; for each, xDSL's lexer reads all those that follow."""

_INTEGER = re.compile(r"-?[0-9]++ : (?:i[1-9][0-9]*+|index)(?![\w.$<])", re.ASCII)
"""An integer with its type, of which texts have many alike."""

_KINDS = (MLIRTokenKind.INTEGER_LIT, MLIRTokenKind.FLOAT_LIT)


@dataclass(frozen=True, slots=True)
class Number:
    """A number, or `true` or `false`, whose type is not known yet."""

    text: str
    is_negative: bool
    kind: MLIRTokenKind
    start: int
    end: int

    @property
    def is_hexadecimal(self) -> bool:
        """Whether the text is hexadecimal digits."""
        return self.text.startswith("0x")


class NumberParser(TokenParser):
    """The parser of tokens with MLIR's numbers.

    A hexadecimal literal of a floating-point type is the bits of the number.
    """

    _rank = 0
    _next_size = -1

    def __init__(self, ctx: Context, input: str | bytes, name: str = "<unknown>") -> None:
        super().__init__(ctx, input, name)
        self._integers: dict[str, IntegerAttr | FloatAttr] = {}

    @override
    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        span = self._current_token.span
        self._rank = self._rank + 1 if span.start == self._next_size else 1
        if self._rank > MAXIMUM_RANK:
            message = f"a shape has at most {MAXIMUM_RANK} dimensions"
            self.raise_error(message, span.start, span.end)
        size = super().parse_shape_dimension(allow_dynamic)
        # After an `x`.
        self._next_size = self._current_token.span.start + 1
        return size

    @override
    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        """Reads a number; one whose text was read before is not read again."""
        match = _INTEGER.match(self.text, self.pos)
        if match is None:
            return self._parse_optional_int_or_float()
        known = self._integers.get(match[0])
        if known is not None:
            self.skip_to(match.end())
            return known
        read = self._parse_optional_int_or_float()
        if read is not None and self.previous_end == match.end():
            self._integers[match[0]] = read
        return read

    def _parse_optional_int_or_float(self) -> IntegerAttr | FloatAttr | None:
        if (boolean := self.try_parse_builtin_boolean_attr()) is not None:
            return boolean
        number = self._parse_optional_number()
        if number is None:
            return None
        if self._current_token.kind is MLIRTokenKind.COLON:
            position = self._consume_token().span.end
            element = as_scalar(self.parse_type())
            if element is None:
                message = "a number must have an integer, an index or a floating-point type"
                self.raise_error(message, position, self.pos)
        else:
            element = f64 if number.kind is MLIRTokenKind.FLOAT_LIT else i64
        if isinstance(element, AnyFloat):
            value = FloatData(self._float(number, element))
            # The constructor would forget the payload of what is no number.
            return FloatAttr[AnyFloat].new((value, element))
        return IntegerAttr(self._integer(number, element), element)

    def _parse_number(self) -> Number:
        token = self._current_token
        if token.kind is MLIRTokenKind.BARE_IDENT and token.text in ("true", "false"):
            self._consume_token()
            return Number(token.text, False, token.kind, token.span.start, token.span.end)
        number = self._parse_optional_number()
        if number is None:
            self.raise_error("expected a number, a string, true or false")
        return number

    def _parse_optional_number(self) -> Number | None:
        token = self._current_token
        start = token.span.start
        is_negative = token.kind is MLIRTokenKind.MINUS
        if is_negative:
            self._consume_token()
            token = self._current_token
            if token.kind not in _KINDS:
                self.raise_error("expected a number after '-'")
        elif token.kind not in _KINDS:
            return None
        self._consume_token()
        return Number(token.text, is_negative, token.kind, start, token.span.end)

    def _bytes(self, numbers: Sequence[Number], element: Scalar) -> bytes:
        """The bytes of numbers of a type, as xDSL's attributes hold them."""
        if isinstance(element, IntegerType | IndexType):
            return element.pack([self._integer(number, element) for number in numbers])
        if numbers and not has_bits(element):
            message = f"elements of type {element} are not supported; use f64"
            self.raise_error(message, numbers[0].start, numbers[0].end)
        if all(number.kind is MLIRTokenKind.FLOAT_LIT for number in numbers):
            try:
                return element.pack([self._decimal(number) for number in numbers])
            except OverflowError:
                pass
        size = element.compile_time_size
        return b"".join(
            self._float_bits(number, element).to_bytes(size, "little") for number in numbers
        )

    def _integer(self, number: Number, element: IntegerType | IndexType) -> int:
        """The value of a number of an integer type."""
        if number.kind is MLIRTokenKind.BARE_IDENT:
            if not is_boolean(element):
                self._wrong_number(number, f"'{number.text}' is a value of i1, not of {element}")
            value = int(number.text == "true")
        elif number.kind is MLIRTokenKind.FLOAT_LIT:
            self._wrong_number(number, f"a floating-point number is no value of {element}")
        else:
            value = int(number.text, 16 if number.is_hexadecimal else 10)
        if number.is_negative:
            value = -value
        if isinstance(element, IndexType):
            if not -(2**63) <= value < 2**64:
                self._wrong_number(number, f"{value} does not fit in the 64 bits of index")
            return value - 2**64 if value >= 2**63 else value
        try:
            element.verify_value(value)
        except VerifyException as error:
            self._wrong_number(number, str(error))
        return element.get_normalized_value(value)

    def _float_bits(self, number: Number, element: AnyFloat) -> int:
        """The bits of a number of a floating-point type."""
        if not number.is_hexadecimal:
            return float_bits(self._float(number, element), element)
        bits = int(number.text, 16)
        if number.is_negative:
            message = "a hexadecimal floating-point number has its sign among its bits, not a '-'"
            self._wrong_number(number, message)
        if bits >> bit_width(element):
            message = f"{number.text} has more bits than the {bit_width(element)} of {element}"
            self._wrong_number(number, message)
        return bits

    def _float(self, number: Number, element: AnyFloat) -> float:
        """The value of a number of a floating-point type."""
        if number.kind is MLIRTokenKind.FLOAT_LIT:
            value = self._decimal(number)
            if not has_bits(element):
                return value
            return float_from_bits(float_bits(value, element), element)
        if number.kind is MLIRTokenKind.BARE_IDENT:
            self._wrong_number(number, f"'{number.text}' is a value of i1, not of {element}")
        if not number.is_hexadecimal:
            sign = "-" if number.is_negative else ""
            message = (
                f"an integer is no value of {element}; add a dot to make it a floating-point "
                f"number: {sign}{number.text}.0"
            )
            self._wrong_number(number, message)
        if not has_bits(element):
            self._wrong_number(number, f"the bits of {element} are not supported; use f64")
        return float_from_bits(self._float_bits(number, element), element)

    @staticmethod
    def _decimal(number: Number) -> float:
        return -float(number.text) if number.is_negative else float(number.text)

    def _wrong_number(self, number: Number, message: str) -> NoReturn:
        self.raise_error(message, number.start, number.end)
