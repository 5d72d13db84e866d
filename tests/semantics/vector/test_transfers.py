"""Transfers: permuted, repeated, masked, and beyond the bounds of memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.vector.operations import WORK_ITEMS, Array, evaluate, random_operand
from xtile.semantics.errors import ExecutionError

MEMORY = "memref<5x7xf32>"
CONSTANTS = """%p = arith.constant -1.0 : f32
%c3 = arith.constant 3 : index
%minus = arith.constant -2 : index"""


@pytest.fixture
def memory(rng: np.random.Generator) -> Array:
    return rng.standard_normal((5, 7)).astype(np.float32)


def padded(memory: Array, row: int, column: int, rows: int, columns: int) -> Array:
    """A block of memory, -1 outside."""
    wide = np.full((20, 20), -1, np.float32)
    wide[8:13, 8:15] = memory
    return wide[8 + row : 8 + row + rows, 8 + column : 8 + column + columns]


READS: dict[str, tuple[str, Callable[[Array, int], Array]]] = {
    f"%a[%x, %c3], %p {{{{in_bounds = [true]}}}} : {MEMORY}, vector<4xf32>": (
        "vector<4xf32>",
        lambda a, x: a[x, 3:7],
    ),
    f"%a[%x, %c3], %p : {MEMORY}, vector<4x6xf32>": (
        "vector<4x6xf32>",
        lambda a, x: padded(a, x, 3, 4, 6),
    ),
    f"%a[%x, %minus], %p : {MEMORY}, vector<6xf32>": (
        "vector<6xf32>",
        lambda a, x: padded(a, x, -2, 1, 6)[0],
    ),
    "%a[%x, %c3], %p {{permutation_map = affine_map<(d0, d1) -> (d1, d0)>}} : "
    f"{MEMORY}, vector<6x4xf32>": (
        "vector<6x4xf32>",
        lambda a, x: padded(a, x, 3, 4, 6).T,
    ),
    "%a[%x, %c3], %p {{permutation_map = affine_map<(d0, d1) -> (d0)>}} : "
    f"{MEMORY}, vector<6xf32>": (
        "vector<6xf32>",
        lambda a, x: padded(a, x, 3, 6, 1)[:, 0],
    ),
    "%a[%x, %c3], %p {{permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>}} : "
    f"{MEMORY}, vector<2x3x4xf32>": (
        "vector<2x3x4xf32>",
        lambda a, x: np.repeat(padded(a, x, 3, 4, 2).T[:, np.newaxis], 3, 1),
    ),
    "%a[%x, %c3], %p {{permutation_map = affine_map<(d0, d1) -> (0)>}} : "
    f"{MEMORY}, vector<3xf32>": (
        "vector<3xf32>",
        lambda a, x: np.full(3, a[x, 3]),
    ),
    f"%a[%x, %c3], %p : {MEMORY}, vector<f32>": ("vector<f32>", lambda a, x: a[x, 3]),
}
"""For each read its result's type, and what it is in work-item x."""


@pytest.mark.parametrize("read", READS)
def test_reads(read: str, memory: Array) -> None:
    result, expected = READS[read]
    found = evaluate(
        f"vector.transfer_read {read}",
        [],
        result,
        before=CONSTANTS,
        memories={"%a": (MEMORY, memory)},
    )
    for x in range(WORK_ITEMS):
        np.testing.assert_array_equal(found[x], expected(memory, x))


def test_a_mask_has_the_order_of_the_memory(memory: Array, rng: np.random.Generator) -> None:
    mask = random_operand(rng, "vector<2x3xi1>")
    found = evaluate(
        "vector.transfer_read %a[%x, %c3], %p, {0} "
        "{{permutation_map = affine_map<(d0, d1) -> (d1, 0, d0)>}} : "
        f"{MEMORY}, vector<3x4x2xf32>",
        [("vector<2x3xi1>", mask)],
        "vector<3x4x2xf32>",
        before=CONSTANTS,
        memories={"%a": (MEMORY, memory)},
    )
    for x in range(WORK_ITEMS):
        block = np.where(mask[x], padded(memory, x, 3, 2, 3), -1)
        np.testing.assert_array_equal(found[x], np.repeat(block.T[:, np.newaxis], 4, 1))


