"""Functions that CUDA Tile IR has not, composed of those that it has."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from xtile.dialects.cuda_tile.enumerations import ComparisonPredicate
from xtile.dialects.cuda_tile.ops import floating_point, mathematics
from xtile.translate.core_to_cuda_tile.arithmetic import absolute
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type
from xtile.translate.tiles.casts import copy_sign
from xtile.translate.tiles.elementwise import Compute

_IS = ComparisonPredicate


class _Real:
    """Arithmetic on tiles of one type, with numbers among the operands."""

    def __init__(self, lowering: Lowering, value: SSAValue) -> None:
        self._lowering = lowering
        self._type = value.type

    def _value(self, operand: SSAValue | float) -> SSAValue:
        if isinstance(operand, SSAValue):
            return operand
        return self._lowering.constant(operand, self._type)

    def add(self, a: SSAValue | float, b: SSAValue | float) -> SSAValue:
        return self._lowering.compute(floating_point.AddFOp, self._value(a), self._value(b))

    def subtract(self, a: SSAValue | float, b: SSAValue | float) -> SSAValue:
        return self._lowering.compute(floating_point.SubFOp, self._value(a), self._value(b))

    def multiply(self, a: SSAValue | float, b: SSAValue | float) -> SSAValue:
        return self._lowering.compute(floating_point.MulFOp, self._value(a), self._value(b))

    def divide(self, a: SSAValue | float, b: SSAValue | float) -> SSAValue:
        return self._lowering.compute(floating_point.DivFOp, self._value(a), self._value(b))

    def log(self, a: SSAValue) -> SSAValue:
        return self._lowering.compute(mathematics.LogOp, a)

    def sqrt(self, a: SSAValue) -> SSAValue:
        return self._lowering.compute(mathematics.SqrtOp, a)

    def floor(self, a: SSAValue) -> SSAValue:
        return self._lowering.compute(floating_point.FloorOp, a)

    def polynomial(self, coefficients: Sequence[float], a: SSAValue) -> SSAValue:
        """The sum of the coefficients, the one of the lowest power first, times powers of `a`."""
        *others, total = map(self._value, coefficients)
        for coefficient in reversed(others):
            total = self._lowering.fma(total, a, coefficient)
        return total

    def choose(
        self,
        predicate: ComparisonPredicate,
        a: SSAValue,
        b: SSAValue | float,
        then: SSAValue | float,
        other: SSAValue | float,
    ) -> SSAValue:
        """`then` where a comparison of `a` and `b` holds, `other` elsewhere."""
        condition = self._lowering.compare_floats(predicate, a, self._value(b))
        return self._lowering.select(condition, self._value(then), self._value(other))


def arc(name: str) -> Compute:
    """asin, acos or atan, which are angles of points on the unit circle or the line x = 1."""

    def compute(lowering: Lowering, value: SSAValue) -> SSAValue:
        if name == "atan":
            return lowering.compute(mathematics.Atan2Op, value, lowering.like(1, value))
        real = _Real(lowering, value)
        product = real.multiply(real.subtract(1, value), real.add(1, value))
        other = real.sqrt(product)
        sides = (value, other) if name == "asin" else (other, value)
        return lowering.compute(mathematics.Atan2Op, *sides)

    return compute


def log1p(lowering: Lowering, value: SSAValue) -> SSAValue:
    """log(1 + x): what rounding 1 + x lost is made good (Kahan)."""
    real = _Real(lowering, value)
    moved = real.add(value, 1)
    ratio = real.divide(value, real.subtract(moved, 1))
    made = real.multiply(real.log(moved), ratio)
    made = real.choose(_IS.EQUAL, moved, 1, value, made)
    return real.choose(_IS.EQUAL, moved, math.inf, math.inf, made)


def expm1(lowering: Lowering, value: SSAValue) -> SSAValue:
    """e^x - 1: what rounding e^x lost is made good (Kahan)."""
    real = _Real(lowering, value)
    power = lowering.compute(mathematics.ExpOp, value)
    less = real.subtract(power, 1)
    made = real.multiply(less, real.divide(value, real.log(power)))
    made = real.choose(_IS.EQUAL, power, 1, value, made)
    made = real.choose(_IS.EQUAL, less, -1, -1, made)
    return real.choose(_IS.EQUAL, power, math.inf, math.inf, made)


def erf(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The error function of f32, at most 1.2 units off.

    x + x p(x^2) up to 1, and 1 - e^q(|x|) beyond it, where p and q are polynomials fitted to
    erf(x) / x - 1 and log(1 - erf(x)).

    Raises:
        DiagnosticError: The numbers are f64.
    """
    if element_type(value) != f32:
        raise lowering.error("CUDA Tile IR has no error function; of f64 it is not composed either")
    real, size = _Real(lowering, value), absolute(lowering, value)
    square = real.multiply(value, value)
    near = lowering.fma(value, real.polynomial(_NEAR, square), value)
    power = real.polynomial(_FAR, real.choose(_IS.LESS_THAN, size, _ERF_IS_1, size, _ERF_IS_1))
    far = real.subtract(1, lowering.compute(mathematics.ExpOp, power))
    return real.choose(_IS.GREATER_THAN, size, 1, copy_sign(lowering, far, value), near)


