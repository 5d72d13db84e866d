"""Products of matrices of CUDA Tile IR, in all types, with and without a batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.cuda_tile.tiles import (
    NUMBERS,
    evaluate,
    random_floats,
    random_integers,
    same,
)
from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import matrix_multiply as ops

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SHAPES = [((8, 32), (32, 4), (8, 4)), ((2, 8, 32), (2, 32, 4), (2, 8, 4))]
"""Of the factors and the accumulator."""

TYPES = [
    ("f8E4M3FN", "f16"),
    ("f8E4M3FN", "f32"),
    ("f8E5M2", "f16"),
    ("f8E5M2", "f32"),
    ("f16", "f16"),
    ("f16", "f32"),
    ("bf16", "f32"),
    ("tf32", "f32"),
    ("f32", "f32"),
    ("f64", "f64"),
]

UNIT = {"f16": 2.0**-10, "f32": 2.0**-23, "f64": 2.0**-52}
"""The distance of numbers at 1."""


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize(("factor", "accumulator"), TYPES)
def test_products_of_floats(factor: str, accumulator: str, shapes: Any) -> None:
    """The sums are rounded once, so the bound is half a unit, and f64's own error."""
    lhs, rhs = (random_floats(factor, shape) for shape in shapes[:2])
    acc = random_floats(accumulator, shapes[2])
    result = evaluate(ops.MmaFOp, (lhs, factor), (rhs, factor), (acc, accumulator))
    wide = [each.astype(np.longdouble) for each in (lhs, rhs, acc)]
    exact = np.einsum("...ik,...kj->...ij", *wide[:2]) + wide[2]
    size = np.einsum("...ik,...kj->...ij", *map(np.abs, wide[:2])) + np.abs(wide[2])
    bound = UNIT[accumulator] / 2 * np.abs(exact) + 64 * 2.0**-52 * size
    assert np.all(np.abs(result.astype(np.longdouble) - exact) <= bound)


def test_fast_accumulation_changes_nothing() -> None:
    lhs, rhs = random_floats("f8E5M2", (4, 16)), random_floats("f8E5M2", (16, 4))
    acc = random_floats("f32", (4, 4))
    operands = (lhs, "f8E5M2"), (rhs, "f8E5M2"), (acc, "f32")
    fast = evaluate(lambda a, b, c: ops.MmaFOp(a, b, c, fast_acc=True), *operands)
    assert same(fast, evaluate(ops.MmaFOp, *operands))


def test_infinities_and_nan_reach_the_result() -> None:
    lhs = np.array([[np.inf, 1.0], [1.0, np.nan], [np.inf, -np.inf], [0.0, 1.0]], np.float16)
    rhs = np.array([[1.0, 0.0], [1.0, 1.0]], np.float16)
    acc = np.zeros((4, 2), np.float32)
    result = evaluate(ops.MmaFOp, (lhs, "f16"), (rhs, "f16"), (acc, "f32"))
    nan, inf = np.nan, np.inf
    assert same(result, [[inf, nan], [nan, nan], [nan, nan], [1.0, 1.0]])


def test_the_result_overflows_only_once() -> None:
    """The products do not overflow in f16, but their sum does."""
    lhs, rhs = np.full((2, 2), 250, np.float16), np.full((2, 2), 250, np.float16)
    acc = np.full((2, 2), -65504, np.float16)
    result = evaluate(ops.MmaFOp, (lhs, "f16"), (rhs, "f16"), (acc, "f16"))
    assert np.all(result == np.float16(2 * 62500 - 65504))
    positive = evaluate(ops.MmaFOp, (lhs, "f16"), (rhs, "f16"), (-acc, "f16"))
    assert np.all(np.isinf(positive))


def test_a_tf32_has_no_low_bits() -> None:
    """A tensor core does not read the bits of an f32 that tf32 lacks."""
    one = np.array([[1.0 + 2.0**-20, 0.0], [0.0, 1.0]], np.float32)
    acc = np.zeros((2, 2), np.float32)
    result = evaluate(ops.MmaFOp, (one, "tf32"), (one, "tf32"), (acc, "f32"))
    assert same(result, np.eye(2, dtype=np.float32))


@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize(
    ("factor", "scale", "block"),
    [
        ("f8E4M3FN", "f8E8M0FNU", 32),
        ("f8E5M2", "f8E8M0FNU", 32),
        ("f4E2M1FN", "f8E8M0FNU", 32),
        ("f4E2M1FN", "f8E8M0FNU", 16),
        ("f4E2M1FN", "f8E4M3FN", 16),
    ],
)
def test_scaled_products(factor: str, scale: str, block: int, batch: tuple[int, ...]) -> None:
    """Each scale belongs to consecutive factors along the dimension that is summed over."""
    rows, depth, columns = 8, 64, 4
    lhs = random_floats(factor, (*batch, rows, depth))
    rhs = random_floats(factor, (*batch, depth, columns))
    acc = random_floats("f32", (*batch, rows, columns))
    powers = [2.0 ** fresh_generator().integers(-3, 4, (*batch, *shape)) for shape in
              ((rows, depth // block), (depth // block, columns))]  # fmt: skip
    scales = [power.astype(NUMBERS[scale].dtype) for power in powers]
    result = evaluate(
        ops.MmaFScaledOp,
        (lhs, factor), (rhs, factor), (acc, "f32"), (scales[0], scale), (scales[1], scale),
    )  # fmt: skip
    expected = acc.astype(np.float64)
    for k in range(depth):
        left = lhs[..., :, k].astype(np.float64) * powers[0][..., :, k // block]
        right = rhs[..., k, :].astype(np.float64) * powers[1][..., k // block, :]
        expected = expected + left[..., :, np.newaxis] * right[..., np.newaxis, :]
    # All products and sums are exact in f64, but for the accumulator's bits.
    assert np.allclose(result, expected, rtol=2.0**-23, atol=2.0**-40)


def test_a_scale_that_is_no_number() -> None:
    lhs, rhs = random_floats("f4E2M1FN", (2, 32)), random_floats("f4E2M1FN", (32, 2))
    acc = np.zeros((2, 2), np.float32)
    left = np.array([[0x7F], [0xFF]], np.uint8).view(NUMBERS["f8E8M0FNU"].dtype)
    right = np.full((1, 2), 0x7F, np.uint8).view(left.dtype)
    result = evaluate(
        ops.MmaFScaledOp, (lhs, "f4E2M1FN"), (rhs, "f4E2M1FN"), (acc, "f32"),
        (left, "f8E8M0FNU"), (right, "f8E8M0FNU"),
    )  # fmt: skip
    assert np.all(np.isfinite(result[0]))
    assert np.all(np.isnan(result[1]))


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("right", Signedness)
@pytest.mark.parametrize("left", Signedness)
def test_products_of_integers(left: Signedness, right: Signedness, shapes: Any) -> None:
    """Exact, and wrapped around."""
    lhs, rhs = (random_integers("i8", shape) for shape in shapes[:2])
    acc = random_integers("i32", shapes[2])
    result = evaluate(
        lambda a, b, c: ops.MmaIOp(a, b, c, signedness_lhs=left, signedness_rhs=right),
        (lhs, "i8"), (rhs, "i8"), (acc, "i32"),
    )  # fmt: skip
    wide = [
        (each if how is Signedness.SIGNED else each.view(np.uint8)).astype(np.int64)
        for each, how in ((lhs, left), (rhs, right))
    ]
    exact = np.einsum("...ik,...kj->...ij", *wide) + acc
    assert np.array_equal(result, exact.astype(np.int32))
