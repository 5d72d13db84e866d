"""Arithmetic on each number type, against exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

from xtile.dialects.tensorlang import types
from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.semantics.arithmetic import (
    binary_function,
    comparison_function,
    identity_of,
    math_function,
    unary_function,
)
from xtile.semantics.numeric_types import NUMPY_TYPES, cast_function, number_of

INTEGERS = ["i8", "i16", "i32", "i64", "index"]
FLOATS = ["bf16", "f16", "f32", "f64"]
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}
# Significand bits with the hidden one, and the exponent of the smallest subnormal number.
FORMATS = {"bf16": (8, -133), "f16": (11, -24), "f32": (24, -149), "f64": (53, -1074)}
MAXIMA = {
    name: float(ml_dtypes.finfo(NUMPY_TYPES[types.SCALAR_TYPES[name]]).max) for name in FLOATS
}


def wrapped(value: int, name: str) -> int:
    """`value` in two's complement."""
    bits = BITS[name]
    return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)


def rounded(value: Fraction, name: str) -> float:
    """`value` rounded to nearest, ties to even, by exact arithmetic."""
    if value == 0:
        return 0.0
    digits, least = FORMATS[name]
    exponent = math.floor(math.log2(abs(value))) + 1
    while abs(value) >= Fraction(2) ** exponent:
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent - 1):
        exponent -= 1
    unit = Fraction(2) ** max(exponent - digits, least)
    result = round(value / unit) * unit  # round() of a Fraction rounds ties to even
    if abs(result) > Fraction(MAXIMA[name]):
        return math.copysign(math.inf, result)
    return float(result)


def random_integers(rng: np.random.Generator, name: str, count: int) -> np.ndarray:
    info = np.iinfo(NUMPY_TYPES[types.SCALAR_TYPES[name]])
    values = rng.integers(info.min, info.max, count, endpoint=True, dtype=np.int64)
    values[:6] = [0, 1, -1, info.min, info.max, info.min + 1]
    return values.astype(info.dtype)


def random_floats(rng: np.random.Generator, name: str, count: int) -> np.ndarray:
    values = rng.standard_normal(count) * 2.0 ** rng.integers(-6, 7, count)
    return values.astype(np.float32).astype(NUMPY_TYPES[types.SCALAR_TYPES[name]])


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize(
    ("operation", "exact"),
    [
        (ops.AddOp, lambda a, b: a + b),
        (ops.SubOp, lambda a, b: a - b),
        (ops.MulOp, lambda a, b: a * b),
        (ops.MaxOp, max),
        (ops.MinOp, min),
        (ops.AndOp, lambda a, b: a & b),
        (ops.OrOp, lambda a, b: a | b),
        (ops.XorOp, lambda a, b: a ^ b),
        (ops.DivOp, lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)),
        (ops.RemOp, lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1)),
    ],
)
def test_integers_wrap_around(operation, exact, name, rng) -> None:
    type_ = types.SCALAR_TYPES[name]
    a, b = random_integers(rng, name, 200), random_integers(rng, name, 200)
    b = rng.permutation(b)
    if operation in (ops.DivOp, ops.RemOp):
        b = np.where(b == 0, b.dtype.type(7), b)
    with np.errstate(all="ignore"):
        result = binary_function(operation, type_)(a, b)
        one = binary_function(operation, type_)(a[3], b[0])
    expected = [wrapped(exact(int(x), int(y)), name) for x, y in zip(a, b, strict=True)]
    assert result.dtype == a.dtype
    assert result.tolist() == expected
    assert one.dtype == a.dtype
    assert int(one) == expected[3] if b[0] == b[3] else True


