"""Functions of `math` on numbers: what the tensor language has, and compositions of the rest.

The tensor language has the exponential function, the logarithm, sine and cosine. Roots and inverse
functions are found by Newton's method from what these give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import BF16, BOOL, F16, F32, F64, I64
from xtile.translate.core_to_tensorlang.arithmetic import (
    Compute,
    as_number,
    is_nan,
    negated,
    shift_right,
    width_of,
)
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values

# --- short names of what is emitted most ---


def _number(r: Lowering, number: float, like: SSAValue) -> SSAValue:
    return r.constant(number, like.type)


def _add(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return r.pure(ops.AddOp, a, b)


def _sub(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return r.pure(ops.SubOp, a, b)


def _mul(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return r.pure(ops.MulOp, a, b)


def _div(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return r.pure(ops.DivOp, a, b)


def _less(r: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return r.pure(ops.LessThanOp, a, b)


def _abs(r: Lowering, a: SSAValue) -> SSAValue:
    return r.pure(ops.AbsOp, a)


def _neg(r: Lowering, a: SSAValue) -> SSAValue:
    return r.pure(ops.NegOp, a)


# --- instructions of the language ---

_INSTRUCTIONS: Mapping[str, tuple[type[ops.MathOperation], type[ops.MathOperation]]] = {
    "math.cos": (ops.CosOp, ops.NativeCosOp),
    "math.exp": (ops.ExpOp, ops.NativeExpOp),
    "math.exp2": (ops.Exp2Op, ops.NativeExp2Op),
    "math.log": (ops.LogOp, ops.NativeLogOp),
    "math.log2": (ops.Log2Op, ops.NativeLog2Op),
    "math.sin": (ops.SinOp, ops.NativeSinOp),
    "complex.exp": (ops.ExpOp, ops.NativeExpOp),
}
"""The instruction of each function, and the one that may be less exact."""


def _instruction(r: Lowering, operation: Operation, values: Values) -> Values:
    exact, native = _INSTRUCTIONS[operation.name]
    flags = operation.properties.get("fastmath")
    is_native = isinstance(flags, FastMathFlagsAttr) and FastMathFlag.APPROX_FUNC in flags.data
    return [r.pure(native if is_native else exact, *values)]


# --- roots ---


def square_root(r: Lowering, x: SSAValue) -> SSAValue:
    """Two steps of Newton's method from 2^(log2(x) / 2); 0, infinity and NaN stay as they are."""
    half = _number(r, 0.5, x)
    zero = _number(r, 0.0, x)

    def of_positive() -> SSAValue:
        root = r.number(ops.Exp2Op(r.number(ops.MulOp(half, r.number(ops.Log2Op(x))))))
        for _ in range(2):
            quotient = r.number(ops.DivOp(x, root))
            root = r.number(ops.MulOp(half, r.number(ops.AddOp(root, quotient))))
        return root

    def of_others() -> SSAValue:
        # The root of a negative number is no number.
        return r.select(_less(r, x, zero), _number(r, math.nan, x), x)

    is_infinite = r.pure(ops.EqualOp, x, _number(r, math.inf, x))
    is_positive = r.pure(ops.GreaterThanOp, x, zero)
    is_usual = r.pure(ops.AndOp, is_positive, negated(r, is_infinite))
    return r.choose(is_usual, of_positive, of_others)


def _cube_root(r: Lowering, x: SSAValue) -> SSAValue:
    size = _abs(r, x)
    third = _number(r, 1.0 / 3.0, x)

    def usual() -> SSAValue:
        root = r.number(ops.Exp2Op(r.number(ops.MulOp(third, r.number(ops.Log2Op(size))))))
        for _ in range(2):
            quotient = _div(r, size, _mul(r, root, root))
            root = _mul(r, third, _add(r, _add(r, root, root), quotient))
        return r.select(_less(r, x, _number(r, 0.0, x)), _neg(r, root), root)

    is_finite = _less(r, size, _number(r, math.inf, x))
    is_usual = r.pure(ops.AndOp, is_finite, r.pure(ops.NotEqualOp, x, _number(r, 0.0, x)))
    return r.choose(is_usual, usual, lambda: x)


def _reciprocal_root(r: Lowering, x: SSAValue) -> SSAValue:
    return _div(r, _number(r, 1.0, x), square_root(r, x))


