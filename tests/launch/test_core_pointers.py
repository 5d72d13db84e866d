"""Arrays, lists of arrays and null pointers as arguments of kernels that take pointers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.launch import ArgumentError

KERNEL = """
gpu.module @m {
  gpu.func @k(%x: !core.ptr<f32>, %n: i32, %table: TABLE, %o: !core.ptr<f32>) kernel
      attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %zeros = arith.constant dense<0.0> : vector<8xf32>
    %steps = vector.step : vector<8xindex>
    %i = arith.index_cast %steps : vector<8xindex> to vector<8xi32>
    %length = vector.broadcast %n : i32 to vector<8xi32>
    %k = arith.cmpi slt, %i, %length : vector<8xi32>
    %xs = vector.broadcast %x : !core.ptr<f32> to vector<8x!core.ptr<f32>>
    %px = core.pointer_add %xs, %i : vector<8x!core.ptr<f32>>, vector<8xi32>
    %a = core.gather_load %px, %k, %zeros
        : vector<8x!core.ptr<f32>>, vector<8xi1>, vector<8xf32> -> vector<8xf32>
    LOAD
    %m = core.view %q to offset: [0], sizes: [8], strides: [1] : !core.ptr<f32> to memref<8xf32>
    %b = vector.load %m[%c0] : memref<8xf32>, vector<8xf32>
    %s = arith.addf %a, %b : vector<8xf32>
    %os = vector.broadcast %o : !core.ptr<f32> to vector<8x!core.ptr<f32>>
    %po = core.pointer_add %os, %i : vector<8x!core.ptr<f32>>, vector<8xi32>
    core.scatter_store %s, %po : vector<8xf32>, vector<8x!core.ptr<f32>>
    gpu.return
  }
}
"""

TABLES = {
    "memref<?x!core.ptr<f32>>": "%q = memref.load %table[%c0] : memref<?x!core.ptr<f32>>",
    "memref<2x!core.ptr<f32>>": "%q = memref.load %table[%c0] : memref<2x!core.ptr<f32>>",
    "!core.ptr<!core.ptr<f32>>": (
        "%q = core.gather_load %table : !core.ptr<!core.ptr<f32>> -> !core.ptr<f32>"
    ),
}


def kernel(tmp_path: Path, table: str) -> Path:
    path = tmp_path / "k.mlir"
    path.write_text(KERNEL.replace("TABLE", table).replace("LOAD", TABLES[table]))
    return path


def arguments() -> tuple[list[Any], Any]:
    rng = fresh_generator()
    x, row = (rng.standard_normal(8).astype(np.float32) for _ in range(2))
    out = np.full(8, np.nan, np.float32)
    # An array of any shape is given for a pointer.
    return [x.reshape(2, 4), np.int32(5), [row, None], out], np.where(np.arange(8) < 5, x, 0) + row


@pytest.mark.parametrize("table", TABLES)
def test_arrays_and_lists(table: str, tmp_path: Path) -> None:
    given, expected = arguments()
    xtile.run(kernel(tmp_path, table), given, sanitize=True)
    np.testing.assert_array_equal(given[3], expected)


@pytest.mark.parametrize("table", TABLES)
def test_the_port_takes_them_too(table: str, tmp_path: Path) -> None:
    """In CUDA Tile IR a list is a pointer to numbers, and its length may follow."""
    given, expected = arguments()
    ported = xtile.translate(kernel(tmp_path, table), "cuda_tile", chip="sm_90")
    x, n, rows, out = given
    length = [2] if "?" in table else []
    xtile.run(ported, [x, n, rows, *length, out], sanitize=True)
    np.testing.assert_array_equal(out, expected)


def test_by_name(tmp_path: Path) -> None:
    given, expected = arguments()
    names: dict[str, Any] = dict(zip(("x", "n", "table", "o"), given, strict=True))
    xtile.run(kernel(tmp_path, "memref<?x!core.ptr<f32>>"), names)
    np.testing.assert_array_equal(given[3], expected)


def _read_only(array: Any) -> Any:
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("position", "value", "message"),
    [
        (0, np.zeros(8, np.float64), "f32"),
        (0, [np.zeros(8, np.float32)], "argument 'x' (!core.ptr<f32>)"),
        (0, 1.5, "argument 'x' (!core.ptr<f32>)"),
        (2, [np.zeros(8, np.float32)], "expected shape (2,), given shape (1,)"),
        (2, [np.zeros(8, np.float32), 1.5], "entry 1"),
        (3, _read_only(np.zeros(8, np.float32)), "read-only"),
    ],
    ids=["type", "list", "number", "length", "entry", "read-only"],
)
def test_what_does_not_fit(position: int, value: Any, message: str, tmp_path: Path) -> None:
    given, _ = arguments()
    given[position] = value
    with pytest.raises(ArgumentError) as raised:
        xtile.run(kernel(tmp_path, "memref<2x!core.ptr<f32>>"), given)
    assert message in str(raised.value)


def test_what_is_read_only_may_be_read(tmp_path: Path) -> None:
    given, expected = arguments()
    given[0] = _read_only(given[0])
    xtile.run(kernel(tmp_path, "memref<2x!core.ptr<f32>>"), given)
    np.testing.assert_array_equal(given[3], expected)