@pytest.mark.parametrize("name", INTEGERS)
def test_shifts_take_the_amount_modulo_the_width(name, rng) -> None:
    bits, type_ = BITS[name], types.SCALAR_TYPES[name]
    a = random_integers(rng, name, 100)
    b = rng.integers(-3, 100, 100).astype(a.dtype)
    left, right = binary_function(ops.ShlOp, type_)(a, b), binary_function(ops.ShrOp, type_)(a, b)
    pairs = [(int(x), int(y) % bits) for x, y in zip(a, b, strict=True)]
    assert left.tolist() == [wrapped(x << y, name) for x, y in pairs]
    assert right.tolist() == [x >> y for x, y in pairs]


@pytest.mark.parametrize("name", INTEGERS)
def test_smallest_integer(name) -> None:
    type_ = types.SCALAR_TYPES[name]
    dtype = NUMPY_TYPES[type_]
    least = dtype.type(np.iinfo(dtype).min)
    with np.errstate(all="ignore"):
        assert binary_function(ops.DivOp, type_)(least, dtype.type(-1)) == least
        assert binary_function(ops.RemOp, type_)(least, dtype.type(-1)) == 0
        assert unary_function(ops.AbsOp)(least) == least
        assert unary_function(ops.NegOp)(least) == least


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(
    ("operation", "exact"),
    [
        (ops.AddOp, lambda a, b: a + b),
        (ops.SubOp, lambda a, b: a - b),
        (ops.MulOp, lambda a, b: a * b),
        (ops.DivOp, lambda a, b: a / b),
        (ops.RemOp, lambda a, b: a - math.trunc(a / b) * b),
    ],
)
def test_floats_are_rounded_once(operation, exact, name, rng) -> None:
    a, b = random_floats(rng, name, 200), random_floats(rng, name, 200)
    b = np.where(b == 0, b.dtype.type(1), b)
    with np.errstate(all="ignore"):
        result = binary_function(operation, types.SCALAR_TYPES[name])(a, b)
        one = binary_function(operation, types.SCALAR_TYPES[name])(a[0], b[0])
    pairs = [(Fraction(float(x)), Fraction(float(y))) for x, y in zip(a, b, strict=True)]
    assert result.dtype == a.dtype
    assert [float(x) for x in result] == [rounded(exact(x, y), name) for x, y in pairs]
    assert one.dtype == a.dtype
    assert one == result[0]


@pytest.mark.parametrize("name", FLOATS)
def test_maximum_ignores_nan(name) -> None:
    dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
    a = np.array([1, np.nan, np.nan, -np.inf], dtype)
    b = np.array([np.nan, 2, np.nan, np.inf], dtype)
    with np.errstate(all="ignore"):
        largest = binary_function(ops.MaxOp, types.SCALAR_TYPES[name])(a, b).astype(float)
        least = binary_function(ops.MinOp, types.SCALAR_TYPES[name])(a, b).astype(float)
    np.testing.assert_array_equal(largest, [1, 2, np.nan, np.inf])
    np.testing.assert_array_equal(least, [1, 2, np.nan, -np.inf])


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_comparisons(name, rng) -> None:
    make = random_integers if name in INTEGERS else random_floats
    a = make(rng, name, 50)
    b = np.where(rng.random(50) < 0.3, a, make(rng, name, 50))
    table = {
        ops.EqualOp: lambda x, y: x == y,
        ops.NotEqualOp: lambda x, y: x != y,
        ops.GreaterThanOp: lambda x, y: x > y,
        ops.GreaterThanEqualOp: lambda x, y: x >= y,
        ops.LessThanOp: lambda x, y: x < y,
        ops.LessThanEqualOp: lambda x, y: x <= y,
    }
    convert = int if name in INTEGERS else float
    for operation, exact in table.items():
        function = comparison_function(operation, types.SCALAR_TYPES[name])
        pairs = [(convert(x), convert(y)) for x, y in zip(a, b, strict=True)]
        assert function(a, b).tolist() == [exact(x, y) for x, y in pairs]
        assert type(function(a[0], b[0])) is np.bool_


def test_nan_compares_unequal() -> None:
    nan = np.float32(np.nan)
    assert not comparison_function(ops.EqualOp, types.F32)(nan, nan)
    assert comparison_function(ops.NotEqualOp, types.F32)(nan, nan)
    assert not comparison_function(ops.LessThanEqualOp, types.F32)(nan, nan)


