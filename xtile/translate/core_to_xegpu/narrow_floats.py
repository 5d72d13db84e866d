"""Numbers of 4, 6 and 8 bits, which are carried as their bits in i8 and computed with in f32.

Sources: Open Compute Project, "OCP 8-bit Floating Point Specification (OFP8)" 1.0, section 5, and
"OCP Microscaling Formats (MX) Specification" 1.0, section 5; for the FNUZ types, MLIR, "Builtin
Dialect", `Float8E4M3FNUZType` and `Float8E5M2FNUZType`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    Float4E2M1FNType,
    Float6E2M3FNType,
    Float6E3M2FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import ExtUIOp, TruncIOp
from xtile.dialects.shapes import as_vector
from xtile.translate.core_to_xegpu.bfloat16 import (
    compare,
    element_of,
    like,
    to_odd,
)
from xtile.translate.core_to_xegpu.lowering import Lowering

_FRACTION = 23
"""Bits of an f32's fraction."""

_BIAS = 127
_INFINITY = 0x7F800000
_QUIET_NAN = 0x7FC00000
_MAGNITUDE = 0x7FFFFFFF


@dataclass(frozen=True)
class Format:
    """A format with a sign, an exponent and a fraction.

    Attributes:
        bits: All its bits; those of an i8 above them are 0.
        fraction: Bits of the fraction.
        bias: What is added to exponents.
        largest: The bits of the largest number.
        overflow: The bits of what is too large.
        nan: The bits of NaN, or of what it becomes where there is none.
        has_one_zero: Whether there is no zero with a sign: its bits are those of NaN.
    """

    bits: int
    fraction: int
    bias: int
    largest: int
    overflow: int
    nan: int
    has_one_zero: bool = False

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (self.bits - 1)

    @property
    def smallest_exponent(self) -> int:
        """The exponent of the smallest number that is not subnormal."""
        return 1 - self.bias

    @property
    def has_special_numbers(self) -> bool:
        """Whether some bits are infinity or NaN."""
        return self.nan > self.largest and not self.has_one_zero

    def bits_of(self, number: float) -> int:
        """The bits of a number of the format, as a signed i8."""
        sign = self.sign if math.copysign(1.0, number) < 0 else 0
        if self.has_one_zero and number == 0:
            return 0
        if math.isnan(number):
            bits = self.nan
        elif math.isinf(number):
            bits = self.overflow
        elif number == 0:
            bits = 0
        else:
            exponent = max(math.frexp(number)[1] - 1, self.smallest_exponent)
            steps = round(abs(number) * 2.0 ** (self.fraction - exponent))
            bits = ((exponent - self.smallest_exponent) << self.fraction) + steps
        return _signed_byte(sign | bits)


@dataclass(frozen=True)
class PowerFormat:
    """f8E8M0FNU: powers of two from 2^-127 to 2^127, and NaN."""

    largest: int = 0xFE
    nan: int = 0xFF

    def bits_of(self, number: float) -> int:
        """The bits of a power of two, as a signed i8."""
        if math.isnan(number):
            return _signed_byte(self.nan)
        return _signed_byte(math.frexp(number)[1] - 1 + _BIAS)


def _signed_byte(bits: int) -> int:
    return bits - 256 if bits & 0x80 else bits


FORMATS: dict[type[Attribute], Format | PowerFormat] = {
    Float4E2M1FNType: Format(4, 1, 1, 0x7, 0x7, 0x7),
    Float6E2M3FNType: Format(6, 3, 1, 0x1F, 0x1F, 0x1F),
    Float6E3M2FNType: Format(6, 2, 3, 0x1F, 0x1F, 0x1F),
    Float8E4M3FNType: Format(8, 3, 7, 0x7E, 0x7F, 0x7F),
    Float8E4M3FNUZType: Format(8, 3, 8, 0x7F, 0x80, 0x80, has_one_zero=True),
    Float8E5M2Type: Format(8, 2, 15, 0x7B, 0x7C, 0x7E),
    Float8E5M2FNUZType: Format(8, 2, 16, 0x7F, 0x80, 0x80, has_one_zero=True),
    Float8E8M0FNUType: PowerFormat(),
}


