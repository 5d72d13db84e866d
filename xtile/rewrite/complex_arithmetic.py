"""Arithmetic on complex numbers, by that on their parts.

Source: MLIR (LLVM 22), `Dialect/Complex/IR/ComplexOps.td`; docs/semantics.md, 1.11.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, Float64Type
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.comparisons import CmpFOp, SelectOp
from xtile.rewrite.emitter import Emitter


class Real:
    """A real number, whose operators emit `arith`; numbers of Python are constants of its type."""

    def __init__(self, value: SSAValue, emitter: Emitter) -> None:
        self.value = value
        self._emitter = emitter

    def like(self, number: float) -> Real:
        """A constant of the same type."""
        return Real(self._emitter.constant(number, self.value.type), self._emitter)

    def apply(self, kind: Callable[..., Operation], *others: Real | float) -> Real:
        """An operation such as `math.atan2` on this number and others."""
        given = [other if isinstance(other, Real) else self.like(other) for other in others]
        operation = kind(self.value, *(each.value for each in given))
        return Real(self._emitter.emit(operation).results[0], self._emitter)

    def __add__(self, other: Real | float) -> Real:
        return self.apply(arith.AddfOp, other)

    def __radd__(self, other: float) -> Real:
        return self.like(other) + self

    def __sub__(self, other: Real | float) -> Real:
        return self.apply(arith.SubfOp, other)

    def __mul__(self, other: Real | float) -> Real:
        return self.apply(arith.MulfOp, other)

    def __truediv__(self, other: Real | float) -> Real:
        return self.apply(arith.DivfOp, other)

    def __neg__(self) -> Real:
        return self.apply(arith.NegfOp)

    def __abs__(self) -> Real:
        return self.apply(math.AbsFOp)

    def holds(self, predicate: str, other: Real | float) -> SSAValue:
        """A comparison such as `oge`."""
        right = other if isinstance(other, Real) else self.like(other)
        return self._emitter.emit(CmpFOp(self.value, right.value, predicate)).result

    def to(self, type_: AnyFloat) -> Real:
        """The number in another type."""
        own = cast(AnyFloat, self.value.type)
        if own == type_:
            return self
        kind = arith.ExtFOp if own.bitwidth < type_.bitwidth else arith.TruncFOp
        return Real(self._emitter.emit(kind(self.value, type_)).result, self._emitter)

    def where(self, condition: SSAValue, other: Real | float) -> Real:
        """This number where the condition holds, the other one elsewhere."""
        right = other if isinstance(other, Real) else self.like(other)
        chosen = self._emitter.emit(SelectOp(condition, self.value, right.value))
        return Real(chosen.result, self._emitter)


@dataclass(frozen=True)
class Complex:
    """A complex number by its parts, which are both f32 or f64."""

    real: Real
    imaginary: Real

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.real + other.real, self.imaginary + other.imaginary)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.real - other.real, self.imaginary - other.imaginary)

    def __mul__(self, other: Complex) -> Complex:
        return Complex(
            self.real * other.real - self.imaginary * other.imaginary,
            self.real * other.imaginary + self.imaginary * other.real,
        )

    def __truediv__(self, other: Complex) -> Complex:
        """Smith's method, which divides by the larger part first.

        (a + i b) / (c + i d) with r = d / c, and with r = c / d where d is larger.
        """
        c, d = other.real, other.imaginary
        is_real_larger = abs(c).holds("oge", abs(d))
        large, small = c.where(is_real_larger, d), d.where(is_real_larger, c)
        ratio = large.like(0.0).where(large.holds("oeq", 0.0), small / large)
        denominator = large + small * ratio
        first = self.real.where(is_real_larger, self.imaginary)
        second = self.imaginary.where(is_real_larger, self.real)
        lower = second - first * ratio
        lower = lower.where(is_real_larger, -lower)
        return Complex((first + second * ratio) / denominator, lower / denominator)

    def __neg__(self) -> Complex:
        return Complex(-self.real, -self.imaginary)

    def __abs__(self) -> Real:
        """The square root of the sum of squares, which are scaled where they leave the type."""
        a, b = abs(self.real), abs(self.imaginary)
        larger = a.apply(arith.MaxnumfOp, b)
        limit, scale = _LIMITS[isinstance(self.part, Float64Type)]
        is_large, is_small = larger.holds("ogt", limit), larger.holds("olt", 1 / limit)
        down = a.like(1 / scale).where(is_large, a.like(scale).where(is_small, 1.0))
        up = a.like(scale).where(is_large, a.like(1 / scale).where(is_small, 1.0))
        a, b = a * down, b * down
        size = (a * a + b * b).apply(math.SqrtOp) * up
        # An infinite part makes the other one indifferent, NaN or not.
        return larger.where(larger.holds("oeq", inf), size)

    def is_zero(self) -> SSAValue:
        """Whether both parts are 0."""
        return (abs(self.real) + abs(self.imaginary)).holds("oeq", 0.0)

    @property
    def part(self) -> AnyFloat:
        """The type of the parts."""
        return cast(AnyFloat, self.real.value.type)

    def to(self, part: AnyFloat) -> Complex:
        """The number with parts of another type."""
        return Complex(self.real.to(part), self.imaginary.to(part))

    def of_real(self, number: float) -> Complex:
        """A constant of the same type, without imaginary part."""
        return Complex(self.real.like(number), self.real.like(0.0))

    def where(self, condition: SSAValue, other: Complex) -> Complex:
        """This number where the condition holds, the other one elsewhere."""
        return Complex(
            self.real.where(condition, other.real), self.imaginary.where(condition, other.imaginary)
        )


_LIMITS = {False: (2.0**60, 2.0**90), True: (2.0**500, 2.0**600)}
"""For f32 and f64: beyond which size squares may leave the type, and what brings them back."""

_TANH_IS_ONE = 22.0
"""1 - tanh(22) is less than f64 can tell from 0."""


def conjugate(a: Complex) -> Complex:
    """The number on the other side of the real axis."""
    return Complex(a.real, -a.imaginary)


def angle(a: Complex) -> Real:
    """The angle, from -pi to pi."""
    return a.imaginary.apply(math.Atan2Op, a.real)


def exp(a: Complex) -> Complex:
    """e^x (cos y + i sin y)."""
    size = a.real.apply(math.ExpOp)
    return Complex(size * a.imaginary.apply(math.CosOp), size * a.imaginary.apply(math.SinOp))


def log(a: Complex) -> Complex:
    """The natural logarithm, with an imaginary part from -pi to pi."""
    return Complex(_log_of_size(a), angle(a))


def _log_of_size(a: Complex) -> Real:
    """Log |a|, which keeps its digits near 1.

    With u and v the larger and the smaller part it is log1p((u - 1)(u + 1) + v^2) / 2 there.
    """
    x, y = abs(a.real), abs(a.imaginary)
    u, v = x.apply(arith.MaxnumfOp, y), x.apply(arith.MinnumfOp, y)
    near = ((u - 1.0) * (u + 1.0) + v * v).apply(math.Log1pOp) * 0.5
    size = abs(a)
    is_near = abs(size - 1.0).holds("olt", 0.5)
    return near.where(is_near, size.apply(math.LogOp))


def sqrt(a: Complex) -> Complex:
    """The square root with a real part that is not negative.

    The part of the result that has no cancellation is computed first (Kahan, "Branch cuts for
    complex elementary functions").
    """
    root = ((abs(a) + abs(a.real)) * 0.5).apply(math.SqrtOp)
    other = a.imaginary.where(root.holds("oeq", 0.0), a.imaginary * 0.5 / root)
    on_left = Complex(abs(other), root.apply(math.CopySignOp, a.imaginary))
    return Complex(root, other).where(a.real.holds("oge", 0.0), on_left)


def reciprocal_root(a: Complex) -> Complex:
    """1 / sqrt(a)."""
    return a.of_real(1.0) / sqrt(a)


def sin(a: Complex) -> Complex:
    """Sin x cosh y + i cos x sinh y."""
    sine, cosine = a.real.apply(math.SinOp), a.real.apply(math.CosOp)
    return Complex(sine * a.imaginary.apply(math.CoshOp), cosine * a.imaginary.apply(math.SinhOp))


def cos(a: Complex) -> Complex:
    """Cos x cosh y - i sin x sinh y."""
    sine, cosine = a.real.apply(math.SinOp), a.real.apply(math.CosOp)
    return Complex(
        cosine * a.imaginary.apply(math.CoshOp), -(sine * a.imaginary.apply(math.SinhOp))
    )


def tanh(a: Complex) -> Complex:
    """The hyperbolic tangent, without overflow.

    With t = tan y, s = sinh x and b = 1 + t^2 it is (b sqrt(1 + s^2) s + i t) / (1 + b s^2)
    (Kahan), and 1 with the sign of x where s^2 is too large for that.
    """
    t, s = a.imaginary.apply(math.TanOp), a.real.apply(math.SinhOp)
    b, square = 1.0 + t * t, s * s
    denominator = 1.0 + b * square
    cosh = (1.0 + square).apply(math.SqrtOp)
    near = Complex(b * cosh * s / denominator, t / denominator)
    far = Complex(t.like(1.0).apply(math.CopySignOp, a.real), t.like(0.0))
    return far.where(abs(a.real).holds("ogt", _TANH_IS_ONE), near)


def tan(a: Complex) -> Complex:
    """-i tanh(i a)."""
    result = tanh(Complex(-a.imaginary, a.real))
    return Complex(result.imaginary, -result.real)


def power(a: Complex, b: Complex) -> Complex:
    """e^(b log a), where 0 to a power is 0, and 1 to the power of 0."""
    of_zero = a.of_real(1.0).where(b.is_zero(), a.of_real(0.0))
    return of_zero.where(a.is_zero(), exp(b * log(a)))


def expm1(a: Complex) -> Complex:
    """e^a - 1, which keeps its digits near 0.

    The real part is expm1(x) cos(y) - 2 sin(y / 2)^2.
    """
    half = (a.imaginary * 0.5).apply(math.SinOp)
    cosine, sine = a.imaginary.apply(math.CosOp), a.imaginary.apply(math.SinOp)
    return Complex(
        a.real.apply(math.ExpM1Op) * cosine - half * half * 2.0, a.real.apply(math.ExpOp) * sine
    )


def log1p(a: Complex) -> Complex:
    """log(1 + a), which keeps its digits near 0.

    The real part is log1p(2 x + x^2 + y^2) / 2 there.
    """
    square = a.imaginary * a.imaginary
    near = a.real * (a.real + 2.0) + square
    is_near = (a.real * a.real + square).holds("olt", 0.25)
    moved = Complex(a.real + 1.0, a.imaginary)
    size = (near.apply(math.Log1pOp) * 0.5).where(is_near, _log_of_size(moved))
    return Complex(size, angle(moved))


def sign(a: Complex) -> Complex:
    """The number with absolute value 1 and the same angle; 0 stays 0."""
    size = abs(a)
    divisor = size.like(1.0).where(size.holds("oeq", 0.0), size)
    return Complex(a.real / divisor, a.imaginary / divisor)


def atan2(a: Complex, b: Complex) -> Complex:
    """-i log((b + i a) / sqrt(a^2 + b^2))."""
    turned = Complex(b.real - a.imaginary, b.imaginary + a.real)
    result = log(turned / sqrt(a * a + b * b))
    return Complex(result.imaginary, -result.real)