MATH = {
    ops.CosOp: math.cos,
    ops.SinOp: math.sin,
    ops.ExpOp: math.exp,
    ops.Exp2Op: math.exp2,
    ops.LogOp: math.log,
    ops.Log2Op: math.log2,
    ops.NativeCosOp: math.cos,
    ops.NativeSinOp: math.sin,
    ops.NativeExpOp: math.exp,
    ops.NativeExp2Op: math.exp2,
    ops.NativeLogOp: math.log,
    ops.NativeLog2Op: math.log2,
}


@pytest.mark.parametrize("operation", MATH, ids=lambda op: op.name)
@pytest.mark.parametrize("name", FLOATS)
def test_math(operation, name, rng) -> None:
    dtype = NUMPY_TYPES[types.SCALAR_TYPES[name]]
    a = rng.uniform(0.1, 6, 100).astype(dtype)
    result = math_function(operation, types.SCALAR_TYPES[name])(a)
    expected = np.array([MATH[operation](float(x)) for x in a])
    # numpy's functions err by less than 4 units in the last place of the result's type; around
    # a zero of the function the error is relative to 1 instead.
    epsilon = float(ml_dtypes.finfo(dtype).eps)
    assert result.dtype == dtype
    assert np.all(np.abs(result.astype(float) - expected) <= 4 * epsilon * (1 + np.abs(expected)))


