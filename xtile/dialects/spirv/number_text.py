"""Literal numbers in the text of SPIR-V's assembler.

Source: SPIRV-Tools, docs/syntax.md, "Floating point literals"; source/util/hex_float.h.
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass

from xtile.dialects.spirv.binary import Number, NumberType

_HEXADECIMAL_FLOAT = re.compile(
    r"([+-]?)0[xX]([0-9a-fA-F]*+)(?:\.([0-9a-fA-F]*+))?(?:[pP]([+-]?[0-9]{1,9}))?"
)
_DECIMAL_FLOAT = re.compile(r"[+-]?(?:[0-9]++\.?[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_INTEGER = re.compile(r"(-?)(0[xX][0-9a-fA-F]++|0[0-7]*+|[1-9][0-9]*+)")
_MAXIMUM_DIGITS = 1000
_HALFWAY = 1 << 28


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """The layout of a floating-point type: a sign, an exponent and a fraction."""

    exponent_bits: int
    fraction_bits: int

    @property
    def bias(self) -> int:
        """What is added to exponents to store them; that is also the largest one."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def exponent_mask(self) -> int:
        """The stored exponent of infinities and NaNs."""
        return (1 << self.exponent_bits) - 1


_FORMATS = {16: FloatFormat(5, 10), 32: FloatFormat(8, 23), 64: FloatFormat(11, 52)}

_ENCODED_FORMATS = {0: FloatFormat(8, 7), 4214: FloatFormat(4, 3), 4215: FloatFormat(5, 2)}
"""The formats that are no IEEE's, by `FPEncoding`: BFloat16KHR, Float8E4M3EXT, Float8E5M2EXT."""


class NumberError(ValueError):
    """A text is no number of a type."""


def number_text(number: Number) -> str:
    """A literal number as `spirv-dis` writes it."""
    bits, type = number
    if not type.is_float:
        # Narrow numbers fill their word.
        width = 64 if type.width > 32 else 32
        is_negative = type.is_signed and bits >> (width - 1)
        return str(bits - (1 << width) if is_negative else bits)
    format = _format(type)
    if format is None:
        return f"!{bits}"
    bits &= (1 << type.width) - 1
    if type.encoding is None and type.width in (32, 64):
        value, digits = _decoded(bits, type.width)
        if value == 0 or _is_normal(bits, format):
            return f"{value:.{digits}g}"
    return hexadecimal_float(bits, format)


def number_bits(text: str, type: NumberType) -> int:
    """The bits of a literal number as `spirv-as` reads it.

    Decimal numbers of 16 bits are cut instead of rounded, as there. Integers are extended by their
    sign to whole words if their type is signed.

    Raises:
        NumberError: The text is no number of the type.
    """
    if not type.is_float:
        return _integer_bits(text, type)
    format = _format(type)
    if format is None:
        raise NumberError(f"numbers of {type.width} bits have no text; write their word: !0x3c")
    if text.lstrip("+-")[:2] in ("0x", "0X"):
        return _bits_of_hexadecimal(text, format)
    return _bits_of_decimal(text, type, format)


def hexadecimal_float(bits: int, format: FloatFormat) -> str:
    """A number by its bits: `-0x1.8p+1`. Infinity is 1.0 with the exponent after the largest."""
    fraction_bits = format.fraction_bits
    sign = "-" if bits >> (format.exponent_bits + fraction_bits) else ""
    exponent = bits >> fraction_bits & format.exponent_mask
    fraction = bits & (1 << fraction_bits) - 1
    if exponent == 0 and fraction == 0:
        return f"{sign}0x0p+0"
    power = exponent - format.bias
    if exponent == 0:
        shift = fraction_bits - fraction.bit_length() + 1
        # The first bit that is set becomes the one before the point.
        fraction = fraction << shift & (1 << fraction_bits) - 1
        power = 1 - format.bias - shift
    nibbles = (fraction_bits + 3) // 4
    digits = f"{fraction << (4 * nibbles - fraction_bits):0{nibbles}x}".rstrip("0")
    return f"{sign}0x1{'.' if digits else ''}{digits}p{power:+d}"


def _format(type: NumberType) -> FloatFormat | None:
    if type.encoding is not None:
        return _ENCODED_FORMATS.get(type.encoding)
    return _FORMATS.get(type.width)


def _decoded(bits: int, width: int) -> tuple[float, int]:
    """A number, and the digits that tell all numbers of its type apart."""
    if width == 32:
        return struct.unpack("<f", bits.to_bytes(4, "little"))[0], 9
    return struct.unpack("<d", bits.to_bytes(8, "little"))[0], 17


