"""Arithmetic on complex numbers, by that on their parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue


class RealArithmetic(Protocol):
    """What emits arithmetic on real numbers, by the names that SPIR-V and OpenCL give it."""

    def compute(self, name: str, type_: Attribute, /, *operands: SSAValue) -> SSAValue:
        """The result of an instruction such as `FAdd` or `CL.log1p`; `type_` is a scalar's."""
        ...

    def floating(self, number: float, type_: Attribute, /) -> SSAValue:
        """A constant."""
        ...

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue, /) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere."""
        ...


@dataclass(frozen=True)
class Complex:
    """A complex number by its parts."""

    real: SSAValue
    imaginary: SSAValue


class Arithmetic:
    """Arithmetic on complex numbers with parts of one type."""

    def __init__(self, lowering: RealArithmetic, part: Attribute) -> None:
        self._lowering = lowering
        self.part = part

    # --- real numbers ---

    def real(self, name: str, *operands: SSAValue) -> SSAValue:
        """An instruction on real numbers."""
        return self._lowering.compute(name, self.part, *operands)

    def number(self, number: float) -> SSAValue:
        """A real constant."""
        return self._lowering.floating(number, self.part)

    def holds(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """A comparison of real numbers."""
        return self._lowering.compute(name, i1, a, b)

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`a` where the condition holds, `b` elsewhere."""
        return self._lowering.select(condition, a, b)

    # --- complex numbers ---

    def choose(self, condition: SSAValue, a: Complex, b: Complex) -> Complex:
        """`a` where the condition holds, `b` elsewhere."""
        return Complex(
            self.select(condition, a.real, b.real),
            self.select(condition, a.imaginary, b.imaginary),
        )

    def of_real(self, number: float) -> Complex:
        """A constant without an imaginary part."""
        return Complex(self.number(number), self.number(0.0))

    def add(self, a: Complex, b: Complex) -> Complex:
        """The sum."""
        return Complex(
            self.real("FAdd", a.real, b.real), self.real("FAdd", a.imaginary, b.imaginary)
        )

    def scale(self, a: Complex, factor: SSAValue) -> Complex:
        """The product with a real number."""
        return Complex(self.real("FMul", a.real, factor), self.real("FMul", a.imaginary, factor))

    def multiply(self, a: Complex, b: Complex) -> Complex:
        """The product."""
        real = self.real
        return Complex(
            real("FSub", real("FMul", a.real, b.real), real("FMul", a.imaginary, b.imaginary)),
            real("FAdd", real("FMul", a.real, b.imaginary), real("FMul", a.imaginary, b.real)),
        )

    def divide(self, a: Complex, b: Complex) -> Complex:
        """The quotient by Smith's method, which divides by the larger part of `b` first."""
        real = self.real
        sizes = (real("CL.fabs", b.real), real("CL.fabs", b.imaginary))
        is_real_larger = self.holds("FOrdGreaterThanEqual", *sizes)
        large = self.select(is_real_larger, b.real, b.imaginary)
        small = self.select(is_real_larger, b.imaginary, b.real)
        is_zero = self.holds("FOrdEqual", large, self.number(0.0))
        ratio = self.select(is_zero, self.number(0.0), real("FDiv", small, large))
        denominator = real("FAdd", large, real("FMul", small, ratio))
        # (a + i b) / (c + i d) with r = d / c, and with r = c / d where d is larger.
        first = self.select(is_real_larger, a.real, a.imaginary)
        second = self.select(is_real_larger, a.imaginary, a.real)
        upper = real("FAdd", first, real("FMul", second, ratio))
        lower = real("FSub", second, real("FMul", first, ratio))
        lower = self.select(is_real_larger, lower, real("FNegate", lower))
        return Complex(real("FDiv", upper, denominator), real("FDiv", lower, denominator))

    def size(self, a: Complex) -> SSAValue:
        """The absolute value."""
        return self.real("CL.hypot", a.real, a.imaginary)

    def angle(self, a: Complex) -> SSAValue:
        """The angle, from -pi to pi."""
        return self.real("CL.atan2", a.imaginary, a.real)

    def polar(self, size: SSAValue, angle: SSAValue) -> Complex:
        """The number with an absolute value and an angle."""
        return Complex(
            self.real("FMul", size, self.real("CL.cos", angle)),
            self.real("FMul", size, self.real("CL.sin", angle)),
        )

    def exp(self, a: Complex) -> Complex:
        """e^a."""
        return self.polar(self.real("CL.exp", a.real), a.imaginary)

    def log(self, a: Complex) -> Complex:
        """The natural logarithm, with an imaginary part from -pi to pi."""
        return Complex(self.log_of_size(a), self.angle(a))

    def log_of_size(self, a: Complex) -> SSAValue:
        """Log |a|, which keeps its digits near 1.

        With u and v the larger and the smaller part it is log1p((u - 1)(u + 1) + v^2) / 2 there.
        """
        real, one = self.real, self.number(1.0)
        sizes = real("CL.fabs", a.real), real("CL.fabs", a.imaginary)
        large, small = real("CL.fmax", *sizes), real("CL.fmin", *sizes)
        off = real("FMul", real("FSub", large, one), real("FAdd", large, one))
        off = real("FAdd", off, real("FMul", small, small))
        size = self.size(a)
        distance = real("CL.fabs", real("FSub", size, one))
        is_near = self.holds("FOrdLessThan", distance, self.number(0.5))
        near = real("FMul", real("CL.log1p", off), self.number(0.5))
        return self.select(is_near, near, real("CL.log", size))

    def sqrt(self, a: Complex) -> Complex:
        """The square root with a real part that is not negative.

        The part of the result that has no cancellation is computed first (Kahan, "Branch cuts for
        complex elementary functions").
        """
        real = self.real
        half = self.number(0.5)
        larger = real("FAdd", self.size(a), real("CL.fabs", a.real))
        root = real("CL.sqrt", real("FMul", larger, half))
        is_zero = self.holds("FOrdEqual", root, self.number(0.0))
        other = real("FDiv", real("FMul", a.imaginary, half), root)
        other = self.select(is_zero, a.imaginary, other)
        is_right = self.holds("FOrdGreaterThanEqual", a.real, self.number(0.0))
        on_left = Complex(real("CL.fabs", other), real("CL.copysign", root, a.imaginary))
        return self.choose(is_right, Complex(root, other), on_left)

    def sine_and_cosine(self, a: Complex) -> tuple[Complex, Complex]:
        """Sin a and cos a."""
        real = self.real
        sine, cosine = real("CL.sin", a.real), real("CL.cos", a.real)
        sinh, cosh = real("CL.sinh", a.imaginary), real("CL.cosh", a.imaginary)
        return (
            Complex(real("FMul", sine, cosh), real("FMul", cosine, sinh)),
            Complex(real("FMul", cosine, cosh), real("FNegate", real("FMul", sine, sinh))),
        )

    def tanh(self, a: Complex) -> Complex:
        """The hyperbolic tangent, without overflow.

        With t = tan y, s = sinh x and b = 1 + t^2 it is (b sqrt(1 + s^2) s + i t) / (1 + b s^2)
        (Kahan), and 1 with the sign of x where s^2 is too large for that.
        """
        real = self.real
        one = self.number(1.0)
        tangent, sinh = real("CL.tan", a.imaginary), real("CL.sinh", a.real)
        b = real("FAdd", one, real("FMul", tangent, tangent))
        square = real("FMul", sinh, sinh)
        cosh = real("CL.sqrt", real("FAdd", one, square))
        denominator = real("FAdd", one, real("FMul", b, square))
        near = Complex(
            real("FDiv", real("FMul", real("FMul", b, cosh), sinh), denominator),
            real("FDiv", tangent, denominator),
        )
        is_far = self.holds("FOrdGreaterThan", real("CL.fabs", a.real), self.number(_TANH_IS_ONE))
        far = Complex(real("CL.copysign", one, a.real), self.number(0.0))
        return self.choose(is_far, far, near)

    def tan(self, a: Complex) -> Complex:
        """-i tanh(i a)."""
        result = self.tanh(Complex(self.real("FNegate", a.imaginary), a.real))
        return Complex(result.imaginary, self.real("FNegate", result.real))

    def power(self, a: Complex, b: Complex) -> Complex:
        """e^(b log a), where 0 to a power is 0, and 1 to the power of 0."""
        zero = self.number(0.0)
        result = self.exp(self.multiply(b, self.log(a)))
        is_zero = self.holds("FOrdEqual", self.size(a), zero)
        of_zero = self.select(self.holds("FOrdEqual", self.size(b), zero), self.number(1.0), zero)
        return self.choose(is_zero, Complex(of_zero, zero), result)

    def expm1(self, a: Complex) -> Complex:
        """e^a - 1, which keeps its digits near 0.

        The real part is expm1(x) cos(y) - 2 sin(y / 2)^2.
        """
        real = self.real
        less = real("CL.expm1", a.real)
        half_sine = real("CL.sin", real("FMul", a.imaginary, self.number(0.5)))
        square = real("FMul", real("FMul", half_sine, half_sine), self.number(2.0))
        cosine, sine = real("CL.cos", a.imaginary), real("CL.sin", a.imaginary)
        return Complex(
            real("FSub", real("FMul", less, cosine), square),
            real("FMul", real("CL.exp", a.real), sine),
        )

    def log1p(self, a: Complex) -> Complex:
        """log(1 + a), which keeps its digits near 0.

        The real part is log1p(2 x + x^2 + y^2) / 2 there.
        """
        real = self.real
        near = real("FMul", a.real, real("FAdd", a.real, self.number(2.0)))
        near = real("FAdd", near, real("FMul", a.imaginary, a.imaginary))
        moved = Complex(real("FAdd", a.real, self.number(1.0)), a.imaginary)
        is_near = self.holds("FOrdLessThan", self.size(a), self.number(0.5))
        size = self.select(
            is_near,
            real("FMul", real("CL.log1p", near), self.number(0.5)),
            self.log_of_size(moved),
        )
        return Complex(size, self.angle(moved))

    def sign(self, a: Complex) -> Complex:
        """The number with absolute value 1 and the same angle; 0 stays 0."""
        size = self.size(a)
        is_zero = self.holds("FOrdEqual", size, self.number(0.0))
        divisor = self.select(is_zero, self.number(1.0), size)
        return Complex(self.real("FDiv", a.real, divisor), self.real("FDiv", a.imaginary, divisor))

    def atan2(self, a: Complex, b: Complex) -> Complex:
        """-i log((b + i a) / sqrt(a^2 + b^2))."""
        root = self.sqrt(self.add(self.multiply(a, a), self.multiply(b, b)))
        turned = Complex(
            self.real("FSub", b.real, a.imaginary), self.real("FAdd", b.imaginary, a.real)
        )
        result = self.log(self.divide(turned, root))
        return Complex(result.imaginary, self.real("FNegate", result.real))


_TANH_IS_ONE = 22.0
"""1 - tanh(22) is less than f64 can tell from 0."""
