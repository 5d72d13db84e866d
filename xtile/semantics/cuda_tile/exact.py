"""Results in f64 with the sign of what rounding lost, so that they can be rounded in any direction.

Each function gives a result rounded to nearest, ties to even, and the sign of the exact result
minus the rounded one: -1, 0 or 1. Where the result is infinite or NaN without having been rounded,
the sign is 0.

Source: T. J. Dekker, "A floating-point technique for extending the available precision" (1971).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from xtile.semantics.upstream.floats import exact_product, fused_multiply_add
from xtile.semantics.upstream.numbers import FLOATS
from xtile.semantics.values import Value, choose

Rounded: TypeAlias = tuple[Value, Value]
"""A result in f64, and the sign of what rounding it lost."""

_Mask: TypeAlias = "npt.NDArray[np.bool_]"

_FMA = fused_multiply_add(FLOATS["f64"])


def add(a: Value, b: Value) -> Rounded:
    """The sum."""
    total = a + b
    is_larger = np.abs(a) >= np.abs(b)
    large, small = choose(is_larger, a, b), choose(is_larger, b, a)
    return total, _signs(small - (total - large))


def subtract(a: Value, b: Value) -> Rounded:
    """The difference."""
    return add(a, -b)


def multiply(a: Value, b: Value) -> Rounded:
    """The product."""
    product, lost = exact_product(a, b)
    slow = _is_number(a, b) & ~(_is_moderate(a) & _is_moderate(b))
    return product, _corrected(_signs(lost), slow, _product_error, product, a, b)


def divide(a: Value, b: Value) -> Rounded:
    """The quotient of a and b."""
    quotient = a / b
    product, lost = exact_product(quotient, b)
    signs = _signs((a - product) - lost) * np.sign(np.where(np.isnan(b), 0, b))
    signs = np.where(np.isfinite(a) & np.isfinite(b) & (b != 0), signs, 0)
    slow = _is_number(a, b) & ~(_is_moderate(a) & _is_moderate(b))
    return quotient, _corrected(signs, slow, _quotient_error, quotient, a, b)


def square_root(a: Value) -> Rounded:
    """The square root of a."""
    root = np.sqrt(a)
    square, lost = exact_product(root, root)
    signs = np.where(np.isfinite(a), _signs((a - square) - lost), 0)
    slow = _is_number(a) & (a > 0) & ~_is_moderate(a)
    return root, _corrected(signs, slow, _root_error, root, a)


def multiply_add(a: Value, b: Value, c: Value) -> Rounded:
    """The product of a and b, plus c, with one rounding."""
    product, lost = exact_product(a, b)
    is_exact = ~_is_number(a, b) | (_is_moderate(a) & _is_moderate(b) & (lost == 0))
    total, signs = add(product, c)
    if np.all(is_exact):
        return total, signs
    total = _FMA(a, b, c)
    slow = ~is_exact & np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    return total, _corrected(signs, slow, _sum_error, total, a, b, c)


def to_odd(rounded: Rounded) -> Value:
    """The result rounded to odd: rounding it to fewer bits later is as if it were exact.

    Source: S. Boldo and G. Melquiond, "Emulation of FMA and correctly rounded sums: proved
    algorithms using rounding to odd" (2008).
    """
    near, signs = rounded
    bits = np.asanyarray(near, np.float64).view(np.int64)
    is_past = (signs != 0) & ((signs < 0) == (np.asanyarray(near) > 0))
    odd = (bits - is_past.astype(np.int64)) | (signs != 0).astype(np.int64)
    return odd.view(np.float64)[()]


def _signs(lost: Value) -> Value:
    """The signs of numbers; 0 for NaN, which infinite results lose."""
    return np.sign(np.where(np.isnan(lost), 0.0, lost))


def _is_number(*values: Value) -> Value:
    """Whether all of them are finite and not 0."""
    result: Any = np.True_
    for value in values:
        result = result & np.isfinite(value) & (value != 0)
    return result


def _is_moderate(a: Value) -> Value:
    """Whether products and quotients of such numbers, and what they lose, are normal numbers."""
    size = np.abs(a)
    return (size > 2.0**-300) & (size < 2.0**300)


def _corrected(
    signs: Value, slow: Any, error: Callable[..., int], near: Value, *operands: Value
) -> Value:
    """The signs, computed with fractions where steps in f64 may overflow or underflow."""
    if not np.any(slow):
        return signs
    arrays = np.broadcast_arrays(signs, slow, near, *operands)
    result = arrays[0].copy()
    chosen: _Mask = np.asanyarray(arrays[1], np.bool_)
    rows = zip(*(array[chosen].tolist() for array in arrays[2:]), strict=True)
    result[chosen] = [error(*row) for row in rows]
    return result[()]


def _error(near: float, exact: Fraction) -> int:
    if math.isinf(near):
        return -1 if near > 0 else 1
    difference = exact - Fraction(near)
    return (difference > 0) - (difference < 0)


def _product_error(near: float, a: float, b: float) -> int:
    return _error(near, Fraction(a) * Fraction(b))


def _quotient_error(near: float, a: float, b: float) -> int:
    return _error(near, Fraction(a) / Fraction(b))


def _root_error(near: float, a: float) -> int:
    square = Fraction(near) ** 2
    return (Fraction(a) > square) - (Fraction(a) < square)


def _sum_error(near: float, a: float, b: float, c: float) -> int:
    return _error(near, Fraction(a) * Fraction(b) + Fraction(c))