def format_of(type_: Attribute) -> Format | PowerFormat | None:
    """The format of a number or of a vector's elements; None where it has 16 bits or more."""
    vector = as_vector(type_)
    return FORMATS.get(type(type_ if vector is None else vector.element_type))


def widen(lowering: Lowering, bits: SSAValue, format_: Format | PowerFormat) -> SSAValue:
    """The f32 with the value of a narrow number.

    Its exponent and fraction are those of an f32 that is smaller by a power of two, also where they
    are subnormal.
    """
    if isinstance(format_, PowerFormat):
        return _widened_power(lowering, bits, format_)
    emit, word = lowering.emit, like(bits, i32)

    def constant(number: int) -> SSAValue:
        return lowering.constant(number, word)

    wide = emit(ExtUIOp(bits, cast("Any", word))).result
    size = emit(arith.AndIOp(wide, constant(format_.sign - 1))).result
    moved = emit(arith.ShLIOp(size, constant(_FRACTION - format_.fraction))).result
    small = emit(arith.BitcastOp(moved, like(bits, f32))).result
    factor = lowering.constant(2.0 ** (_BIAS - format_.bias), like(bits, f32))
    number = emit(arith.BitcastOp(emit(arith.MulfOp(small, factor)).result, word)).result
    if format_.has_special_numbers:
        is_large = compare(lowering, arith.CmpiOp(size, constant(format_.largest), "ugt"))
        is_nan = compare(lowering, arith.CmpiOp(size, constant(format_.nan), "uge"))
        if format_.overflow != format_.nan:
            # Whatever lies above infinity is NaN.
            is_nan = compare(lowering, arith.CmpiOp(size, constant(format_.overflow), "ugt"))
        special = lowering.select(is_nan, constant(_QUIET_NAN), constant(_INFINITY))
        number = lowering.select(is_large, special, number)
    sign = emit(arith.AndIOp(wide, constant(format_.sign))).result
    moved = emit(arith.ShLIOp(sign, constant(i32.bitwidth - format_.bits))).result
    signed = emit(arith.OrIOp(number, moved)).result
    if format_.has_one_zero:
        is_nan = compare(lowering, arith.CmpiOp(wide, constant(format_.nan), "eq"))
        signed = lowering.select(is_nan, constant(_QUIET_NAN), signed)
    return emit(arith.BitcastOp(signed, like(bits, f32))).result


def _widened_power(lowering: Lowering, bits: SSAValue, format_: PowerFormat) -> SSAValue:
    """The f32 whose exponent has these bits; the smallest power is subnormal."""
    emit, word = lowering.emit, like(bits, i32)

    def constant(number: int) -> SSAValue:
        return lowering.constant(number, word)

    def is_(number: int) -> SSAValue:
        return compare(lowering, arith.CmpiOp(wide, constant(number), "eq"))

    wide = emit(ExtUIOp(bits, cast("Any", word))).result
    power = emit(arith.ShLIOp(wide, constant(_FRACTION))).result
    power = lowering.select(is_(0), constant(1 << (_FRACTION - 1)), power)
    power = lowering.select(is_(format_.nan), constant(_QUIET_NAN), power)
    return emit(arith.BitcastOp(power, like(bits, f32))).result


def narrow(
    lowering: Lowering, value: SSAValue, format_: Format, *, saturates: bool = False
) -> SSAValue:
    """The bits of an f32 or f64 rounded to nearest, ties to even.

    Args:
        lowering: Where to emit.
        value: The number, or a vector of them.
        format_: The format.
        saturates: Whether what is too large becomes the largest number.
    """
    if element_of(value) == f64:
        value = to_odd(lowering, value)
    emit, word = lowering.emit, like(value, i32)

    def constant(number: int) -> SSAValue:
        return lowering.constant(number, word)

    bits = emit(arith.BitcastOp(value, word)).result
    size = emit(arith.AndIOp(bits, constant(_MAGNITUDE))).result
    code = _rounded(lowering, size, format_)
    too_large = compare(lowering, arith.CmpiOp(code, constant(format_.largest), "ugt"))
    limit = format_.largest if saturates else format_.overflow
    code = lowering.select(too_large, constant(limit), code)
    shifted = emit(arith.ShRUIOp(bits, constant(i32.bitwidth - format_.bits))).result
    sign = emit(arith.AndIOp(shifted, constant(format_.sign))).result
    signed = emit(arith.OrIOp(code, sign)).result
    if format_.has_one_zero:
        is_zero = compare(lowering, arith.CmpiOp(code, constant(0), "eq"))
        is_nan = compare(lowering, arith.CmpiOp(code, constant(format_.nan), "eq"))
        signed = lowering.select(is_zero, constant(0), lowering.select(is_nan, code, signed))
    is_nan = compare(lowering, arith.CmpiOp(size, constant(_INFINITY), "ugt"))
    signed = lowering.select(is_nan, constant(format_.nan), signed)
    return emit(TruncIOp(signed, cast("Any", like(value, i8)))).result


