"""Stores past the caches: where there are some, and that they store what others do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator

KERNEL = """\
module attributes {{gpu.container_module}} {{
  gpu.module @kernels {{
    gpu.func @f(%x: {memory}, %y: {memory}, %n: memref<1xi32>, %q: !core.ptr<i32>) kernel
        attributes {{core.level = "tile", known_block_size = array<i32: 1, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : i32
      %c24 = arith.constant 24 : index
      %i = gpu.block_id x
      %j = arith.muli %i, %c24 : index
      %p = arith.constant 0.0 : {type}
      %v = vector.transfer_read %x[%c0, %j], %p {{in_bounds = [false, false]}}
        : {memory}, vector<3x24x{type}>
      %w = arith.addf %v, %v : vector<3x24x{type}>
      vector.transfer_write %w, %y[%c0, %j] {{in_bounds = [false, false]}}
        : vector<3x24x{type}>, {memory}
      {other}
      gpu.return
    }}
  }}
}}
"""


def _text(memory: str = "memref<?x?xf32>", type: str = "f32", other: str = "") -> str:
    return KERNEL.format(memory=memory, type=type, other=other)


def _stores(text: str) -> tuple[int, int]:
    """How many stores of vectors to `%y` go past the caches, and how many do not."""
    module = xtile.translate(xtile.parse(text, language="mlir"), "lane", chip="cpu-avx2")
    lines = [line for line in xtile.to_text(module, "mlir").splitlines() if "vector.store" in line]
    own = [line for line in lines if ", %y[" in line]
    streamed = sum("{core.alignment = 16 : i64, nontemporal = true}" in line for line in own)
    assert sum("nontemporal" in line for line in lines) == streamed
    return streamed, len(own) - streamed


def test_rows_of_large_memory_are_stored_past_the_caches() -> None:
    streamed, others = _stores(_text())
    assert streamed == others - 3 == 3


@pytest.mark.parametrize(
    "text",
    [
        _text("memref<3x1000xf32>"),
        _text("memref<?x?xf32, strided<[?, 2]>>"),
        _text(other="memref.atomic_rmw addi %c1, %n[%c0] : (i32, memref<1xi32>) -> i32"),
        _text(other="core.scatter_store release device %c1, %q : i32, !core.ptr<i32>"),
    ],
    ids=["small", "strided", "atomic", "release"],
)
def test_others_are_not(text: str) -> None:
    assert _stores(text)[0] == 0


@pytest.mark.parametrize(
    ("type", "shift", "pitch"),
    [("f32", 0, 0), ("f32", 1, 0), ("f32", 4, 1), ("f16", 0, 0), ("f16", 8, 1)],
)
def test_they_store_the_same(type: str, shift: int, pitch: int) -> None:
    """Wherever memory and its rows begin."""
    dtype: Any = np.dtype({"f32": np.float32, "f16": np.float16}[type])
    columns = (32 << 20) // (3 * dtype.itemsize) + 100
    row = fresh_generator().standard_normal(columns).astype(dtype)
    x = np.stack([row, -row, row[::-1]])
    whole = np.full(3 * (columns + pitch) + 128, np.nan, dtype)
    first = -(whole.ctypes.data // dtype.itemsize) % 64 + shift
    strided = whole[first : first + 3 * (columns + pitch)].reshape(3, columns + pitch)
    y = strided[:, :columns]
    text = _text(f"memref<?x?x{type}, strided<[?, 1]>>", type)
    xtile.run(
        xtile.parse(text, language="mlir"),
        [x, y, *np.zeros((2, 1), np.int32)],
        (-(-columns // 24), 1, 1),
        device="opencl",
    )
    assert np.array_equal(y, x + x)
    assert np.isnan(whole[:first]).all()
    assert np.isnan(strided[:, columns:]).all()