# --- signs ---


def is_negative(r: Lowering, x: SSAValue) -> SSAValue:
    """Whether a float has a minus sign, also a zero."""
    zero = _number(r, 0.0, x)
    # The reciprocal of -0 is less than 0, and that of no other number that is not.
    return _less(r, r.select(r.pure(ops.EqualOp, x, zero), _reciprocal(r, x), x), zero)


def _reciprocal(r: Lowering, x: SSAValue) -> SSAValue:
    return _div(r, _number(r, 1.0, x), x)


def copy_sign(r: Lowering, x: SSAValue, sign: SSAValue) -> SSAValue:
    """The size of a number with the sign of another one."""
    size = _abs(r, x)
    return r.select(is_negative(r, sign), _neg(r, size), size)


def _copysign(r: Lowering, operation: Operation, values: Values) -> Values:
    return [copy_sign(r, *values)]


# --- whole numbers ---


def truncated(r: Lowering, x: SSAValue) -> SSAValue:
    """The whole number next to a float towards 0, with its sign."""
    digits = _DIGITS[x.type]
    is_small = _less(r, _abs(r, x), _number(r, 2.0**digits, x))

    def small() -> SSAValue:
        return copy_sign(r, r.cast(r.cast(x, I64), x.type), x)

    return r.choose(is_small, small, lambda: x)


_DIGITS: Mapping[Attribute, int] = {F32: 24, F64: 53}
"""The digits of a float, from which on it is a whole number."""


def _floor(r: Lowering, x: SSAValue) -> SSAValue:
    whole = truncated(r, x)
    lower = _sub(r, whole, as_number(r, _less(r, x, whole), x.type))
    return r.select(r.pure(ops.EqualOp, x, whole), whole, lower)


def _ceil(r: Lowering, x: SSAValue) -> SSAValue:
    return _neg(r, _floor(r, _neg(r, x)))


def _round(r: Lowering, x: SSAValue) -> SSAValue:
    """Halves away from 0."""
    whole = truncated(r, x)
    rest = _abs(r, _sub(r, x, whole))
    is_half = negated(r, _less(r, rest, _number(r, 0.5, x)))
    step = copy_sign(r, as_number(r, is_half, x.type), x)
    return r.select(r.pure(ops.EqualOp, x, whole), whole, copy_sign(r, _add(r, whole, step), x))


def _round_even(r: Lowering, x: SSAValue) -> SSAValue:
    """Halves to the even one of both: what adding and subtracting a large number leaves."""
    large = _number(r, 2.0 ** (_DIGITS[x.type] - 1), x)
    size = _abs(r, x)

    def small() -> SSAValue:
        rounded = r.number(ops.SubOp(r.number(ops.AddOp(size, large)), large))
        return copy_sign(r, rounded, x)

    return r.choose(_less(r, size, large), small, lambda: x)


# --- exponential functions ---


def _expm1(r: Lowering, x: SSAValue) -> SSAValue:
    """Kahan's form: (u - 1) x / log u with u = exp x, which is exact where u is near 1."""
    one = _number(r, 1.0, x)
    u = r.pure(ops.ExpOp, x)
    less = _sub(r, u, one)

    def near() -> SSAValue:
        return _mul(r, less, _div(r, x, r.pure(ops.LogOp, u)))

    is_one = r.pure(ops.EqualOp, u, one)
    is_near = _less(r, _abs(r, x), one)
    return r.select(is_one, x, r.choose(is_near, near, lambda: less))


def _log1p(r: Lowering, x: SSAValue) -> SSAValue:
    """Kahan's form: x log u / (u - 1) with u = 1 + x."""
    one = _number(r, 1.0, x)
    u = _add(r, one, x)

    def near() -> SSAValue:
        return _mul(r, r.pure(ops.LogOp, u), _div(r, x, _sub(r, u, one)))

    is_one = r.pure(ops.EqualOp, u, one)
    is_near = _less(r, _abs(r, x), one)
    return r.select(is_one, x, r.choose(is_near, near, lambda: r.pure(ops.LogOp, u)))


