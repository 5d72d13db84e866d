"""Arithmetic on floating numbers, by the names of the `arith` and `math` dialects.

Each result is rounded once to the type. The functions of `arith` are exact before that, those of
`math` are computed in f64.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`, `Dialect/Math/IR/MathOps.td`;
docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np

from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value, choose, is_exact

Function: TypeAlias = Callable[..., Value]
Unary: TypeAlias = Callable[[Value], Value]
Binary: TypeAlias = Callable[[Value, Value], Value]
Ternary: TypeAlias = Callable[[Value, Value, Value], Value]
Meaning: TypeAlias = Callable[[Number], Function]
"""Gives the function for numbers of one type."""

# Its functions take anything, which the type checker cannot say.
_OPERATOR: Any = operator


def _exact(function: Function) -> Meaning:
    """The meaning of a function that one rounding of its f32 or f64 result computes right."""

    def meaning(type: Number) -> Function:
        if type.is_exact_width:
            return function
        return lambda *operands: type.rounded(function(*map(type.wide, operands)))

    return meaning


def _in_f64(function: Function) -> Meaning:
    """The meaning of a function that is computed in f64."""

    def meaning(type: Number) -> Function:
        return lambda *operands: type.rounded(
            function(*(operand.astype(np.float64) for operand in operands))
        )

    return meaning


def _maximum(a: Value, b: Value) -> Value:
    """The larger number; a NaN stays, and -0 is less than +0."""
    # The sum of two zeros is -0 only if both are.
    return choose((a == 0) & (b == 0), a + b, np.maximum(a, b))


def _minimum(a: Value, b: Value) -> Value:
    """The smaller number; a NaN stays, and -0 is less than +0."""
    return -_maximum(-a, -b)


def _ignoring_nan(function: Binary) -> Binary:
    """A function of numbers that gives the other operand of a NaN."""
    return lambda a, b: choose(np.isnan(a), b, choose(np.isnan(b), a, function(a, b)))


BINARY: dict[str, Meaning] = {
    "addf": _exact(_OPERATOR.add),
    "subf": _exact(_OPERATOR.sub),
    "mulf": _exact(_OPERATOR.mul),
    "divf": _exact(_OPERATOR.truediv),
    "remf": _exact(np.fmod),
    "maximumf": _exact(_maximum),
    "minimumf": _exact(_minimum),
    "maxnumf": _exact(_ignoring_nan(_maximum)),
    "minnumf": _exact(_ignoring_nan(_minimum)),
}
"""The binary functions of `arith`."""

NEGATE: Meaning = _exact(_OPERATOR.neg)
"""The negative number; a NaN's sign changes, too."""


def _ordered(function: Binary) -> Binary:
    """A comparison that holds if a comparison of numbers does, and no operand is NaN."""
    return lambda a, b: function(a, b) & ~_is_unordered(a, b)


def _unordered(function: Binary) -> Binary:
    """A comparison that holds if a comparison of numbers does, or an operand is NaN."""
    return lambda a, b: function(a, b) | _is_unordered(a, b)


def _is_unordered(a: Value, b: Value) -> Value:
    return np.isnan(a) | np.isnan(b)


_RELATIONS: tuple[Binary, ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
)

_COMPARISONS: tuple[Binary, ...] = (
    lambda a, b: np.equal(a, b) & np.False_,
    *(_ordered(relation) for relation in _RELATIONS),
    lambda a, b: ~_is_unordered(a, b),
    *(_unordered(relation) for relation in _RELATIONS),
    _is_unordered,
    lambda a, b: np.equal(a, b) | np.True_,
)


def comparison(predicate: int, type: Number) -> Binary:
    """A comparison by the number of `arith.cmpf`'s predicate: false, oeq, ogt, oge, olt, ..."""
    function = _COMPARISONS[predicate]
    return lambda a, b: function(type.wide(a), type.wide(b))


def _elementwise(function: Callable[[float], float]) -> Unary:
    """A function of Python's numbers on numpy's."""
    universal: Any = np.frompyfunc(function, 1, 1)
    return lambda value: np.asanyarray(universal(value), np.float64)[()]


def round_away(value: Value) -> Value:
    """To the nearest integer, halves away from zero; a zero has the operand's sign."""
    whole = np.trunc(value)
    away = np.where(np.abs(value - whole) >= 0.5, np.copysign(1.0, value), 0.0)
    return np.copysign(whole + away, value).astype(value.dtype)


def _reciprocal_root(value: Value) -> Value:
    return 1.0 / np.sqrt(value)


