"""Floating arithmetic of CUDA Tile IR against exact rational numbers, in all rounding modes."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.semantics.cuda_tile.tiles import (
    BASE_FLOATS,
    NUMBERS,
    evaluate,
    fractions,
    mixed_floats,
    random_bits,
    rounded,
    same,
)
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.ops import floating_point as ops
from xtile.dialects.cuda_tile.ops import mathematics
from xtile.semantics.cuda_tile.rounding import flushing

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

MODES = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.ZERO,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
)
COUNT = 512

EXACT: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "AddFOp": lambda a, b: a + b,
    "SubFOp": lambda a, b: a - b,
    "MulFOp": lambda a, b: a * b,
    "DivFOp": lambda a, b: a / b,
}


def _sign(value: Any) -> float:
    return math.copysign(1.0, float(value))


def _zero(name: str, a: Any, b: Any, mode: RoundingMode) -> float:
    """The sign of a result that is 0 (IEEE 754, 6.3)."""
    if name in ("MulFOp", "DivFOp"):
        return math.copysign(0.0, _sign(a) * _sign(b))
    other = _sign(b) if name == "AddFOp" else -_sign(b)
    return _zero_sum(_sign(a), other, mode)


def _zero_sum(a: float, b: float, mode: RoundingMode) -> float:
    if a == b:
        return math.copysign(0.0, a)
    return -0.0 if mode is RoundingMode.NEGATIVE_INF else 0.0


def _operands(type: str) -> tuple[Any, Any]:
    """Finite numbers, some of which cancel, and some of which are 0; the second never is."""
    a, b = mixed_floats(type, COUNT), mixed_floats(type, COUNT)
    number = NUMBERS[type]
    b = np.where(b == 0, number.number(1), b).astype(a.dtype)
    b[:20], b[20:40] = a[:20], -a[20:40]
    a[40:44] = [0.0, -0.0, 0.0, -0.0]
    b = np.where(b == 0, number.number(-1), b).astype(a.dtype)
    return a, b


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type", BASE_FLOATS)
@pytest.mark.parametrize("name", EXACT)
def test_results_are_rounded_once(name: str, type: str, mode: RoundingMode) -> None:
    a, b = _operands(type)
    result = evaluate(
        lambda x, y: getattr(ops, name)(x, y, rounding_mode=mode), (a, type), (b, type)
    )
    pairs = zip(fractions(a), fractions(b), strict=True)
    expected = [
        rounded(EXACT[name](x, y), type, mode, _zero(name, a[i], b[i], mode))
        for i, (x, y) in enumerate(pairs)
    ]
    assert same(result, np.array(expected))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type", BASE_FLOATS)
def test_a_fused_product_is_rounded_once(type: str, mode: RoundingMode) -> None:
    a, b = _operands(type)
    c = mixed_floats(type, COUNT)
    # Products that cancel but for what rounding them lost.
    product = a[:100].astype(np.float64) * b[:100].astype(np.float64)
    near = np.asarray(NUMBERS[type].rounded(product))
    c[:100] = np.where(np.isfinite(near.astype(np.float64)), -near, c[:100])
    result = evaluate(
        lambda x, y, z: ops.FmaOp(x, y, z, rounding_mode=mode), (a, type), (b, type), (c, type)
    )
    triples = zip(fractions(a), fractions(b), fractions(c), strict=True)
    expected = [
        rounded(x * y + z, type, mode, _zero_sum(_sign(a[i]) * _sign(b[i]), _sign(c[i]), mode))
        for i, (x, y, z) in enumerate(triples)
    ]
    assert same(result, np.array(expected))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type", BASE_FLOATS)
def test_a_root_is_rounded_once(type: str, mode: RoundingMode) -> None:
    a = np.abs(mixed_floats(type, COUNT))
    squares = (np.arange(1, 33).astype(np.float64) ** 2).astype(a.dtype)
    a[: len(squares)] = squares
    a[len(squares)] = 0
    result = evaluate(lambda x: mathematics.SqrtOp(x, rounding_mode=mode), (a, type))
    dtype = a.dtype.type
    below = np.nextafter(result, dtype(-np.inf))
    above = np.nextafter(result, dtype(np.inf))
    for x, root, low, high in zip(*map(fractions, (a, result, below, above)), strict=True):
        match mode:
            case RoundingMode.NEAREST_EVEN:
                assert (max(low + root, 0) / 2) ** 2 <= x <= ((root + high) / 2) ** 2
            case RoundingMode.POSITIVE_INF:
                assert x == root == 0 or max(low, 0) ** 2 < x <= root**2
            case _:
                assert root**2 <= x < high**2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type", BASE_FLOATS)
def test_special_values(type: str, mode: RoundingMode) -> None:
    special = np.array([0.0, -0.0, 1.0, -2.0, np.inf, -np.inf, np.nan]).astype(NUMBERS[type].dtype)
    a, b = (each.reshape(-1)[:32] for each in np.meshgrid(special, special))
    with np.errstate(all="ignore"):
        wide = a.astype(np.float64), b.astype(np.float64)
        quotient, product = wide[0] / wide[1], wide[0] * wide[1]

    def compute(make: Any) -> Any:
        return evaluate(lambda x, y: make(x, y, rounding_mode=mode), (a, type), (b, type))

    # No rounding is involved, so every mode gives what IEEE 754 says.
    assert same(compute(ops.DivFOp), quotient)
    assert same(compute(ops.MulFOp), product)
    total = evaluate(lambda x, y: ops.AddFOp(x, y, rounding_mode=mode), (a, type), (b, type))
    assert np.array_equal(np.isnan(total), np.isnan(wide[0] + wide[1]))
    root = evaluate(
        lambda x: mathematics.SqrtOp(x, rounding_mode=mode),
        (np.array([-1.0, -0.0, np.inf, np.nan]).astype(a.dtype), type),
    )
    assert same(root, [np.nan, -0.0, np.inf, np.nan])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("type", BASE_FLOATS)
def test_what_overflows_is_infinite_or_the_largest_number(type: str, mode: RoundingMode) -> None:
    large = np.nextafter(NUMBERS[type].number(np.inf), NUMBERS[type].number(0))
    a = np.array([large, -large, large, -large], NUMBERS[type].dtype)
    total = evaluate(lambda x, y: ops.AddFOp(x, y, rounding_mode=mode), (a, type), (a, type))
    product = evaluate(lambda x, y: ops.MulFOp(x, y, rounding_mode=mode), (a, type), (a, type))
    up = large if mode in (RoundingMode.ZERO, RoundingMode.NEGATIVE_INF) else np.inf
    down = -large if mode in (RoundingMode.ZERO, RoundingMode.POSITIVE_INF) else -np.inf
    assert same(total, [up, down, up, down])
    assert same(product, [up] * 4)


FLUSHED: dict[str, Any] = {
    "addf": ops.AddFOp,
    "subf": ops.SubFOp,
    "mulf": ops.MulFOp,
    "divf": ops.DivFOp,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", FLUSHED)
def test_subnormal_numbers_are_flushed(name: str, mode: RoundingMode) -> None:
    """Operands first, and the result after it was rounded: that may make it a normal number."""
    a, b = (random_bits("f32", COUNT).astype(np.float32) for _ in range(2))
    a[:256] = np.float32(2.0**-126) * np.linspace(-2, 2, 256, dtype=np.float32)
    b[128:200] = 2.0 ** np.linspace(-140, -2, 72).astype(np.float32)
    # The product of these is rounded up to the least normal number, which is kept.
    a[0], b[0] = np.float32(2.0**-126 * (1 + 2**-23)), np.float32(1 - 2**-23)
    flush = flushing(NUMBERS["f32"])
    make = FLUSHED[name]
    given = evaluate(
        lambda x, y: make(x, y, rounding_mode=mode, flush_to_zero=True), (a, "f32"), (b, "f32")
    )
    plain = evaluate(
        lambda x, y: make(x, y, rounding_mode=mode), (flush(a), "f32"), (flush(b), "f32")
    )
    assert same(given, flush(plain))
    size = np.abs(given)
    assert not np.any((size > 0) & (size < 2.0**-126))
    assert np.array_equal(np.signbit(given)[size == 0], np.signbit(plain)[size == 0])


def test_flushed_fused_products_and_roots() -> None:
    tiny = np.float32(2.0**-130)
    a = np.array([tiny, -tiny, 2.0**-70, -(2.0**-70)], np.float32)
    b = np.array([1, 1, 2.0**-70, 2.0**-70], np.float32)
    zero = np.zeros(4, np.float32)
    fused = evaluate(
        lambda x, y, z: ops.FmaOp(x, y, z, flush_to_zero=True), *((v, "f32") for v in (a, b, zero))
    )
    # A flushed -0 plus +0 is +0, and a product that is too small is flushed with its sign.
    assert same(fused, np.array([0.0, 0.0, 0.0, -0.0], np.float32))
    root = evaluate(lambda x: mathematics.SqrtOp(x, flush_to_zero=True), (a, "f32"))
    assert same(root, np.array([0.0, -0.0, 2.0**-35, np.nan], np.float32))
    inverse = evaluate(lambda x: mathematics.RsqrtOp(x, flush_to_zero=True), (a, "f32"))
    assert same(inverse, np.array([np.inf, -np.inf, 2.0**35, np.nan], np.float32))


def test_an_approximate_quotient_by_a_large_number() -> None:
    """`Ops.td`: between 2^126 and 2^128 infinity gives NaN, anything else 0."""
    large = 2.0**127
    a = np.array([1.0, -3.0, np.inf, large, 6.0, 1.0, 1.0, 7.0], np.float32)
    b = np.array([large, large, large, -large, 2.0**126, 0.0, np.inf, -2.0], np.float32)
    result = evaluate(
        lambda x, y: ops.DivFOp(x, y, rounding_mode=RoundingMode.APPROX), (a, "f32"), (b, "f32")
    )
    expected = [0.0, -0.0, np.nan, -0.0, 6 * 2.0**-126, np.inf, 0.0, -3.5]
    assert same(result, np.array(expected, np.float32))
    full = evaluate(
        lambda x, y: ops.DivFOp(x, y, rounding_mode=RoundingMode.FULL), (a, "f32"), (b, "f32")
    )
    with np.errstate(all="ignore"):
        assert same(full, a / b)


@pytest.mark.parametrize("type", BASE_FLOATS)
def test_extrema(type: str) -> None:
    dtype = NUMBERS[type].dtype
    a = np.array([0.0, -0.0, 1.0, np.nan, 2.0, np.nan, -np.inf, 5.0]).astype(dtype)
    b = np.array([-0.0, 0.0, -3.0, 2.0, np.nan, np.nan, np.inf, 5.0]).astype(dtype)

    def compute(make: Any, **flags: bool) -> Any:
        return evaluate(lambda x, y: make(x, y, **flags), (a, type), (b, type))

    nan, inf = np.nan, np.inf
    assert same(compute(ops.MaxFOp), [0.0, 0.0, 1, 2, 2, nan, inf, 5])
    assert same(compute(ops.MinFOp), [-0.0, -0.0, -3, 2, 2, nan, -inf, 5])
    assert same(compute(ops.MaxFOp, propagate_nan=True), [0.0, 0.0, 1, nan, nan, nan, inf, 5])
    assert same(compute(ops.MinFOp, propagate_nan=True), [-0.0, -0.0, -3, nan, nan, nan, -inf, 5])


def test_flushed_extrema() -> None:
    a = np.array([2.0**-130, -(2.0**-130), -(2.0**-130), 1.0], np.float32)
    b = np.array([2.0**-140, 2.0**-140, -1.0, 2.0**-130], np.float32)
    largest = evaluate(lambda x, y: ops.MaxFOp(x, y, flush_to_zero=True), (a, "f32"), (b, "f32"))
    assert same(largest, np.array([0.0, 0.0, -0.0, 1.0], np.float32))
    least = evaluate(lambda x, y: ops.MinFOp(x, y, flush_to_zero=True), (a, "f32"), (b, "f32"))
    assert same(least, np.array([0.0, -0.0, -1.0, 0.0], np.float32))


@pytest.mark.parametrize("type", BASE_FLOATS)
def test_signs_and_whole_numbers(type: str) -> None:
    a = random_bits(type, COUNT)
    wide = a.astype(np.float64)
    bits = a.view(f"u{a.dtype.itemsize}")
    sign = bits.dtype.type(1 << (8 * a.dtype.itemsize - 1))
    absolute = evaluate(ops.AbsFOp, (a, type))
    negative = evaluate(ops.NegFOp, (a, type))
    # The bits of a NaN stay, but for its sign.
    assert np.array_equal(absolute.view(bits.dtype), bits & ~sign)
    assert np.array_equal(negative.view(bits.dtype), bits ^ sign)
    assert same(evaluate(ops.CeilOp, (a, type)), np.ceil(wide))
    assert same(evaluate(ops.FloorOp, (a, type)), np.floor(wide))


@pytest.mark.parametrize("type", BASE_FLOATS)
def test_the_remainder_is_exact(type: str) -> None:
    a, b = mixed_floats(type, COUNT), mixed_floats(type, COUNT)
    result = evaluate(ops.RemFOp, (a, type), (b, type))
    for i, (x, y) in enumerate(zip(fractions(a), fractions(b), strict=True)):
        if y == 0:
            assert np.isnan(result[i])
            continue
        assert Fraction(float(result[i])) == x - math.trunc(x / y) * y
        assert _sign(result[i]) == _sign(a[i])
    special = np.array([1.0, np.inf, 2.0, np.nan]).astype(a.dtype)
    others = np.array([0.0, 1.0, np.inf, 1.0]).astype(a.dtype)
    found = evaluate(ops.RemFOp, (special, type), (others, type))
    assert same(found, [np.nan, np.nan, 2.0, np.nan])
