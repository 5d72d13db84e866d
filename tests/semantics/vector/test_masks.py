"""Masks, and the execution of operations under them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.vector.operations import WORK_ITEMS, Array, evaluate, random_operand

MEMORY = "memref<5x7xf32>"

CONSTANT = {
    "vector.constant_mask [3, 2] : vector<4x3xi1>": ("vector<4x3xi1>", (3, 2)),
    "vector.constant_mask [0, 0] : vector<4x3xi1>": ("vector<4x3xi1>", (0, 0)),
    "vector.constant_mask [1] : vector<i1>": ("vector<i1>", True),
    "vector.constant_mask [0] : vector<i1>": ("vector<i1>", False),
}


@pytest.mark.parametrize("operation", CONSTANT)
def test_constants(operation: str) -> None:
    type_, sizes = CONSTANT[operation]
    found = evaluate(operation, [], type_)
    if isinstance(sizes, bool):
        assert (found == sizes).all()
    else:
        expected = np.zeros((4, 3), np.bool_)
        expected[: sizes[0], : sizes[1]] = True
        np.testing.assert_array_equal(found, np.tile(expected, (WORK_ITEMS, 1, 1)))


def test_sizes_known_at_run_time() -> None:
    rows, columns = np.array([2, -5, 9, 4]), np.array([1, 3, 2, 0])
    found = evaluate(
        "vector.create_mask {0}, {1} : vector<4x3xi1>",
        [("index", rows), ("index", columns)],
        "vector<4x3xi1>",
    )
    i, j = np.indices((4, 3))
    for each, row, column in zip(found, rows, columns, strict=True):
        np.testing.assert_array_equal(each, (i < row) & (j < column))


def test_a_size_of_a_mask_without_dimensions() -> None:
    found = evaluate(
        "vector.create_mask {0} : vector<i1>",
        [("index", np.array([0, 1, 2, -1]))],
        "vector<i1>",
    )
    np.testing.assert_array_equal(found, [False, True, True, False])


@pytest.fixture
def memory(rng: np.random.Generator) -> Array:
    return rng.standard_normal((5, 7)).astype(np.float32)


def test_masked_reads_and_what_passes_through(memory: Array, rng: np.random.Generator) -> None:
    mask, other = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    found = evaluate(
        f"vector.mask {{0}}, {{1}} {{{{ vector.transfer_read %a[%x, %c5], %p : {MEMORY}, "
        "vector<4xf32> }} : vector<4xi1> -> vector<4xf32>",
        [("vector<4xi1>", mask), ("vector<4xf32>", other)],
        "vector<4xf32>",
        before="%c5 = arith.constant 5 : index\n%p = arith.constant 9.0 : f32",
        memories={"%a": (MEMORY, memory)},
    )
    inside = np.concatenate([memory[:4, 5:], np.full((4, 2), 9)], 1)
    np.testing.assert_array_equal(found, np.where(mask, inside, other))


def test_masked_writes(memory: Array, rng: np.random.Generator) -> None:
    mask, value = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    expected = memory.copy()
    expected[:4, :4] = np.where(mask, value, memory[:4, :4])
    evaluate(
        f"vector.mask {{0}} {{{{ vector.transfer_write {{1}}, %a[%x, %zero] : vector<4xf32>, "
        f"{MEMORY} }}}} : vector<4xi1>",
        [("vector<4xi1>", mask), ("vector<4xf32>", value)],
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(memory, expected)


def test_masked_gathers_need_both_masks(memory: Array, rng: np.random.Generator) -> None:
    outer, inner = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xi1>")
    other = random_operand(rng, "vector<4xf32>")
    found = evaluate(
        f"vector.mask {{0}} {{{{ vector.gather %a[%x, %zero][%s], {{1}}, {{2}} : {MEMORY}, "
        "vector<4xindex>, vector<4xi1>, vector<4xf32> into vector<4xf32> }} : vector<4xi1> -> "
        "vector<4xf32>",
        [("vector<4xi1>", outer), ("vector<4xi1>", inner), ("vector<4xf32>", other)],
        "vector<4xf32>",
        before="%s = vector.step : vector<4xindex>",
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(found, np.where(outer & inner, memory[:4, :4], other))


@pytest.mark.parametrize("has_other", [False, True])
def test_a_mask_of_nothing(has_other: bool, rng: np.random.Generator) -> None:
    mask, value = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    other = random_operand(rng, "vector<4xf32>")
    found = evaluate(
        f"vector.mask {{0}}{', {2}' if has_other else ''} {{{{ vector.yield {{1}} : vector<4xf32> "
        "}} : vector<4xi1> -> vector<4xf32>",
        [("vector<4xi1>", mask), ("vector<4xf32>", value), ("vector<4xf32>", other)],
        "vector<4xf32>",
    )
    np.testing.assert_array_equal(found, np.where(mask, value, other) if has_other else value)