@pytest.mark.parametrize("name", ["c32", "c64"])
def test_complex_numbers(name, rng) -> None:
    type_ = types.SCALAR_TYPES[name]
    dtype = NUMPY_TYPES[type_]
    a, b = (rng.standard_normal(50) + 1j * rng.standard_normal(50) for _ in range(2))
    a, b = a.astype(dtype), b.astype(dtype)
    wide_a, wide_b = a.astype(complex), b.astype(complex)
    # A few roundings of parts whose sums can cancel: relative to the operands' magnitudes.
    tolerance = (
        8 * np.finfo(dtype).eps * (1 + abs(wide_a)) * (1 + abs(wide_b)) * (1 + 1 / abs(wide_b))
    )
    checks = {
        ops.AddOp: wide_a + wide_b,
        ops.SubOp: wide_a - wide_b,
        ops.MulOp: wide_a * wide_b,
        ops.DivOp: wide_a / wide_b,
    }
    for operation, expected in checks.items():
        result = binary_function(operation, type_)(a, b)
        assert result.dtype == dtype
        assert np.all(np.abs(result - expected) <= tolerance)
    part = NUMPY_TYPES[types.real_part_type(type_)]
    assert unary_function(ops.AbsOp)(a).dtype == part
    assert np.all(np.abs(unary_function(ops.AbsOp)(a) - np.abs(wide_a)) <= tolerance)
    np.testing.assert_array_equal(unary_function(ops.ReOp)(a), a.real)
    np.testing.assert_array_equal(unary_function(ops.ImOp)(a), a.imag)
    np.testing.assert_array_equal(unary_function(ops.ConjOp)(a), a.real - 1j * a.imag)
    np.testing.assert_array_equal(unary_function(ops.NegOp)(a), -a)
    for operation, expected in ((ops.ExpOp, np.exp(wide_a)), (ops.Exp2Op, 2**wide_a)):
        result = math_function(operation, type_)(a)
        assert result.dtype == dtype
        assert np.all(np.abs(result - expected) <= 8 * np.finfo(dtype).eps * np.abs(expected))


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_integer_casts_wrap_around(source, target, rng) -> None:
    a = random_integers(rng, source, 100)
    result = cast_function(types.SCALAR_TYPES[source], types.SCALAR_TYPES[target])(a)
    assert result.dtype == NUMPY_TYPES[types.SCALAR_TYPES[target]]
    assert result.tolist() == [wrapped(int(x), target) for x in a]


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", FLOATS)
def test_integers_become_the_nearest_float(source, target, rng) -> None:
    a = random_integers(rng, source, 300)
    # Numbers beside the middle of two bf16 show whether something is rounded twice.
    if BITS[source] >= 32:
        a[10:13] = np.array([1, 0, -1]) + 2**30 + 2**22
        a[13:16] = -a[10:13]
    if BITS[source] == 64:
        a[16:19] = np.array([1, 0, -1]) + 2**62 + 2**54
    with np.errstate(over="ignore"):
        result = cast_function(types.SCALAR_TYPES[source], types.SCALAR_TYPES[target])(a)
    assert [float(x) for x in result] == [rounded(Fraction(int(x)), target) for x in a]


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_float_casts_round_once(source, target, rng) -> None:
    a = random_floats(rng, source, 300)
    if source == "f64":
        a[:4] = [1 + 2**-8 + 2**-50, 1 + 2**-8, 1 + 3 * 2**-8 - 2**-50, 2.0**-14 * (1 + 2**-12)]
        a[4:7] = [1e300, -1e300, 3.3895e38]
    with np.errstate(over="ignore"):
        result = cast_function(types.SCALAR_TYPES[source], types.SCALAR_TYPES[target])(a)
    assert [float(x) for x in result] == [rounded(Fraction(float(x)), target) for x in a]


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_special_floats_survive_casts(source, target) -> None:
    a = np.array([np.inf, -np.inf, np.nan, -0.0], NUMPY_TYPES[types.SCALAR_TYPES[source]])
    result = cast_function(types.SCALAR_TYPES[source], types.SCALAR_TYPES[target])(a)
    np.testing.assert_array_equal(result.astype(float), [np.inf, -np.inf, np.nan, 0])
    assert math.copysign(1, result[3]) == -1


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_are_cut_off_and_saturate(source, target) -> None:
    info = np.iinfo(NUMPY_TYPES[types.SCALAR_TYPES[target]])
    a = np.array([1.75, -1.75, np.nan, np.inf, -np.inf, 60000, -60000, 0.5]).astype(
        NUMPY_TYPES[types.SCALAR_TYPES[source]]
    )
    result = cast_function(types.SCALAR_TYPES[source], types.SCALAR_TYPES[target])(a)
    large = int(float(a[5]))
    expected = [1, -1, 0, info.max, info.min, min(large, info.max), max(-large, info.min), 0]
    assert result.dtype == info.dtype
    assert result.tolist() == expected
    assert cast_function(types.SCALAR_TYPES[source], types.SCALAR_TYPES[target])(a[3]) == info.max


def test_real_numbers_become_complex() -> None:
    for source in (types.I8, types.I64, types.BF16, types.F16, types.F32, types.F64):
        for target in (types.C32, types.C64):
            result = cast_function(source, target)(NUMPY_TYPES[source].type(3))
            assert result == 3 + 0j
            assert result.dtype == NUMPY_TYPES[target]
    with pytest.raises(ValueError, match="no cast from c32 to f32"):
        cast_function(types.C32, types.F32)


def test_constants_are_rounded_once() -> None:
    assert float(number_of(1 + 2**-8 + 2**-50, types.BF16)) == 1 + 2**-7
    assert float(number_of(0.1, types.F16)) == rounded(Fraction(0.1), "f16")
    assert number_of(2**64 - 1, types.INDEX) == -1
    assert number_of(300, types.I8) == 44
    assert number_of(1 - 2j, types.C32) == np.complex64(1 - 2j)
    assert number_of(True, types.BOOL) is np.True_


def test_identities() -> None:
    assert identity_of(ops.AddOp, types.F16) == 0
    assert identity_of(ops.MaxOp, types.I8) == -128
    assert identity_of(ops.MinOp, types.I64) == 2**63 - 1
    assert identity_of(ops.MaxOp, types.BF16) == -np.inf
    assert identity_of(ops.MinOp, types.F32) == np.inf