_NEAR = (
    *(0.12837916588150264, -0.37612626903579943, 0.11283597463483269, -0.02685432879590567),
    *(0.005189311942441595, -0.0008018854991093863, 7.882497105797637e-05),
)
"""Coefficients of erf(x) / x - 1 in x^2, up to 1."""

_FAR = (
    *(0.0002111655308381109, -1.1296967880483684, -0.6329593891977882, -0.10874037944554257),
    *(0.025452156814449803, -0.004320642078699697, 0.0004751997320391042),
    *(-2.7220885432610647e-05, 3.877704595173304e-07),
)
"""Coefficients of log(1 - erf(x)) in x, from 1 to 4."""

_ERF_IS_1 = 4.0
"""Where the error function of f32 is 1."""

_LARGE = 2.0**28
"""x^2 + 1 is x^2 beyond it, in f32 and f64."""


def asinh(lowering: Lowering, value: SSAValue) -> SSAValue:
    """sign(x) log1p(|x| + x^2 / (1 + sqrt(x^2 + 1))), and log(2 |x|) where x^2 is large."""
    real = _Real(lowering, value)
    size = absolute(lowering, value)
    square = real.multiply(size, size)
    divisor = real.add(1, real.sqrt(real.add(square, 1)))
    near = log1p(lowering, real.add(size, real.divide(square, divisor)))
    far = real.add(real.log(size), math.log(2))
    made = real.choose(_IS.GREATER_THAN, size, _LARGE, far, near)
    return copy_sign(lowering, made, value)


def acosh(lowering: Lowering, value: SSAValue) -> SSAValue:
    """log1p(t + sqrt(2 t + t^2)) with t = x - 1, and log(2 x) where x^2 is large."""
    real = _Real(lowering, value)
    less = real.subtract(value, 1)
    root = real.sqrt(real.multiply(less, real.add(less, 2)))
    near = log1p(lowering, real.add(less, root))
    far = real.add(real.log(value), math.log(2))
    made = real.choose(_IS.GREATER_THAN, value, _LARGE, far, near)
    # The root is that of a positive number again for x < -1.
    return real.choose(_IS.LESS_THAN, value, 1, math.nan, made)


def atanh(lowering: Lowering, value: SSAValue) -> SSAValue:
    """sign(x) log1p(2 |x| / (1 - |x|)) / 2."""
    real = _Real(lowering, value)
    size = absolute(lowering, value)
    ratio = real.divide(real.multiply(size, 2), real.subtract(1, size))
    made = real.multiply(log1p(lowering, ratio), 0.5)
    return copy_sign(lowering, made, value)


def cbrt(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The cube root: 2^(log2 |x| / 3), made better by a step of Newton's method."""
    real = _Real(lowering, value)
    size = absolute(lowering, value)
    logarithm = lowering.compute(mathematics.Log2Op, size)
    guess = lowering.compute(mathematics.Exp2Op, real.multiply(logarithm, 1 / 3))
    error = real.subtract(guess, real.divide(size, real.multiply(guess, guess)))
    made = real.subtract(guess, real.multiply(error, 1 / 3))
    made = real.choose(_IS.EQUAL, size, 0, size, made)
    made = real.choose(_IS.EQUAL, size, math.inf, size, made)
    return copy_sign(lowering, made, value)


# --- rounding to integers ---


def truncated(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The integer next to it on the side of 0."""
    up = lowering.compute(floating_point.CeilOp, value)
    down = lowering.compute(floating_point.FloorOp, value)
    return _Real(lowering, value).choose(_IS.LESS_THAN, value, 0, up, down)


def round_away(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The nearest integer, a tie away from 0."""
    real, size = _Real(lowering, value), absolute(lowering, value)
    down = real.floor(size)
    rest = real.subtract(size, down)
    made = real.choose(_IS.GREATER_THAN_OR_EQUAL, rest, 0.5, real.add(down, 1), down)
    return copy_sign(lowering, made, value)


def round_even(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The nearest integer, of a tie the even one."""
    real, size = _Real(lowering, value), absolute(lowering, value)
    down = real.floor(size)
    up, rest = real.add(down, 1), real.subtract(size, down)
    half = real.multiply(down, 0.5)
    even = real.choose(_IS.EQUAL, half, real.floor(half), down, up)
    made = real.choose(_IS.GREATER_THAN, rest, 0.5, up, even)
    made = real.choose(_IS.LESS_THAN, rest, 0.5, down, made)
    return copy_sign(lowering, made, value)