def _is_normal(bits: int, format: FloatFormat) -> bool:
    exponent = bits >> format.fraction_bits & format.exponent_mask
    return 0 < exponent < format.exponent_mask


def _integer_bits(text: str, type: NumberType) -> int:
    match = _INTEGER.fullmatch(text)
    if match is None or len(text) > _MAXIMUM_DIGITS:
        raise NumberError("expected an integer")
    sign, digits = match.groups()
    is_hexadecimal = digits[:2] in ("0x", "0X")
    base = 16 if is_hexadecimal else 8 if digits[0] == "0" else 10
    value = int(digits, base)
    if sign and not type.is_signed:
        raise NumberError("an unsigned number cannot be negative")
    limit = 1 << (type.width - (1 if type.is_signed and not is_hexadecimal else 0))
    if value > limit if sign else value >= limit:
        kind = "signed" if type.is_signed else "unsigned"
        raise NumberError(f"the number does not fit {type.width} bits that are {kind}")
    if type.is_signed and (value >> (type.width - 1) or sign):
        value = (-value if sign else value) - (0 if sign else 1 << type.width)
    return value & ((1 << (64 if type.width > 32 else 32)) - 1)


def _bits_of_hexadecimal(text: str, format: FloatFormat) -> int:
    match = _HEXADECIMAL_FLOAT.fullmatch(text)
    if match is None or len(text) > _MAXIMUM_DIGITS:
        raise NumberError("expected a number, such as 0x1.8p+1")
    sign_text, whole, fraction_text, power = match.groups()
    fraction_text = fraction_text or ""
    if not whole + fraction_text:
        raise NumberError("expected a number, such as 0x1.8p+1")
    significand = int(whole + fraction_text, 16)
    sign = int(sign_text == "-") << (format.exponent_bits + format.fraction_bits)
    if significand == 0:
        return sign
    exponent = significand.bit_length() - 1 - 4 * len(fraction_text) + int(power or 0)
    return sign | _packed(significand, exponent, format)


def _packed(significand: int, exponent: int, format: FloatFormat) -> int:
    """The bits of a positive number, cut to the format; its leading bit stands for 2^exponent."""
    if exponent > format.bias + 1:
        return format.exponent_mask << format.fraction_bits
    shift = format.fraction_bits - (significand.bit_length() - 1)
    aligned = significand << shift if shift >= 0 else significand >> -shift
    if exponent < 1 - format.bias:
        return aligned >> min(1 - format.bias - exponent, format.fraction_bits + 1)
    fraction = aligned & (1 << format.fraction_bits) - 1
    return exponent + format.bias << format.fraction_bits | fraction


def _bits_of_decimal(text: str, type: NumberType, format: FloatFormat) -> int:
    if _DECIMAL_FLOAT.fullmatch(text) is None or len(text) > _MAXIMUM_DIGITS:
        raise NumberError("expected a number, such as 1.5")
    value = float(text)
    if type.width == 64:
        bits = int.from_bytes(struct.pack("<d", value), "little")
    else:
        bits = _single_bits(text, value)
    if math.isinf(value) or (type.width != 64 and bits & 0x7FFFFFFF == 0x7F800000):
        raise NumberError(f"the number is too large for {type.width} bits")
    if type.width in (32, 64):
        return bits
    if abs(value) >= 2.0 ** (format.bias + 1):
        raise NumberError(f"the number is too large for {type.width} bits")
    return _cut_from_single(bits, format)


def _single_bits(text: str, value: float) -> int:
    """The number of 32 bits that is nearest to a text, whose number of 64 bits is known."""
    double = int.from_bytes(struct.pack("<d", value), "little")
    if double & (2 * _HALFWAY - 1) == _HALFWAY:
        from decimal import Decimal

        # Rounding twice is wrong if the first time made it lie halfway.
        exact, rounded = abs(Decimal(text)), abs(Decimal(value))
        if exact != rounded:
            double += 1 if exact > rounded else -1
            value = struct.unpack("<d", double.to_bytes(8, "little"))[0]
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000


def _cut_from_single(bits: int, format: FloatFormat) -> int:
    """A number of 32 bits in a smaller format, rounded towards zero."""
    single = _FORMATS[32]
    sign = (bits >> 31) << (format.exponent_bits + format.fraction_bits)
    exponent, fraction = bits >> 23 & single.exponent_mask, bits & (1 << 23) - 1
    if exponent == 0 and fraction == 0:
        return sign
    significand = fraction | (1 << 23 if exponent else 0)
    power = max(exponent, 1) - single.bias - 23 + significand.bit_length() - 1
    return sign | _packed(significand, power, format)
