"""Gathers and scatters on the reference device, as CUDA Tile IR and under the sanitizer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.transforms.distribute.kernels import arguments_of, function_of, read, run
from tests.translate.core_to_cuda_tile.entries import (
    assemble_for_all,
    lowered,
    run_entry,
    tile_kernel,
    unordered_accesses,
)
from xtile.semantics.errors import ExecutionError
from xtile.semantics.sanitizer import sanitize

PARAMETERS = (
    "%m: memref<9x7xf32, strided<[8, 1]>>, %rows: memref<4x1xi32>, %columns: memref<4x8xi64>, "
    "%mask: memref<4x8xi8>, %v: memref<4x8xf32>, %o: memref<4x8xf32>"
)

LOADS = """
%c0 = arith.constant 0 : index
%r = vector.load %rows[%c0, %c0] : memref<4x1xi32>, vector<4x1xi32>
%c = vector.load %columns[%c0, %c0] : memref<4x8xi64>, vector<4x8xi64>
%bytes = vector.load %mask[%c0, %c0] : memref<4x8xi8>, vector<4x8xi8>
%k = arith.trunci %bytes : vector<4x8xi8> to vector<4x8xi1>
%x = vector.load %v[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
"""

M = "memref<9x7xf32, strided<[8, 1]>>[vector<4x1xi32>, vector<4x8xi64>]"

GATHER = f"""{LOADS}
%y = core.gather_load %m[%r, %c], %k, %x
    : {M}, vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>
vector.store %y, %o[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
"""

SCATTER = f"{LOADS}\ncore.scatter_store %x, %m[%r, %c], %k : vector<4x8xf32>, {M}, vector<4x8xi1>"

LINE = f"""{LOADS}
%y = core.gather_load %m[%r, %c0]
    : memref<9x7xf32, strided<[8, 1]>>[vector<4x1xi32>, index] -> vector<4x8xf32>
vector.store %y, %o[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
"""


def inputs(rng: np.random.Generator, repeated: bool = False) -> list[Any]:
    """Random arguments; no position occurs twice unless `repeated`."""
    memory = rng.random((9, 8), np.float32)[:, :7]
    rows = rng.permutation(9)[:4].astype(np.int32)[:, None]
    columns = rng.integers(0, 7, (4, 8))
    mask = np.zeros((4, 8), np.int8)
    for row in range(4):
        mask[row, :5] = 1
        columns[row, :5] = rng.permutation(7)[:5]
    if repeated:
        columns[2, 3] = columns[2, 1]
    # What is left out may be anywhere.
    columns[:, 5:] = 10**6
    return [
        memory,
        rows,
        columns,
        mask,
        rng.random((4, 8), np.float32),
        np.full((4, 8), np.nan, np.float32),
    ]


def test_gather(rng: np.random.Generator) -> None:
    arguments = inputs(rng)
    memory, rows, columns, mask, values, out = arguments
    run(read(tile_kernel(PARAMETERS, GATHER)), *arguments)
    expected: np.ndarray[Any, Any] = values.copy()
    for i, j in np.argwhere(mask):
        expected[i, j] = memory[rows[i, 0], columns[i, j]]
    np.testing.assert_array_equal(out, expected)


def test_one_index_for_all(rng: np.random.Generator) -> None:
    arguments = inputs(rng)
    run(read(tile_kernel(PARAMETERS, LINE)), *arguments)
    memory, rows, *_, out = arguments
    np.testing.assert_array_equal(out, np.broadcast_to(memory[rows, 0], (4, 8)))


def test_scatter(rng: np.random.Generator) -> None:
    arguments = inputs(rng)
    memory, rows, columns, mask, values, _ = arguments
    expected: np.ndarray[Any, Any] = memory.copy()
    for i, j in np.argwhere(mask):
        expected[rows[i, 0], columns[i, j]] = values[i, j]
    run(read(tile_kernel(PARAMETERS, SCATTER)), *arguments)
    np.testing.assert_array_equal(memory, expected)


def test_an_index_outside(rng: np.random.Generator) -> None:
    arguments = inputs(rng)
    arguments[1][2] = 10**6
    for body in (GATHER, SCATTER):
        with pytest.raises(ExecutionError, match=r"core\.(gather_load|scatter_store)"):
            run(read(tile_kernel(PARAMETERS, body)), *arguments)


@pytest.mark.parametrize("operation", ["core", "vector"])
def test_the_sanitizer_finds_what_is_written_twice(
    operation: str, rng: np.random.Generator
) -> None:
    body = SCATTER
    if operation == "vector":
        body = f"""{LOADS}
        vector.scatter %m[%c0, %c0] [%c], %k, %x
            : memref<9x7xf32, strided<[8, 1]>>, vector<4x8xi64>, vector<4x8xi1>, vector<4x8xf32>"""
    module = read(tile_kernel(PARAMETERS, body))
    arguments = inputs(rng, repeated=True)
    if operation == "vector":
        arguments[3][[0, 1, 3]] = 0
    reports = sanitize(function_of(module), arguments_of(arguments), (1, 1, 1))
    (message,) = [report.message for report in reports]
    assert "are written to one location by one operation" in message
    arguments[4][2, 3] = arguments[4][2, 1]
    assert sanitize(function_of(module), arguments_of(arguments), (1, 1, 1)) == []


@pytest.mark.parametrize("body", [GATHER, SCATTER, LINE], ids=["gather", "scatter", "line"])
def test_as_cuda_tile(body: str, rng: np.random.Generator) -> None:
    text = tile_kernel(PARAMETERS, body)
    module = lowered(text)
    expected = inputs(rng)
    made = [each.copy() for each in expected]
    # The copy of the memory has to have its strides.
    made[0] = np.zeros((9, 8), np.float32)[:, :7]
    made[0][...] = expected[0]
    run(read(text), *expected)
    run_entry(text, module, *made)
    np.testing.assert_array_equal(made[0], expected[0])
    np.testing.assert_array_equal(made[-1], expected[-1])
    assert unordered_accesses(text, module, *made) == []
    assemble_for_all(module)
