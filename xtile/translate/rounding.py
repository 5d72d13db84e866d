"""Python's numbers rounded once to the tensor language's types, without numpy.

Loading numpy takes longer than translating a kernel. The reference device rounds by numpy, and
tests compare the two.
"""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type
from xdsl.ir import Attribute

_FORMATS: dict[type[Attribute], str] = {Float16Type: "<e", Float32Type: "<f"}
"""The format by which Python's `struct` packs a type's numbers."""


def rounded_float(number: float, type: Attribute) -> float:
    """A number rounded to nearest, ties to even, to a floating type of up to 64 bits.

    A number that is too large is infinite; what is no number stays what it is.
    """
    if math.isnan(number):
        return number
    if isinstance(type, BFloat16Type):
        return struct.unpack("<f", struct.pack("<I", bfloat16_bits(number) << 16))[0]
    layout = _FORMATS.get(type.__class__)
    if layout is None:
        return number
    try:
        return struct.unpack(layout, struct.pack(layout, number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)


def bfloat16_bits(number: float) -> int:
    """The bits of a number rounded to bf16, to nearest, ties to even."""
    if math.isnan(number):
        return 0x7FC0
    (bits,) = struct.unpack("<Q", struct.pack("<d", number))
    sign = bits >> 63 << 15
    magnitude = abs(number)
    if magnitude == 0:
        return sign
    # The largest finite bf16 has 8 ones; half a step above it rounds to infinity.
    if math.isinf(magnitude) or magnitude >= (2 - 2**-8) * 2.0**127:
        return sign | 0x7F80
    exponent = max(math.frexp(magnitude)[1] - 1, -126)
    steps = round(Fraction(magnitude) / Fraction(2) ** (exponent - 7))
    return sign | ((exponent + 126) * 128 + steps)


def rounded_to_tf32(number: float) -> float:
    """A number rounded to tf32, which has 11 bits and the exponents of f32, ties to even."""
    if not math.isfinite(number) or number == 0:
        return number
    exponent = max(math.frexp(number)[1] - 1, -126)
    steps = round(Fraction(number) / Fraction(2) ** (exponent - 10))
    rounded = math.ldexp(steps, exponent - 10)
    return rounded if abs(rounded) < 2.0**128 else math.copysign(math.inf, number)