def _hyperbolic_tangent(r: Lowering, x: SSAValue) -> SSAValue:
    """1 - 2 / (exp(2 |x|) + 1), and e / (e + 2) with e = exp(2 |x|) - 1 for small numbers."""
    two = _number(r, 2.0, x)
    size = _abs(r, x)
    doubled = _mul(r, two, size)

    def small() -> SSAValue:
        less = _expm1(r, doubled)
        return _div(r, less, _add(r, less, two))

    def large() -> SSAValue:
        one = _number(r, 1.0, x)
        return _sub(r, one, _div(r, two, _add(r, r.pure(ops.ExpOp, doubled), one)))

    of_size = r.choose(_less(r, size, _number(r, 0.5, x)), small, large)
    return r.select(is_nan(r, x), x, copy_sign(r, of_size, x))


def _hyperbolic_sine(r: Lowering, x: SSAValue) -> SSAValue:
    size, half = _abs(r, x), _number(r, 0.5, x)

    def small() -> SSAValue:
        less = _expm1(r, size)
        sum_ = _add(r, less, _div(r, less, _add(r, less, _number(r, 1.0, x))))
        return _mul(r, half, sum_)

    def large() -> SSAValue:
        root = r.pure(ops.ExpOp, _mul(r, half, size))
        return _mul(r, _mul(r, half, root), root)

    is_large = r.pure(ops.GreaterThanOp, size, _number(r, 20.0, x))
    return copy_sign(r, r.choose(is_large, large, small), x)


def _hyperbolic_cosine(r: Lowering, x: SSAValue) -> SSAValue:
    half = _number(r, 0.5, x)
    root = r.pure(ops.ExpOp, _mul(r, half, _abs(r, x)))
    # The square of the root may overflow where half of it does not.
    large = _mul(r, _mul(r, half, root), root)
    return _add(r, large, _div(r, _div(r, half, root), root))


def _log10(r: Lowering, x: SSAValue) -> SSAValue:
    return _mul(r, r.pure(ops.LogOp, x), _number(r, 1.0 / math.log(10.0), x))


def _tangent(r: Lowering, x: SSAValue) -> SSAValue:
    return _div(r, r.pure(ops.SinOp, x), r.pure(ops.CosOp, x))


# --- inverse functions ---


def _arc_tangent(r: Lowering, x: SSAValue) -> SSAValue:
    """A Taylor series of what is left after halving the angle three times."""
    size, one = _abs(r, x), _number(r, 1.0, x)
    is_large = r.pure(ops.GreaterThanOp, size, one)
    inner = r.select(is_large, _div(r, one, size), size)
    for _ in range(3):
        root = square_root(r, _add(r, one, _mul(r, inner, inner)))
        inner = _div(r, inner, _add(r, one, root))
    square = _mul(r, inner, inner)
    terms = 12 if x.type == F32 else 20
    series = _number(r, (-1.0) ** terms / (2 * terms + 1), x)
    for term in reversed(range(terms)):
        coefficient = _number(r, (-1.0) ** term / (2 * term + 1), x)
        series = _add(r, coefficient, _mul(r, square, series))
    angle = _mul(r, _number(r, 8.0, x), _mul(r, inner, series))
    turned = r.select(is_large, _sub(r, _number(r, math.pi / 2, x), angle), angle)
    return copy_sign(r, turned, x)


def _arc_tangent_2(r: Lowering, y: SSAValue, x: SSAValue) -> SSAValue:
    """The angle of a point, by the quadrant that it is in."""
    zero, pi = _number(r, 0.0, x), _number(r, math.pi, x)
    both_infinite = r.pure(ops.AndOp, _is_infinite(r, x), _is_infinite(r, y))
    both_zero = r.pure(ops.AndOp, r.pure(ops.EqualOp, x, zero), r.pure(ops.EqualOp, y, zero))
    quotient = _div(r, _abs(r, y), _abs(r, x))
    quotient = r.select(both_infinite, _number(r, 1.0, x), r.select(both_zero, zero, quotient))
    angle = _arc_tangent(r, quotient)
    turned = r.select(is_negative(r, x), _sub(r, pi, angle), angle)
    return copy_sign(r, turned, y)


def _is_infinite(r: Lowering, x: SSAValue) -> SSAValue:
    return r.pure(ops.EqualOp, _abs(r, x), _number(r, math.inf, x))


