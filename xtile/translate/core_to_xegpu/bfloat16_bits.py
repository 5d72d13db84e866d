"""Numbers of types that Python has not."""

from __future__ import annotations

import math
import struct
from fractions import Fraction


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
