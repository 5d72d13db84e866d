"""Elements of tiles chosen or counted by integers, on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.transforms.distribute.kernels import read, run
from xtile.semantics.errors import ExecutionError


def kernel(parameters: str, body: str) -> str:
    return (
        f"gpu.module @m {{ gpu.func @k({parameters}) kernel attributes {{core.level = "
        f'"tile"}} {{ %c0 = arith.constant 0 : index\n{body}\ngpu.return }} }}'
    )


def gather(axis: int, positions: str) -> str:
    return kernel(
        f"%a: memref<4x8xf32>, %p: memref<{positions}xi32>, %o: memref<{positions}xf32>",
        f"""%v = vector.load %a[%c0, %c0] : memref<4x8xf32>, vector<4x8xf32>
        %n = vector.load %p[%c0, %c0] : memref<{positions}xi32>, vector<{positions}xi32>
        %r = core.gather %v[%n] axis {axis}
            : vector<4x8xf32>, vector<{positions}xi32> -> vector<{positions}xf32>
        vector.store %r, %o[%c0, %c0] : memref<{positions}xf32>, vector<{positions}xf32>""",
    )


@pytest.mark.parametrize(("axis", "rows", "columns"), [(0, 16, 8), (1, 4, 2), (1, 2, 16)])
def test_gather(axis: int, rows: int, columns: int, rng: np.random.Generator) -> None:
    a = rng.random((4, 8), np.float32)
    positions = rng.integers(0, a.shape[axis], (rows, columns), np.int32)
    out = np.full((rows, columns), np.nan, np.float32)
    run(read(gather(axis, f"{rows}x{columns}")), a, positions, out)
    for i, j in np.ndindex(rows, columns):
        position = (positions[i, j], j) if axis == 0 else (i, positions[i, j])
        assert out[i, j] == a[position]


@pytest.mark.parametrize("position", [-1, 8])
def test_a_position_outside(position: int) -> None:
    positions = np.zeros((4, 2), np.int32)
    positions[1, 1] = position
    with pytest.raises(ExecutionError, match=f"position {position} lies outside of a dimension"):
        run(
            read(gather(1, "4x2")),
            np.zeros((4, 8), np.float32),
            positions,
            positions.astype(np.float32),
        )


def histogram(element: str, mask: bool) -> str:
    chosen = (", %mask", ", vector<64xi1>") if mask else ("", "")
    return kernel(
        f"%a: memref<64x{element}>, %k: memref<64xi1>, %o: memref<16xi32>",
        f"""%v = vector.load %a[%c0] : memref<64x{element}>, vector<64x{element}>
        %mask = vector.load %k[%c0] : memref<64xi1>, vector<64xi1>
        %h = core.histogram %v{chosen[0]} : vector<64x{element}>{chosen[1]} -> vector<16xi32>
        vector.store %h, %o[%c0] : memref<16xi32>, vector<16xi32>""",
    )


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64])
def test_histogram(dtype: type, mask: bool, rng: np.random.Generator) -> None:
    a: np.ndarray[Any, Any] = rng.integers(0, 16, 64).astype(dtype)
    counted = rng.random(64) < 0.5
    if mask:
        # What does not count may be anything.
        a[~counted] = -rng.integers(1, 100, np.count_nonzero(~counted))
    out = np.full(16, -1, np.int32)
    text = histogram(f"i{8 * np.dtype(dtype).itemsize}", mask)
    run(read(text), a, counted, out)
    expected = np.bincount(a[counted] if mask else a, minlength=16)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize(("number", "shown"), [(16, "16"), (-1, "255")])
def test_a_number_without_a_bin(number: int, shown: str) -> None:
    a = np.full(64, number, np.int8)
    with pytest.raises(ExecutionError, match=f"error: {shown} has no bin; .* from 0 to 15"):
        run(read(histogram("i8", False)), a, np.ones(64, np.bool_), np.zeros(16, np.int32))
