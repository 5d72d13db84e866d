"""Loads, stores, gathers and scatters, also under masks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.vector.operations import WORK_ITEMS, Array, evaluate, random_operand
from xtile.semantics.errors import ExecutionError

MEMORY = "memref<6x10xf32>"
ROW = f"{MEMORY}, vector<4xi1>, vector<4xf32>"
"""The types of an access to four elements under a mask."""


@pytest.fixture
def memory(rng: np.random.Generator) -> Array:
    return rng.standard_normal((6, 10)).astype(np.float32)


def test_blocks(memory: Array, rng: np.random.Generator) -> None:
    row, column = rng.integers(0, 5, WORK_ITEMS), rng.integers(0, 8, WORK_ITEMS)
    found = evaluate(
        f"vector.load %a[{{0}}, {{1}}] : {MEMORY}, vector<2x3xf32>",
        [("index", row), ("index", column)],
        "vector<2x3xf32>",
        memories={"%a": (MEMORY, memory)},
    )
    for block, i, j in zip(found, row, column, strict=True):
        np.testing.assert_array_equal(block, memory[i : i + 2, j : j + 3])


def test_a_vector_without_dimensions_is_one_element(memory: Array) -> None:
    before = memory.copy()
    evaluate(
        f"vector.store %v, %a[%x, %c9] : {MEMORY}, vector<f32>",
        [],
        before=f"""%c9 = arith.constant 9 : index
        %v = vector.load %a[%x, %x] : {MEMORY}, vector<f32>""",
        memories={"%a": (MEMORY, memory)},
    )
    items = np.arange(WORK_ITEMS)
    np.testing.assert_array_equal(memory[:WORK_ITEMS, 9], before[items, items])


def loaded(operation: str, mask: Array, other: Array, memory: Array) -> Array:
    """What a load under a mask gives."""
    return evaluate(
        f"{operation} %a[%x, %x], {{0}}, {{1}} : {ROW} into vector<4xf32>",
        [("vector<4xi1>", mask), ("vector<4xf32>", other)],
        "vector<4xf32>",
        memories={"%a": (MEMORY, memory)},
    )


def test_loads_of_neighbours_under_a_mask(memory: Array, rng: np.random.Generator) -> None:
    mask, other = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    found = loaded("vector.maskedload", mask, other, memory)
    for i in range(WORK_ITEMS):
        np.testing.assert_array_equal(found[i], np.where(mask[i], memory[i, i : i + 4], other[i]))


def test_loads_of_packed_elements(memory: Array, rng: np.random.Generator) -> None:
    mask, other = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    found = loaded("vector.expandload", mask, other, memory)
    for i in range(WORK_ITEMS):
        expected = other[i].copy()
        expected[mask[i]] = memory[i, i : i + mask[i].sum()]
        np.testing.assert_array_equal(found[i], expected)


@pytest.mark.parametrize("operation", ["vector.maskedstore", "vector.compressstore"])
def test_stores_under_a_mask(operation: str, memory: Array, rng: np.random.Generator) -> None:
    mask, value = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    expected = memory.copy()
    for i in range(WORK_ITEMS):
        chosen: Array = np.flatnonzero(mask[i])
        columns = i + (chosen if operation == "vector.maskedstore" else np.arange(chosen.size))
        expected[i, columns] = value[i][mask[i]]
    evaluate(
        f"{operation} %a[%x, %x], {{0}}, {{1}} : {ROW}",
        [("vector<4xi1>", mask), ("vector<4xf32>", value)],
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(memory, expected)


@pytest.mark.parametrize("element", ["index", "i32", "i8"])
def test_gathers(element: str, memory: Array, rng: np.random.Generator) -> None:
    mask, other = random_operand(rng, "vector<2x3xi1>"), random_operand(rng, "vector<2x3xf32>")
    positions = random_operand(rng, f"vector<2x3x{element}>") % 7
    found = evaluate(
        f"vector.gather %a[%x, %x][{{0}}], {{1}}, {{2}} : {MEMORY}, vector<2x3x{element}>, "
        "vector<2x3xi1>, vector<2x3xf32> into vector<2x3xf32>",
        [
            (f"vector<2x3x{element}>", positions),
            ("vector<2x3xi1>", mask),
            ("vector<2x3xf32>", other),
        ],
        "vector<2x3xf32>",
        memories={"%a": (MEMORY, memory)},
    )
    for i in range(WORK_ITEMS):
        read: Array = memory[i][i + positions[i]]
        np.testing.assert_array_equal(found[i], np.where(mask[i], read, other[i]))


def test_scatters(memory: Array, rng: np.random.Generator) -> None:
    mask, value = random_operand(rng, "vector<4xi1>"), random_operand(rng, "vector<4xf32>")
    positions = np.stack([rng.permutation(7)[:4] for _ in range(WORK_ITEMS)]).astype(np.int32)
    expected = memory.copy()
    for i in range(WORK_ITEMS):
        expected[i, i + positions[i][mask[i]]] = value[i][mask[i]]
    evaluate(
        f"vector.scatter %a[%x, %x][{{0}}], {{1}}, {{2}} : {MEMORY}, vector<4xi32>, vector<4xi1>, "
        "vector<4xf32>",
        [("vector<4xi32>", positions), ("vector<4xi1>", mask), ("vector<4xf32>", value)],
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(memory, expected)


def test_the_last_of_several_scattered_elements_stays(memory: Array) -> None:
    value = np.arange(16, dtype=np.float32).reshape(4, 4)
    evaluate(
        f"vector.scatter %a[%x, %zero][%p], %m, {{0}} : {MEMORY}, vector<4xindex>, vector<4xi1>, "
        "vector<4xf32>",
        [("vector<4xf32>", value)],
        before="""%p = arith.constant dense<5> : vector<4xindex>
        %m = vector.constant_mask [4] : vector<4xi1>""",
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(memory[:4, 5], value[:, 3])


def test_an_element_outside_of_the_memory_is_an_error(memory: Array) -> None:
    text = kernel(
        f"%a: {MEMORY}",
        f"""%five = arith.constant 5 : index
        %eight = arith.constant 8 : index
        %v = vector.load %a[%five, %eight] : {MEMORY}, vector<4xf32>""",
    )
    with pytest.raises(ExecutionError, match="element 61 lies outside of the memory of %a") as info:
        run(text, memory)
    assert info.value.operation.name == "vector.load"


def test_elements_that_a_mask_leaves_out_may_be_outside_of_the_memory(memory: Array) -> None:
    found = evaluate(
        f"vector.maskedload %a[%five, %eight], %m, %o : {ROW} into vector<4xf32>",
        [],
        "vector<4xf32>",
        before="""%five = arith.constant 5 : index
        %eight = arith.constant 8 : index
        %o = arith.constant dense<7.0> : vector<4xf32>
        %m = vector.constant_mask [2] : vector<4xi1>""",
        memories={"%a": (MEMORY, memory)},
    )
    np.testing.assert_array_equal(found, np.tile([*memory[5, 8:], 7, 7], (WORK_ITEMS, 1)))


REFUSED = {
    "%v = vector.load %b[%c, %c] : memref<6x10xvector<4xf32>>, vector<4xf32>": (
        "a memref of vectors, memref<6x10xvector<4xf32>>, cannot be executed"
    ),
    "%v = vector.type_cast %a : memref<6x10xf32> to memref<vector<6x10xf32>>": (
        "vector.type_cast makes a memref of a vector"
    ),
    "%v = vector.step : vector<[4]xindex>": "scalable vectors cannot be computed",
    "%v = vector.vscale": "vector.vscale cannot be executed",
}


@pytest.mark.parametrize("operation", REFUSED)
def test_what_cannot_be_executed(operation: str, memory: Array) -> None:
    body = f"%c = arith.constant 0 : index\n{operation}"
    text = kernel(f"%a: {MEMORY}, %b: memref<6x10xvector<4xf32>>", body)
    with pytest.raises(ExecutionError, match=REFUSED[operation].replace("[", r"\[")):
        run(text, memory, memory)