def narrowed_power(
    lowering: Lowering, value: SSAValue, format_: PowerFormat, *, rounds_up: bool
) -> SSAValue:
    """The bits of the power of two beside the size of an f32 or f64.

    Args:
        lowering: Where to emit.
        value: The number, or a vector of them.
        format_: The format.
        rounds_up: Whether the power is not smaller than the number; else it is not larger. What has
            no such power gets the smallest or the largest one.
    """
    if element_of(value) == f64:
        value = to_odd(lowering, value)
    emit, word = lowering.emit, like(value, i32)

    def constant(number: int) -> SSAValue:
        return lowering.constant(number, word)

    bits = emit(arith.BitcastOp(value, word)).result
    size = emit(arith.AndIOp(bits, constant(_MAGNITUDE))).result
    moved = size
    if rounds_up:
        # Up to 2^-127, which is subnormal, all numbers get the smallest power.
        least = constant(1 << _FRACTION)
        is_subnormal = compare(lowering, arith.CmpiOp(size, least, "ult"))
        half, whole = constant((1 << (_FRACTION - 1)) - 1), constant((1 << _FRACTION) - 1)
        moved = emit(arith.AddiOp(size, lowering.select(is_subnormal, half, whole))).result
    power = emit(arith.ShRUIOp(moved, constant(_FRACTION))).result
    power = emit(arith.MinUIOp(power, constant(format_.largest))).result
    is_nan = compare(lowering, arith.CmpiOp(size, constant(_INFINITY), "ugt"))
    power = lowering.select(is_nan, constant(format_.nan), power)
    return emit(TruncIOp(power, cast("Any", like(value, i8)))).result


def _rounded(lowering: Lowering, size: SSAValue, format_: Format) -> SSAValue:
    """The bits of a size, rounded, as if exponents had no end."""
    emit, word = lowering.emit, size.type

    def constant(number: int) -> SSAValue:
        return lowering.constant(number, word)

    zero, one = constant(0), constant(1)
    least = constant(_BIAS + format_.smallest_exponent)
    exponent = emit(arith.ShRUIOp(size, constant(_FRACTION))).result
    fraction = emit(arith.AndIOp(size, constant((1 << _FRACTION) - 1))).result
    whole = emit(arith.OrIOp(fraction, constant(1 << _FRACTION))).result
    below = emit(arith.MaxSIOp(emit(arith.SubiOp(least, exponent)).result, zero)).result
    cut = emit(arith.AddiOp(below, constant(_FRACTION - format_.fraction))).result
    # All of it is less than half of what stays.
    cut = emit(arith.MinSIOp(cut, constant(_FRACTION + 2))).result
    kept = emit(arith.ShRUIOp(whole, cut)).result
    half = emit(arith.ShLIOp(one, emit(arith.SubiOp(cut, one)).result)).result
    rest = emit(arith.SubiOp(whole, emit(arith.ShLIOp(kept, cut)).result)).result
    is_more = compare(lowering, arith.CmpiOp(rest, half, "ugt"))
    is_half = compare(lowering, arith.CmpiOp(rest, half, "eq"))
    odd = emit(arith.AndIOp(kept, one)).result
    up = lowering.select(is_more, one, lowering.select(is_half, odd, zero))
    above = emit(arith.MaxSIOp(emit(arith.SubiOp(exponent, least)).result, zero)).result
    scaled = emit(arith.ShLIOp(above, constant(format_.fraction))).result
    return emit(arith.AddiOp(scaled, emit(arith.AddiOp(kept, up)).result)).result
