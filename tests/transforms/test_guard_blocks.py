"""Tile blocks that write nothing, because their tiles lie beyond the end of memory."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.transforms.guard_blocks import guard_blocks
from xtile.translate.route import Options, translate

KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?xf32>) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %i = arith.muli %x, %c8 : index
    %j = arith.muli %y, %c8 : index
    %none = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%i, %j], %none : memref<?x?xf32>, vector<8x8xf32>
    %w = arith.addf %v, %v : vector<8x8xf32>
    {more}
    vector.transfer_write %w, %b[%i, %j] {{in_bounds = {flags}}}
        : vector<8x8xf32>, memref<?x?xf32>
    gpu.return
  }}
}}
"""

SECOND = """vector.transfer_write %w, %b[%i, %c0] {in_bounds = [false, true]}
        : vector<8x8xf32>, memref<?x?xf32>"""
STORE = "memref.store %none, %c[%i] : memref<?xf32>"
BRANCH = """%is_first = arith.cmpi eq, %x, %c0 : index
    scf.if %is_first {
      vector.transfer_write %v, %b[%i, %j] : vector<8x8xf32>, memref<?x?xf32>
    }"""


@pytest.mark.parametrize(
    ("more", "flags", "compared"),
    [
        ("", "[false, false]", 2),
        ("", "[true, false]", 1),
        ("", "[true, true]", 0),
        (SECOND, "[false, false]", 1),
        (BRANCH, "[false, false]", 2),
        (STORE, "[false, false]", 0),
    ],
    ids=["both", "one", "inside", "in common", "in a branch", "other writes"],
)
def test_blocks(more: str, flags: str, compared: int) -> None:
    """Values stay the same, and conditions are those of all writes."""
    module = xtile.parse(KERNEL.format(more=more, flags=flags), language="mlir")
    guarded = guard_blocks(module)
    assert xtile.to_text(guarded, "mlir").count("arith.cmpi slt") == compared
    rows, columns = (16, 16) if "true" in flags else (13, 11)
    a = fresh_generator().standard_normal((rows, columns), np.float32)
    grid = (2, 2) if "true" in flags else (4, 3)
    results: list[tuple[np.ndarray, np.ndarray]] = []
    for each in (module, guarded):
        b, c = np.full_like(a, np.nan), np.full(4 * 8, np.nan, np.float32)
        xtile.run(each, (a, b, c), grid=grid)
        results.append((b, c))
    for was, becomes in zip(*results, strict=True):
        np.testing.assert_array_equal(becomes, was)
    assert not np.isnan(results[0][0]).any()


def test_tiles_become_views() -> None:
    """Behind the comparison tiles begin inside, so that CUDA Tile IR has views for them."""
    module = xtile.parse(KERNEL.format(more="", flags="[false, false]"), language="mlir")
    text = xtile.to_text(translate(module, "tile-to-cuda_tile", Options("sm_90")), "mlir")
    assert "load_view_tko" in text
    assert "store_view_tko" in text
    assert "ptr_tko" not in text
