"""What numpy's functions of floats are in the field, by their names.

Rounding functions give known integers. A function without a rule here is a random function of the
exact values of its operands, where one of them is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from xtile.semantics.field import numbers
from xtile.semantics.field.numbers import Cells, known, where

Rule: TypeAlias = Callable[..., Any]
"""A function of numbers that gives numbers, or truth values."""


def _of_keys(question: Callable[..., Any]) -> Rule:
    """A question that the keys answer."""
    return lambda *operands: question(*(operand["key"] for operand in operands))


def _of_order(question: Callable[..., Any]) -> Rule:
    """A comparison: numbers that are equal by the laws may have other keys, by rounding errors."""

    def compared(a: Cells, b: Cells) -> Any:
        is_equal = (numbers.is_unknown(a) | numbers.is_unknown(b)) & numbers.agree(a, b)
        is_equal &= ~numbers.is_unseen(a) & ~numbers.is_unseen(b)
        return question(a["key"], where(is_equal, a["key"], b["key"]))

    return compared


def absolute(a: Cells) -> Cells:
    """The numbers that are not negative of each number and its negative."""
    return where(a["key"] < 0, numbers.negative(a), a)


def _larger(a: Cells, b: Cells) -> Cells:
    """The larger numbers; a NaN stays."""
    return where((a["key"] >= b["key"]) | np.isnan(a["key"]), a, b)


def _smaller(a: Cells, b: Cells) -> Cells:
    """The smaller numbers; a NaN stays."""
    return where((a["key"] <= b["key"]) | np.isnan(a["key"]), a, b)


def _ignoring_nan(choice: Rule) -> Rule:
    """A choice that takes the other operand of a NaN."""

    def rule(a: Cells, b: Cells) -> Cells:
        return where(np.isnan(a["key"]), b, where(np.isnan(b["key"]), a, choice(a, b)))

    return rule


def _sign(a: Cells) -> Cells:
    return known(np.sign(a["key"]))


def _copysign(a: Cells, b: Cells) -> Cells:
    return where((a["key"] < 0) != np.signbit(b["key"]), numbers.negative(a), a)


def _expm1(a: Cells) -> Cells:
    return numbers.subtract(numbers.exp(a), known(1.0))


def _log1p(a: Cells) -> Cells:
    return numbers.log(numbers.add(known(1.0), a))


def _log10(a: Cells) -> Cells:
    return numbers.divide(numbers.log(a), numbers.log(known(10.0)))


def _cosh(a: Cells) -> Cells:
    return _half(numbers.add(numbers.exp(a), numbers.exp(numbers.negative(a))))


def _sinh(a: Cells) -> Cells:
    return _half(numbers.subtract(numbers.exp(a), numbers.exp(numbers.negative(a))))


def _half(a: Cells) -> Cells:
    return numbers.multiply(a, known(0.5))


def _tanh(a: Cells) -> Cells:
    """1 - 2 / (exp(2 a) + 1), of which the infinities give -1 and 1."""
    rest = numbers.add(numbers.exp(numbers.add(a, a)), known(1.0))
    return numbers.subtract(known(1.0), numbers.divide(known(2.0), rest))


def _ldexp(a: Cells, exponent: Cells) -> Cells:
    return numbers.multiply(a, known(np.exp2(exponent["key"])))


def _hypot(a: Cells, b: Cells) -> Cells:
    return numbers.square_root(numbers.add(numbers.multiply(a, a), numbers.multiply(b, b)))


def _clip(a: Cells, least: Cells, largest: Cells) -> Cells:
    return _smaller(_larger(a, least), largest)


def _whole(name: str) -> Rule:
    def rounded(a: Cells) -> Cells:
        return numbers.whole(getattr(np, name), a)

    return rounded


def _same(a: Cells) -> Cells:
    return a


def _reciprocal(a: Cells) -> Cells:
    return numbers.divide(known(1.0), a)


def _square(a: Cells) -> Cells:
    return numbers.multiply(a, a)


_LAWFUL: dict[str, Rule] = {
    "absolute": absolute,
    "add": numbers.add,
    "clip": _clip,
    "conjugate": _same,
    "copysign": _copysign,
    "cosh": _cosh,
    "divide": numbers.divide,
    "exp": numbers.exp,
    "exp2": numbers.exp2,
    "expm1": _expm1,
    "fabs": absolute,
    "float_power": numbers.power,
    "fmax": _ignoring_nan(_larger),
    "fmin": _ignoring_nan(_smaller),
    "hypot": _hypot,
    "ldexp": _ldexp,
    "log": numbers.log,
    "log10": _log10,
    "log1p": _log1p,
    "log2": numbers.log2,
    "matmul": numbers.matrix_product,
    "maximum": _larger,
    "minimum": _smaller,
    "multiply": numbers.multiply,
    "negative": numbers.negative,
    "positive": _same,
    "power": numbers.power,
    "reciprocal": _reciprocal,
    "sign": _sign,
    "sinh": _sinh,
    "sqrt": numbers.square_root,
    "square": _square,
    "subtract": numbers.subtract,
    "tanh": _tanh,
    **{name: _whole(name) for name in ("ceil", "floor", "rint", "trunc")},
}

_COMPARISONS = ("equal", "greater", "greater_equal", "less", "less_equal", "not_equal")

_QUESTIONS = ("isfinite", "isinf", "isnan", "logical_and", "logical_not", "logical_or", "signbit")

RULES: Mapping[str, Rule] = {
    **_LAWFUL,
    **{name: _of_keys(getattr(np, name)) for name in _QUESTIONS},
    **{name: _of_order(getattr(np, name)) for name in _COMPARISONS},
}
"""The rule for each function of numpy's that has one, by its name."""

REFUSED = ("<lambda>", "_exact_fma", "frexp", "modf", "nextafter", "spacing")
"""Functions that look at how a float is made."""


def rule(ufunc: Any) -> Rule:
    """The rule for one of numpy's functions, or for a function of Python's made one.

    Raises:
        RefusedError: It looks at how a float is made.
    """
    name = ufunc.__name__.removesuffix(" (vectorized)")
    if name in RULES:
        return RULES[name]
    if name in REFUSED:
        raise numbers.RefusedError(f"what {name} gives has no meaning in the field")

    def random(*operands: Cells) -> Cells:
        return numbers.function(name, lambda *keys: np.asarray(ufunc(*keys), np.float64), *operands)

    return random


TOTALS: Mapping[str, Callable[[Cells, int], Cells]] = {"add": numbers.total}
"""Reductions along an axis that are done at once."""

IDENTITIES = {"add": 0.0, "multiply": 1.0}
"""What a reduction of nothing gives."""
