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
from typing import Any, TypeAlias

import numpy as np

from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value, choose

Function: TypeAlias = Callable[..., Value]
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


BINARY: dict[str, Meaning] = {
    "addf": _exact(_OPERATOR.add),
    "subf": _exact(_OPERATOR.sub),
    "mulf": _exact(_OPERATOR.mul),
    "divf": _exact(_OPERATOR.truediv),
    "remf": _exact(np.fmod),
    "maximumf": _exact(_maximum),
    "minimumf": _exact(_minimum),
    "maxnumf": _exact(np.fmax),
    "minnumf": _exact(np.fmin),
}
"""The binary functions of `arith`."""

NEGATE: Meaning = _exact(_OPERATOR.neg)
"""The negative number; a NaN's sign changes, too."""


def _ordered(function: Function) -> Function:
    """A comparison that holds if a comparison of numbers does, and no operand is NaN."""
    return lambda a, b: function(a, b) & ~_is_unordered(a, b)


def _unordered(function: Function) -> Function:
    """A comparison that holds if a comparison of numbers does, or an operand is NaN."""
    return lambda a, b: function(a, b) | _is_unordered(a, b)


def _is_unordered(a: Value, b: Value) -> Value:
    return np.isnan(a) | np.isnan(b)


_RELATIONS: tuple[Function, ...] = (
    np.equal,
    np.greater,
    np.greater_equal,
    np.less,
    np.less_equal,
    np.not_equal,
)

_COMPARISONS: tuple[Function, ...] = (
    lambda a, b: np.equal(a, b) & np.False_,
    *(_ordered(relation) for relation in _RELATIONS),
    lambda a, b: ~_is_unordered(a, b),
    *(_unordered(relation) for relation in _RELATIONS),
    _is_unordered,
    lambda a, b: np.equal(a, b) | np.True_,
)


def comparison(predicate: int, type: Number) -> Function:
    """A comparison by the number of `arith.cmpf`'s predicate: false, oeq, ogt, oge, olt, ..."""
    function = _COMPARISONS[predicate]
    return lambda a, b: function(type.wide(a), type.wide(b))


def _elementwise(function: Callable[..., Any]) -> Function:
    """A function of Python's numbers on numpy's."""
    universal: Any = np.frompyfunc(function, 1, 1)
    return lambda value: np.asarray(universal(value), np.float64)[()]


def _round_away(value: Value) -> Value:
    """To the nearest integer, halves away from zero."""
    whole = np.trunc(value)
    return whole + np.where(np.abs(value - whole) >= 0.5, np.copysign(1.0, value), 0.0)


def _keep_sign(function: Function) -> Function:
    """`function`, whose zeros have the operand's sign."""
    return lambda value: np.copysign(function(value), value)


UNARY_MATH: dict[str, Meaning] = {
    "absf": _exact(np.abs),
    "ceil": _exact(np.ceil),
    "floor": _exact(np.floor),
    "round": _exact(lambda value: _keep_sign(_round_away)(value).astype(value.dtype)),
    "roundeven": _exact(np.rint),
    "trunc": _exact(np.trunc),
    "sqrt": _exact(np.sqrt),
    **{
        name: _in_f64(function)
        for name, function in {
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
            "rsqrt": lambda value: 1.0 / np.sqrt(value),
            "sin": np.sin,
            "sinh": np.sinh,
            "tan": np.tan,
            "tanh": np.tanh,
        }.items()
    },
}
"""The functions of `math` with one operand."""

BINARY_MATH: dict[str, Meaning] = {
    "atan2": _in_f64(np.arctan2),
    "copysign": _exact(np.copysign),
    "powf": _in_f64(np.power),
}
"""The functions of `math` with two operands."""

CLAMP: Meaning = _exact(lambda value, least, largest: _maximum(_minimum(value, largest), least))
"""A number, moved to the range from the second to the third operand."""

TESTS: dict[str, Callable[[Number], Function]] = {
    "isfinite": lambda type: lambda value: np.isfinite(type.wide(value)),
    "isinf": lambda type: lambda value: np.isinf(type.wide(value)),
    "isnan": lambda type: lambda value: np.isnan(type.wide(value)),
    "isnormal": lambda type: lambda value: _is_normal(type, value),
}
"""What `math` asks of a number."""


def _is_normal(type: Number, value: Value) -> Value:
    size = np.abs(type.wide(value))
    return np.isfinite(size) & (size >= smallest_normal(type))


def smallest_normal(type: Number) -> float:
    """The smallest positive number with the type's full precision."""
    if type.dtype in (np.float16, np.float32, np.float64):
        return float(np.finfo(type.dtype).smallest_normal)
    import ml_dtypes

    return float(ml_dtypes.finfo(type.dtype).smallest_normal)


def fused_multiply_add(type: Number) -> Function:
    """A b + c with one rounding."""
    if type.dtype == np.float64:
        return _fma_f64
    return lambda a, b, c: type.rounded(
        _fma_by_odd(a.astype(np.float64), b.astype(np.float64), c.astype(np.float64))
    )


def _fma_by_odd(a: Value, b: Value, c: Value) -> Value:
    """A b + c rounded to odd in f64, for operands whose product f64 holds exactly."""
    product = a * b
    total = product + c
    # Knuth's TwoSum: what the addition lost, exactly.
    other = total - product
    lost = (product - (total - other)) + (c - other)
    is_inexact = np.isfinite(total) & (lost != 0)
    bits = np.asarray(total, np.float64).view(np.int64)
    is_past = (lost < 0) == (np.asarray(total) > 0)
    odd = (bits - (is_inexact & is_past).astype(np.int64)) | is_inexact.astype(np.int64)
    return odd.view(np.float64)[()]


def _fma_f64(a: Value, b: Value, c: Value) -> Value:
    universal: Any = np.frompyfunc(_exact_fma, 3, 1)
    return np.asarray(universal(a, b, c), np.float64)[()]


def _exact_fma(a: float, b: float, c: float) -> float:
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return float(np.float64(a) * np.float64(b) + np.float64(c))
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if exact == 0:
        return a * b + c
    try:
        return float(exact)
    except OverflowError:
        return math.copysign(math.inf, exact)


def power_of_integer(type: Number) -> Function:
    """A number to the power of an integer."""
    return lambda a, b: type.rounded(np.power(a.astype(np.float64), b.astype(np.float64)))