def test_a_mask_of_what_is_repeated_has_one_element(memory: Array) -> None:
    found = evaluate(
        "vector.transfer_read %a[%x, %c3], %p, {0} "
        "{{permutation_map = affine_map<(d0, d1) -> (0)>}} : "
        f"{MEMORY}, vector<3xf32>",
        [("vector<1xi1>", np.array([[True], [False], [True], [False]]))],
        "vector<3xf32>",
        before=CONSTANTS,
        memories={"%a": (MEMORY, memory)},
    )
    expected = np.where([True, False, True, False], memory[:4, 3], -1)
    np.testing.assert_array_equal(found, np.repeat(expected[:, np.newaxis], 3, 1))


def test_writes_stay_inside(memory: Array, rng: np.random.Generator) -> None:
    value = random_operand(rng, "vector<6xf32>")
    before = memory.copy()
    evaluate(
        f"vector.transfer_write {{0}}, %a[%x, %c3] : vector<6xf32>, {MEMORY}",
        [("vector<6xf32>", value)],
        before=CONSTANTS,
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(memory[:4, 3:], value[:, :4])
    np.testing.assert_array_equal(memory[:, :3], before[:, :3])
    np.testing.assert_array_equal(memory[4], before[4])


def test_masked_and_transposed_writes(rng: np.random.Generator) -> None:
    memory = np.zeros((4, 3, 2), np.float32)
    value, mask = random_operand(rng, "vector<2x3xf32>"), random_operand(rng, "vector<3x2xi1>")
    evaluate(
        "vector.transfer_write {0}, %a[%x, %zero, %zero], {1} {{in_bounds = [true, true], "
        "permutation_map = affine_map<(d0, d1, d2) -> (d2, d1)>}} : vector<2x3xf32>, "
        "memref<4x3x2xf32>",
        [("vector<2x3xf32>", value), ("vector<3x2xi1>", mask)],
        memories={"%a": ("memref<4x3x2xf32>", memory)},
    )
    np.testing.assert_array_equal(memory, np.where(mask, value.transpose(0, 2, 1), 0))


def test_memory_without_dimensions(rng: np.random.Generator) -> None:
    memory = np.array(2.5, np.float32)
    found = evaluate(
        "vector.transfer_read %a[], %p {{permutation_map = affine_map<() -> (0)>}} : "
        "memref<f32>, vector<1xf32>",
        [],
        "vector<1xf32>",
        before=CONSTANTS,
        memories={"%a": ("memref<f32>", memory)},
    )
    np.testing.assert_array_equal(found, np.full((WORK_ITEMS, 1), 2.5))


def test_memrefs_that_differ_between_work_items(memory: Array) -> None:
    found = evaluate(
        "vector.transfer_read %chosen[%c3, %c3], %p : memref<?x?xf32>, vector<3xf32>",
        [],
        "vector<3xf32>",
        before=CONSTANTS
        + """
        %small = memref.cast %b : memref<4x5xf32> to memref<?x?xf32>
        %large = memref.cast %a : memref<5x7xf32> to memref<?x?xf32>
        %is_first = arith.cmpi eq, %x, %zero : index
        %chosen = arith.select %is_first, %small, %large : memref<?x?xf32>""",
        memories={
            "%a": (MEMORY, memory),
            "%b": ("memref<4x5xf32>", np.ones((4, 5), np.float32)),
        },
    )
    np.testing.assert_array_equal(found[0], [1, 1, -1])
    np.testing.assert_array_equal(found[1:], np.tile(memory[3, 3:6], (3, 1)))


def test_a_promise_of_being_inside_that_is_broken_is_an_error(memory: Array) -> None:
    text = kernel(
        f"%a: {MEMORY}",
        f"""{CONSTANTS}
        %four = arith.constant 4 : index
        %v = vector.transfer_read %a[%four, %four], %p {{in_bounds = [true]}} :
          {MEMORY}, vector<4xf32>""",
    )
    with pytest.raises(ExecutionError, match="element 35 lies outside of the memory of %a"):
        run(text, memory)


def test_tensors_are_refused() -> None:
    text = kernel(
        "",
        f"""{CONSTANTS}
        %t = ub.poison : tensor<8xf32>
        %v = vector.transfer_read %t[%c3], %p : tensor<8xf32>, vector<4xf32>""",
    )
    with pytest.raises(ExecutionError, match="tensor"):
        run(text)
