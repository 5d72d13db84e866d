"""Numbers of MLIR's element types: as bits, as the bytes of dense attributes, and as text."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatNanEncoding,
    IndexType,
    IntegerType,
    ReducedPrecisionFloatType,
    i1,
)
from xdsl.ir import Attribute

Scalar: TypeAlias = IntegerType | IndexType | AnyFloat
"""The element types that are not complex."""

_INDEX_BITS = 64
_DOUBLE_MANTISSA_BITS = 52
_DOUBLE_MANTISSA = (1 << _DOUBLE_MANTISSA_BITS) - 1
_PADDING = 3
"""How many zeros LLVM writes beside a number's digits before it takes an exponent."""


def bit_width(element: Scalar) -> int:
    """The number of bits of a value; 64 for `index`."""
    return _INDEX_BITS if isinstance(element, IndexType) else element.bitwidth


def as_scalar(element: Attribute) -> Scalar | None:
    """Returns a type if it is an integer, an index or a floating-point type, else None."""
    is_scalar = isinstance(element, IntegerType | IndexType | AnyFloat)
    return cast(Scalar, element) if is_scalar else None


def is_boolean(element: Attribute) -> bool:
    """Whether a type is `i1`, whose values are `true` and `false`."""
    return element == i1


def has_bits(element: Scalar) -> bool:
    """Whether this module knows the bits of a type: all but `f80`, `f128` and over 64 bits."""
    return not isinstance(element, Float80Type | Float128Type) and bit_width(element) <= 64


def float_bits(value: float, element: AnyFloat) -> int:
    """The bits of a number in a type, rounded to nearest even; too large a number is infinity."""
    if math.isnan(value) and _has_payload(element):
        return _nan_bits(value, element)
    try:
        data = element.pack((value,))
    except OverflowError:
        data = element.pack((math.copysign(math.inf, value),))
    bits = int.from_bytes(data, "little")
    is_negative_nan = math.isnan(value) and math.copysign(1.0, value) < 0
    return bits | _sign_of_nan(element) if is_negative_nan else bits


def float_from_bits(bits: int, element: AnyFloat) -> float:
    """The number that bits stand for in a type.

    If it is none, its sign and its payload stand in the upper bits of Python's.
    """
    data = bits.to_bytes(element.compile_time_size, "little")
    value = next(iter(element.iter_unpack(data)))
    if math.isnan(value) and _has_payload(element):
        return _nan_of_bits(bits, element)
    return -value if math.isnan(value) and bits & _sign_of_nan(element) else value