def _arc_sine(r: Lowering, x: SSAValue) -> SSAValue:
    one = _number(r, 1.0, x)
    root = square_root(r, _mul(r, _sub(r, one, x), _add(r, one, x)))
    return _arc_tangent_2(r, x, root)


def _arc_cosine(r: Lowering, x: SSAValue) -> SSAValue:
    one = _number(r, 1.0, x)
    root = square_root(r, _mul(r, _sub(r, one, x), _add(r, one, x)))
    return _arc_tangent_2(r, root, x)


def _area_sine(r: Lowering, x: SSAValue) -> SSAValue:
    """The inverse of sinh: log1p(a + a^2 / (1 + sqrt(a^2 + 1))) of the size a."""
    one, size = _number(r, 1.0, x), _abs(r, x)
    is_large = r.pure(ops.GreaterThanOp, size, _number(r, 2.0**28, x))

    def usual() -> SSAValue:
        square = _mul(r, size, size)
        root = square_root(r, _add(r, square, one))
        return _log1p(r, _add(r, size, _div(r, square, _add(r, one, root))))

    def large() -> SSAValue:
        return _add(r, r.pure(ops.LogOp, size), _number(r, math.log(2.0), x))

    return copy_sign(r, r.choose(is_large, large, usual), x)


def _area_cosine(r: Lowering, x: SSAValue) -> SSAValue:
    one = _number(r, 1.0, x)
    less = _sub(r, x, one)
    root = square_root(r, _mul(r, less, _add(r, x, one)))
    is_large = r.pure(ops.GreaterThanOp, x, _number(r, 2.0**28, x))

    def large() -> SSAValue:
        return _add(r, r.pure(ops.LogOp, x), _number(r, math.log(2.0), x))

    usual = r.choose(is_large, large, lambda: _log1p(r, _add(r, less, root)))
    return r.select(_less(r, x, one), _number(r, math.nan, x), usual)


def _area_tangent(r: Lowering, x: SSAValue) -> SSAValue:
    size, one = _abs(r, x), _number(r, 1.0, x)
    ratio = _div(r, _add(r, size, size), _sub(r, one, size))
    return copy_sign(r, _mul(r, _number(r, 0.5, x), _log1p(r, ratio)), x)


# --- the error function ---


def _error_series(r: Lowering, size: SSAValue) -> SSAValue:
    """The error function by exp(-x^2) sum of 2^n x^(2n + 1) / (1 3 5 .. (2n + 1))."""
    square, one = _mul(r, size, size), _number(r, 1.0, size)
    series = one
    for term in reversed(range(1, 26 if size.type == F32 else 70)):
        factor = _mul(r, square, _number(r, 2.0 / (2 * term + 1), size))
        series = _add(r, one, _mul(r, factor, series))
    scaled = _mul(r, r.pure(ops.ExpOp, _neg(r, square)), series)
    return _mul(r, _number(r, 2.0 / math.sqrt(math.pi), size), _mul(r, size, scaled))


def _error_fraction(r: Lowering, size: SSAValue) -> SSAValue:
    """What the error function of a large number is less than 1, by a continued fraction."""
    fraction = size
    for term in reversed(range(1, 24 if size.type == F32 else 60)):
        fraction = _add(r, size, _div(r, _number(r, term / 2.0, size), fraction))
    rest = _div(r, r.pure(ops.ExpOp, _neg(r, _mul(r, size, size))), fraction)
    return _mul(r, _number(r, 1.0 / math.sqrt(math.pi), size), rest)


def _is_small(r: Lowering, size: SSAValue) -> SSAValue:
    return _less(r, size, _number(r, 2.0 if size.type == F32 else 3.0, size))


def _error_function(r: Lowering, x: SSAValue) -> SSAValue:
    """A series for small numbers, and for others a continued fraction of what is left to 1."""
    size, one = _abs(r, x), _number(r, 1.0, x)
    is_one = r.pure(ops.GreaterThanOp, size, _number(r, 9.0, x))

    def large() -> SSAValue:
        rest = r.choose(is_one, lambda: _number(r, 0.0, x), lambda: _error_fraction(r, size))
        return _sub(r, one, rest)

    of_size = r.choose(_is_small(r, size), lambda: _error_series(r, size), large)
    return r.select(is_nan(r, x), x, copy_sign(r, of_size, x))


