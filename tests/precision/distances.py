"""How far apart numbers are, and how far apart sums of the same products may be.

Source: Higham, "Accuracy and Stability of Numerical Algorithms", sections 3.1 and 4.2.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from xdsl.ir import Attribute

from xtile.dialects.tensorlang.types import (
    BF16,
    COMPLEX_TYPES,
    F16,
    F32,
    F64,
    FLOATING_TYPES,
    real_part_type,
)
from xtile.semantics.accumulation import accumulation_type

Numbers = npt.NDArray[Any]

_PRECISION: dict[Attribute, tuple[int, int]] = {
    BF16: (8, -126),
    F16: (11, -14),
    F32: (24, -126),
    F64: (53, -1022),
}
"""The bits of the significand and the least exponent of normal numbers."""


def is_inexact(type: Attribute) -> bool:
    """Whether a type has numbers that are rounded."""
    return type in FLOATING_TYPES or type in COMPLEX_TYPES


def unit_in_last_place(values: Numbers, type: Attribute) -> npt.NDArray[np.float64]:
    """The distance of the numbers of a type around each value; that around the modulus, if complex.

    Infinities and NaN have none, which is 0 here.
    """
    bits, least = _PRECISION[real_part_type(type)]
    modulus = np.abs(values.astype(np.complex128 if type in COMPLEX_TYPES else np.float64))
    exponent = np.frexp(np.where(np.isfinite(modulus), modulus, 0.0))[1] - 1
    exponent = np.where(modulus == 0, least, np.maximum(exponent, least))
    unit = np.ldexp(1.0, exponent - (bits - 1))
    return np.where(np.isfinite(modulus), unit, 0.0)


def unit_roundoff(type: Attribute) -> float:
    """The largest relative error of one rounding to a type."""
    return 2.0 ** -_PRECISION[real_part_type(type)][0]


def sum_tolerance(
    terms: Numbers, magnitudes: Numbers, sums: Numbers, type: Attribute, is_atomic: bool = False
) -> npt.NDArray[np.float64]:
    """How far apart sums of the same products may be on two devices, if they do not overflow.

    A sum of n products is the exact sum of products that are each off by a factor (1 + d), with
    |d| at most n units of roundoff in whatever order it was computed (Higham, 4.2); two more are
    for the scaling of the sum and of what it is added to. The product of complex numbers has
    twice as many terms. It is then rounded once to the type, if the type is narrower than that of
    the sum: sums on two sides of the middle between two numbers become neighbours. An atomic
    update rounds what it adds before that, which is no larger than the magnitudes.

    Args:
        terms: How many products each result is the sum of.
        magnitudes: The sums of the products' magnitudes.
        sums: The sums.
        type: The type of the results.
        is_atomic: Whether each sum is rounded before it is added to memory.
    """
    wide = accumulation_type(type)
    depth = (2 if type in COMPLEX_TYPES else 1) * (terms + 2)
    error = 2 * depth * unit_roundoff(wide) * magnitudes
    if wide == type:
        return error
    error = error + unit_in_last_place(sums, type)
    return error + unit_in_last_place(magnitudes, type) if is_atomic else error


def largest_sum(type: Attribute) -> float:
    """The largest finite number of the type in which sums that end in `type` are computed."""
    return float(np.finfo(np.float32 if _wide_real(type) == F32 else np.float64).max)


def _wide_real(type: Attribute) -> Attribute:
    return real_part_type(accumulation_type(type))


def sum_may_overflow(
    exact: Numbers, magnitudes: Numbers, tolerance: Numbers, type: Attribute
) -> npt.NDArray[np.bool_]:
    """Where a sum may be inf, -inf or NaN, because a part of it overflows in some order.

    No part of a sum is larger than the magnitudes of its finite terms and the error. Where an
    operand is NaN, or infinities meet their opposites, the sum is NaN in every order.

    Args:
        exact: The sums, computed in f64.
        magnitudes: The sums of the magnitudes of the finite products.
        tolerance: How far apart sums may be.
        type: The type of the results.
    """
    overflows = ~(magnitudes + tolerance <= largest_sum(type))
    # f64 overflows in f64, so that a NaN there says nothing about the operands.
    return overflows if _wide_real(type) == F64 else overflows & ~np.isnan(exact)