_IN_F64: dict[str, Unary] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "cosh": np.cosh,
    "erf": _elementwise(math.erf),
    "erfc": _elementwise(math.erfc),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "rsqrt": _reciprocal_root,
    "sin": np.sin,
    "sinh": np.sinh,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""The functions of `math` with one operand that f64 is rounded from."""


UNARY_MATH: dict[str, Meaning] = {
    "absf": _exact(np.abs),
    "ceil": _exact(np.ceil),
    "floor": _exact(np.floor),
    "round": _exact(round_away),
    "roundeven": _exact(np.rint),
    "trunc": _exact(np.trunc),
    "sqrt": _exact(np.sqrt),
    **{name: _in_f64(function) for name, function in _IN_F64.items()},
}
"""The functions of `math` with one operand."""

BINARY_MATH: dict[str, Meaning] = {
    "atan2": _in_f64(np.arctan2),
    "copysign": _exact(np.copysign),
    "powf": _in_f64(np.power),
}
"""The functions of `math` with two operands."""


def _clamp(value: Value, least: Value, largest: Value) -> Value:
    return _maximum(_minimum(value, largest), least)


CLAMP: Meaning = _exact(_clamp)
"""A number, moved to the range from the second to the third operand."""


def _test(function: Unary) -> Callable[[Number], Unary]:
    """A question that a conversion to f32 does not change the answer to."""
    return lambda type: lambda value: function(type.wide(value))


def _is_normal(type: Number) -> Unary:
    least = smallest_normal(type)

    def function(value: Value) -> Value:
        size = np.abs(type.wide(value))
        return np.isfinite(size) & (size >= least)

    return function


TESTS: dict[str, Callable[[Number], Unary]] = {
    "isfinite": _test(np.isfinite),
    "isinf": _test(np.isinf),
    "isnan": _test(np.isnan),
    "isnormal": _is_normal,
}
"""What `math` asks of a number."""


def smallest_normal(type: Number) -> float:
    """The smallest positive number with the type's full precision."""
    information = cast("Any", ml_dtypes.finfo(type.dtype))
    return float(information.smallest_normal)


def fused_multiply_add(type: Number) -> Ternary:
    """A b + c with one rounding."""
    fused = _fma_f64 if type.dtype == np.float64 else _fma_by_odd

    def function(a: Value, b: Value, c: Value) -> Value:
        wide = [operand.astype(np.float64) for operand in (a, b, c)]
        if is_exact(*wide):
            return type.rounded(wide[0] * wide[1] + wide[2])
        return type.rounded(fused(*wide))

    return function


def _fma_by_odd(a: Value, b: Value, c: Value) -> Value:
    """A b + c rounded to odd in f64, for operands whose product f64 holds exactly."""
    return _sum_to_odd(a * b, c)


def _sum_to_odd(a: Value, b: Value) -> Value:
    """The sum of two numbers rounded to odd."""
    total, lost = exact_sum(a, b)
    is_inexact = np.isfinite(total) & (lost != 0)
    bits = np.asanyarray(total, np.float64).view(np.int64)
    is_past = (lost < 0) == (np.asanyarray(total) > 0)
    odd = (bits - (is_inexact & is_past).astype(np.int64)) | is_inexact.astype(np.int64)
    return odd.view(np.float64)[()]


def exact_sum(a: Value, b: Value) -> tuple[Value, Value]:
    """A sum and what rounding it lost: Knuth's TwoSum."""
    total = a + b
    other = total - a
    return total, (a - (total - other)) + (b - other)


def exact_product(a: Value, b: Value) -> tuple[Value, Value]:
    """A product and what rounding it lost: Dekker's, with numbers cut by Veltkamp's method."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    lost = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, lost


def _halves(a: Value) -> tuple[Value, Value]:
    """Two numbers with half of the bits of a number, which is their sum."""
    scaled = a * np.float64(2**27 + 1)
    high = scaled - (scaled - a)
    return high, a - high


def _fma_f64(a: Value, b: Value, c: Value) -> Value:
    """Boldo and Melquiond's algorithm ("Emulation of a FMA and correctly rounded sums", 2008).

    Where a number is so large or small that a step might overflow or underflow, or the result is 0,
    fractions decide.
    """
    product, product_lost = exact_product(a, b)
    inner, inner_lost = exact_sum(c, product_lost)
    outer, outer_lost = exact_sum(product, inner)
    result = np.asanyarray(outer + _sum_to_odd(inner_lost, outer_lost))
    is_safe = (result != 0) & _is_moderate(a) & _is_moderate(b) & (_is_moderate(c) | (c == 0))
    if np.all(is_safe):
        return result[()]
    universal: Any = np.frompyfunc(_exact_fma, 3, 1)
    others = (operand[~is_safe] for operand in np.broadcast_arrays(a, b, c))
    result[~is_safe] = universal(*others)
    return result[()]


def _is_moderate(a: Value) -> Any:
    """Whether products and sums of such numbers, and what they lose, are normal numbers."""
    size = np.abs(a)
    return (size > 2.0**-300) & (size < 2.0**300)


def _exact_fma(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        # A product that overflows is finite before it is rounded.
        if math.isinf(c) and math.isfinite(a) and math.isfinite(b):
            return c
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def power_of_integer(type: Number) -> Binary:
    """A number to the power of an integer."""
    return lambda a, b: type.rounded(np.power(a.astype(np.float64), b.astype(np.float64)))