# --- powers ---


def _power(r: Lowering, x: SSAValue, y: SSAValue) -> SSAValue:
    """2^(y log2 |x|), with the sign of x where y is odd."""
    zero, one = _number(r, 0.0, x), _number(r, 1.0, x)
    size = _abs(r, x)
    usual = r.pure(ops.Exp2Op, _mul(r, y, r.pure(ops.Log2Op, size)))
    whole = truncated(r, y)
    half = _mul(r, y, _number(r, 0.5, y))
    is_whole = r.pure(ops.EqualOp, whole, y)
    is_odd = r.pure(ops.AndOp, is_whole, r.pure(ops.NotEqualOp, truncated(r, half), half))
    signed = r.select(r.pure(ops.AndOp, is_odd, is_negative(r, x)), _neg(r, usual), usual)
    undefined = r.pure(ops.AndOp, _less(r, x, zero), negated(r, is_whole))
    undefined = r.pure(ops.AndOp, undefined, _less(r, size, _number(r, math.inf, x)))
    result = r.select(undefined, _number(r, math.nan, x), signed)
    # 1 to any power and anything to the power of 0 are 1; so is -1 to an infinite one.
    is_one = r.pure(ops.OrOp, r.pure(ops.EqualOp, x, one), r.pure(ops.EqualOp, y, zero))
    of_minus = r.pure(ops.AndOp, r.pure(ops.EqualOp, size, one), _is_infinite(r, y))
    return r.select(r.pure(ops.OrOp, is_one, of_minus), one, result)


def _fpowi(r: Lowering, operation: Operation, values: Values) -> Values:
    x, y = values
    return _of_wide(_power)(r, operation, [x, r.cast(y, x.type)])


def _ipowi(r: Lowering, operation: Operation, values: Values) -> Values:
    """Squares for the bits of the exponent; to a negative power only 1 and -1 are not 0."""
    x, y = values
    one, zero = r.constant(1, x.type), r.constant(0, x.type)
    result, square, rest = one, x, y
    for _ in range(width_of(x.type) - 1):
        is_set = r.pure(ops.EqualOp, r.pure(ops.AndOp, rest, one), one)
        result = r.select(is_set, r.pure(ops.MulOp, result, square), result)
        square, rest = r.pure(ops.MulOp, square, square), r.pure(ops.ShrOp, rest, one)
    minus = r.constant(-1, x.type)
    is_odd = r.pure(ops.EqualOp, r.pure(ops.AndOp, y, one), one)
    of_minus = r.select(r.pure(ops.EqualOp, x, minus), r.select(is_odd, minus, one), zero)
    inverse = r.select(r.pure(ops.EqualOp, x, one), one, of_minus)
    return [r.select(_less(r, y, zero), inverse, result)]


# --- bits ---


def _count_ones(r: Lowering, operation: Operation, values: Values) -> Values:
    return [_ones(r, values[0])]


def _ones(r: Lowering, x: SSAValue) -> SSAValue:
    total, one = r.constant(0, x.type), r.constant(1, x.type)
    for bit in range(width_of(x.type)):
        shifted = r.pure(ops.ShrOp, x, r.constant(bit, x.type))
        total = r.pure(ops.AddOp, total, r.pure(ops.AndOp, shifted, one))
    return total


def _leading_zeros(r: Lowering, operation: Operation, values: Values) -> Values:
    """The zeros above the highest bit: with all bits below it set, as many as are not."""
    (x,), distance = values, 1
    width = width_of(x.type)
    while distance < width:
        x = r.pure(ops.OrOp, x, shift_right(r, x, r.constant(distance, x.type)))
        distance *= 2
    return [r.pure(ops.SubOp, r.constant(width, x.type), _ones(r, x))]


def _trailing_zeros(r: Lowering, operation: Operation, values: Values) -> Values:
    """The bits below the lowest one."""
    (x,) = values
    below = r.pure(ops.SubOp, r.pure(ops.AndOp, x, r.pure(ops.NegOp, x)), r.constant(1, x.type))
    return [_ones(r, below)]


# --- tables ---


