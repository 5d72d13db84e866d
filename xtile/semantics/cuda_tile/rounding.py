"""Rounding modes, and the flushing of subnormal numbers.

Source: CUDA Tile IR specification, "Floating-Point Conversion Semantics"; NVIDIA/cuda-tile 13.3.0,
`AttrDefs.td` (`RoundingMode`) and `Ops.td` (`flush_to_zero`).
"""

from __future__ import annotations

import numpy as np

from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.semantics.upstream.floats import smallest_normal
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import NumberFunction, Value, choose

DIRECTED = (RoundingMode.ZERO, RoundingMode.NEGATIVE_INF, RoundingMode.POSITIVE_INF)
"""The modes that round in one direction."""


_TF32_UNIT = 1 << 13
"""How far the bits of two tf32 are apart that are neighbours; they are kept as f32."""


def directed(near: Value, lost: Value, mode: RoundingMode, unit: int = 1) -> Value:
    """A result in a rounding mode, from the one rounded to nearest.

    Args:
        near: The exact result rounded to nearest in the type of the result, with its sign.
        lost: The sign of the exact result minus `near`.
        mode: One of `DIRECTED`.
        unit: How far the bits of two neighbours are apart.
    """
    match mode:
        case RoundingMode.ZERO:
            is_past = choose(np.signbit(near), lost > 0, lost < 0)
            step = choose(is_past, -1, 0)
        case RoundingMode.NEGATIVE_INF:
            step = choose(lost < 0, choose(np.signbit(near), 1, -1), 0)
        case _:
            step = choose(lost > 0, choose(np.signbit(near), -1, 1), 0)
    return _with_larger_size(near, unit * np.asanyarray(step))


def _with_ties_away(value: Value, near: Value, unit: int) -> Value:
    """Numbers rounded to nearest, ties away from zero, from those with ties to even."""
    beyond = _with_larger_size(near, np.asanyarray(unit))
    above = np.abs(value) - np.abs(near.astype(np.float64))
    below = np.abs(beyond.astype(np.float64)) - np.abs(value)
    return choose((above > 0) & (above == below), beyond, near)


def _with_larger_size(value: Value, steps: Value) -> Value:
    """The number whose absolute value is so many steps larger among those of the type."""
    array = np.asanyarray(value)
    bits = array.view(f"i{array.dtype.itemsize}")
    return (bits + steps.astype(bits.dtype)).astype(bits.dtype).view(array.dtype)[()]


def rounded_from_f64(value: Value, number: Number, mode: RoundingMode) -> Value:
    """Numbers of type f64, exact or rounded to odd, in a type with fewer bits.

    Args:
        value: The numbers.
        number: f16, bf16, f32, tf32, or for `nearest_even` any floating type.
        mode: Each mode but those of `DIRECTED` rounds to nearest, and each but `nearest_away`
            ties to even.
    """
    near = number.rounded(value)
    unit = _TF32_UNIT if number.text == "tf32" else 1
    if mode is RoundingMode.NEAREST_AWAY:
        return _with_ties_away(value, near, unit)
    if mode not in DIRECTED:
        return near
    difference = value - near.astype(np.float64)
    lost = np.sign(np.where(np.isnan(difference), 0.0, difference))
    return directed(near, lost, mode, unit)


def flushing(number: Number) -> NumberFunction:
    """What makes subnormal numbers of a type zeros of the same sign."""
    least = number.number(smallest_normal(number))

    def flush(value: Value) -> Value:
        return choose(np.abs(value) < least, np.copysign(number.number(0), value), value)

    return flush