def float_text(value: float, element: AnyFloat) -> str:
    """Returns how MLIR prints a number of a type, which it holds exactly.

    That is six digits with an exponent where these give the number again, else as many digits as
    the type distinguishes, else the bits. Source: LLVM 22, `mlir/lib/IR/AsmPrinter.cpp`.
    """
    if not math.isfinite(value):
        return f"0x{_non_finite_bits(value, element):X}"
    short = _short_text(value)
    if _rounded(float(short), element) == value:
        return short
    long = _long_text(value, 2 + _precision(element) * 59 // 196)
    return long if "." in long else f"0x{float_bits(value, element):X}"


def element_texts(element: Scalar | ComplexType, data: bytes) -> Iterator[str]:
    """Yields how MLIR prints each element of the bytes of an xDSL dense attribute."""
    if isinstance(element, ComplexType):
        parts = element_texts(cast(Scalar, element.element_type), data)
        for real, imaginary in zip(parts, parts, strict=True):
            yield f"({real},{imaginary})"
    elif isinstance(element, IntegerType | IndexType):
        values = element.iter_unpack(data)
        if is_boolean(element):
            yield from ("true" if value else "false" for value in values)
        else:
            yield from map(str, values)
    else:
        size = element.compile_time_size
        for start in range(0, len(data), size):
            bits = int.from_bytes(data[start : start + size], "little")
            yield float_text(float_from_bits(bits, element), element)


def mlir_bytes(element: Scalar | ComplexType, data: bytes) -> bytes:
    """Returns the bytes of an xDSL dense attribute as MLIR's hexadecimal strings hold them.

    MLIR packs `i1` eight to a byte and rounds other widths up to bytes; xDSL rounds up to the
    sizes that the machine has.
    """
    if is_boolean(element):
        bits = sum(1 << index for index, value in enumerate(data) if value)
        return bits.to_bytes((len(data) + 7) // 8, "little")
    scalar = _scalar(element)
    size, stored = _sizes(scalar)
    if size == stored and bit_width(scalar) % 8 == 0:
        return data
    mask = (1 << bit_width(scalar)) - 1
    parts = (data[start : start + stored] for start in range(0, len(data), stored))
    values = (int.from_bytes(part, "little") & mask for part in parts)
    return b"".join(value.to_bytes(size, "little") for value in values)


def from_mlir_bytes(element: Scalar | ComplexType, data: bytes, count: int) -> bytes | None:
    """Returns the bytes of a hexadecimal string as an xDSL dense attribute holds them.

    A string of one element stands for `count` equal ones. None if the size fits neither.
    """
    if is_boolean(element):
        return _from_packed_booleans(data, count)
    scalar = _scalar(element)
    size, stored = _sizes(scalar)
    parts_of_element = 2 if isinstance(element, ComplexType) else 1
    if len(data) == size * parts_of_element and count != 1:
        data *= count
    if len(data) != size * parts_of_element * count:
        return None
    if size == stored and bit_width(scalar) % 8 == 0:
        return data
    mask = (1 << bit_width(scalar)) - 1
    parts = (data[start : start + size] for start in range(0, len(data), size))
    values = [int.from_bytes(part, "little") & mask for part in parts]
    if isinstance(scalar, IntegerType):
        return scalar.pack([scalar.get_normalized_value(value) for value in values])
    return b"".join(value.to_bytes(stored, "little") for value in values)


def _from_packed_booleans(data: bytes, count: int) -> bytes | None:
    if len(data) == 1 and data[0] in (0x00, 0xFF):
        return bytes([-(data[0] & 1) & 0xFF]) * count
    if len(data) != (count + 7) // 8:
        return None
    return bytes(-(data[i // 8] >> (i % 8) & 1) & 0xFF for i in range(count))


def _scalar(element: Scalar | ComplexType) -> Scalar:
    return element.element_type if isinstance(element, ComplexType) else element


def _sizes(element: Scalar) -> tuple[int, int]:
    """The bytes of a value in MLIR's strings, and in xDSL's dense attributes."""
    return (bit_width(element) + 7) // 8, element.compile_time_size


def _non_finite_bits(value: float, element: AnyFloat) -> int:
    if isinstance(element, Float80Type):
        mantissa = 1 << 63 if math.isinf(value) else 3 << 62
        return (0xFFFF if value < 0 else 0x7FFF) << 64 | mantissa
    if isinstance(element, Float128Type):
        mantissa = 0 if math.isinf(value) else 1 << 111
        return (0xFFFF if value < 0 else 0x7FFF) << 112 | mantissa
    return float_bits(value, element)


def _rounded(value: float, element: AnyFloat) -> float:
    """The nearest number of a type."""
    if isinstance(element, Float64Type | Float80Type | Float128Type):
        return value
    return float_from_bits(float_bits(value, element), element)


def _has_payload(element: AnyFloat) -> bool:
    """Whether a number that is none is all ones in the exponent and any bits after it."""
    if isinstance(element, ReducedPrecisionFloatType):
        return element.SEMANTICS.nan_encoding is FloatNanEncoding.IEEE
    return has_bits(element)


def _sign_of_nan(element: AnyFloat) -> int:
    """The bit that is the sign of what is no number, or 0 if it has none."""
    if not isinstance(element, ReducedPrecisionFloatType):
        return 0
    semantics = element.SEMANTICS
    has_sign = semantics.has_sign and semantics.nan_encoding is FloatNanEncoding.ALL_ONES
    return 1 << semantics.sign_shift if has_sign else 0


def _nan_bits(value: float, element: AnyFloat) -> int:
    """The bits of what is no number in a type that has fewer bits than Python's."""
    (double,) = struct.unpack("<Q", struct.pack("<d", value))
    mantissa_bits = _precision(element) - 1
    width = bit_width(element)
    exponent = (1 << (width - 1 - mantissa_bits)) - 1
    mantissa = (double & _DOUBLE_MANTISSA) >> (_DOUBLE_MANTISSA_BITS - mantissa_bits)
    # Without a bit left it would be infinity.
    mantissa = mantissa or 1 << (mantissa_bits - 1)
    return double >> 63 << (width - 1) | exponent << mantissa_bits | mantissa


def _nan_of_bits(bits: int, element: AnyFloat) -> float:
    mantissa_bits = _precision(element) - 1
    mantissa = (bits & ((1 << mantissa_bits) - 1)) << (_DOUBLE_MANTISSA_BITS - mantissa_bits)
    double = bits >> (bit_width(element) - 1) << 63 | 0x7FF << _DOUBLE_MANTISSA_BITS | mantissa
    (value,) = struct.unpack("<d", struct.pack("<Q", double))
    return value


def _precision(element: AnyFloat) -> int:
    """The bits of a type's significand, with the leading one that is not stored."""
    if isinstance(element, ReducedPrecisionFloatType):
        return element.SEMANTICS.mantissa_bits + 1
    return _PRECISIONS[type(element)]


_PRECISIONS: dict[type, int] = {
    BFloat16Type: 8,
    Float16Type: 11,
    Float32Type: 24,
    Float64Type: 53,
    Float80Type: 64,
    Float128Type: 113,
}


def _short_text(value: float) -> str:
    """Six digits, zeros up to the seventh, and an exponent."""
    digits, exponent = _decimal(abs(value), 6)
    digits = digits.ljust(7, "0")
    return f"{_sign(value)}{digits[0]}.{digits[1:]}e{exponent:+03d}"


def _long_text(value: float, precision: int) -> str:
    """As many digits as given, with an exponent only where it saves zeros."""
    digits, exponent = _decimal(abs(value), precision)
    last = exponent - len(digits) + 1
    if last >= 0:
        is_scientific = last > _PADDING or len(digits) + last > precision
    else:
        is_scientific = -exponent > _PADDING
    sign = _sign(value)
    if is_scientific:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{exponent:+d}"
    if last >= 0:
        return sign + digits + "0" * last
    if exponent >= 0:
        return f"{sign}{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
    return f"{sign}0.{'0' * (-exponent - 1)}{digits}"


def _sign(value: float) -> str:
    return "-" if math.copysign(1.0, value) < 0 else ""


@lru_cache(maxsize=1024)
def _decimal(value: float, precision: int) -> tuple[str, int]:
    """At most `precision` digits of a positive number, and the exponent of the first one.

    LLVM first drops digits that it expects not to need, and rounds half up what is left, so the
    last digit is not always the nearest one.
    """
    significand, denominator = value.as_integer_ratio()
    twos = denominator.bit_length() - 1
    significand *= 5**twos
    exponent = -twos
    needed_bits = (precision * 196 + 58) // 59
    dropped = (significand.bit_length() - needed_bits) * 59 // 196
    if dropped > 0:
        significand //= 10**dropped
        exponent += dropped
    digits = str(significand)
    exponent += len(digits) - 1
    if len(digits) > precision:
        kept = int(digits[:precision]) + (digits[precision] >= "5")
        exponent += len(str(kept)) - precision
        digits = str(kept)
    return digits.rstrip("0") or "0", exponent