def _of_wide(function: Callable[..., SSAValue]) -> Compute:
    """A function that is computed in f32 at least, and rounded once."""

    def compute(r: Lowering, operation: Operation, values: Values) -> Values:
        type_ = values[0].type
        wide = F32 if type_ in (BF16, F16) else type_
        return [r.cast(function(r, *(r.cast(value, wide) for value in values)), type_)]

    return compute


def _fma(r: Lowering, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    """The product of two f32 is a number of f64; of wider types it is rounded."""
    if a.type != F32:
        return _add(r, _mul(r, a, b), c)
    x, y, z = (r.cast(each, F64) for each in (a, b, c))
    return r.cast(_add(r, _mul(r, x, y), z), F32)


def _absolute(r: Lowering, operation: Operation, values: Values) -> Values:
    """The number 1 of one bit is -1, which has no opposite."""
    return [values[0] if values[0].type == BOOL else _abs(r, values[0])]


def _is_finite(r: Lowering, operation: Operation, values: Values) -> Values:
    (x,) = values
    return [_less(r, _abs(r, x), _number(r, math.inf, x))]


_LEAST_EXPONENTS: Mapping[Attribute, int] = {BF16: -126, F16: -14, F32: -126, F64: -1022}
"""That of the least number that has all digits."""


def _is_normal(r: Lowering, operation: Operation, values: Values) -> Values:
    size = _abs(r, values[0])
    least = _LEAST_EXPONENTS[size.type]
    is_large = r.pure(ops.GreaterThanEqualOp, size, _number(r, 2.0**least, size))
    return [r.pure(ops.AndOp, is_large, _less(r, size, _number(r, math.inf, size)))]


def _is_infinity(r: Lowering, operation: Operation, values: Values) -> Values:
    return [_is_infinite(r, values[0])]


def _is_no_number(r: Lowering, operation: Operation, values: Values) -> Values:
    return [is_nan(r, values[0])]


def _clamp(r: Lowering, operation: Operation, values: Values) -> Values:
    """A NaN stays one."""
    x, low, high = values
    inside = r.pure(ops.MinOp, r.pure(ops.MaxOp, x, low), high)
    return [r.select(is_nan(r, x), x, inside)]


def _sine_and_cosine(r: Lowering, operation: Operation, values: Values) -> Values:
    return [r.pure(ops.SinOp, *values), r.pure(ops.CosOp, *values)]


_FUNCTIONS: Mapping[str, Callable[..., SSAValue]] = {
    "math.acos": _arc_cosine,
    "math.acosh": _area_cosine,
    "math.asin": _arc_sine,
    "math.asinh": _area_sine,
    "math.atan": _arc_tangent,
    "math.atan2": _arc_tangent_2,
    "math.atanh": _area_tangent,
    "math.cbrt": _cube_root,
    "math.ceil": _ceil,
    "math.cosh": _hyperbolic_cosine,
    "math.erf": _error_function,
    "math.expm1": _expm1,
    "math.floor": _floor,
    "math.fma": _fma,
    "math.log10": _log10,
    "math.log1p": _log1p,
    "math.powf": _power,
    "math.round": _round,
    "math.roundeven": _round_even,
    "math.rsqrt": _reciprocal_root,
    "math.sinh": _hyperbolic_sine,
    "math.sqrt": square_root,
    "math.tan": _tangent,
    "math.tanh": _hyperbolic_tangent,
    "math.trunc": truncated,
}
"""Functions that are composed."""

COMPUTE: Mapping[str, Compute] = {
    **dict.fromkeys(_INSTRUCTIONS, _instruction),
    **{name: _of_wide(function) for name, function in _FUNCTIONS.items()},
    "math.absf": _absolute,
    "math.absi": _absolute,
    "math.clampf": _clamp,
    "math.copysign": _copysign,
    "math.ctlz": _leading_zeros,
    "math.ctpop": _count_ones,
    "math.cttz": _trailing_zeros,
    "math.fpowi": _fpowi,
    "math.ipowi": _ipowi,
    "math.isfinite": _is_finite,
    "math.isinf": _is_infinity,
    "math.isnan": _is_no_number,
    "math.isnormal": _is_normal,
    "math.sincos": _sine_and_cosine,
    "vector.fma": _of_wide(_fma),
}
"""What each operation gives, for one element of its operands."""
