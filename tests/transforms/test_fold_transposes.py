"""Tiles that are read transposed, because they are only used so."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.transforms.fold_transposes import fold_transposes

KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<40x6x24xf32>, %b: memref<32x16xf32>, %c: memref<16x32xf32>) kernel
      attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c12 = arith.constant 12 : index
    %none = arith.constant 7.0 : f32
    %x = vector.transfer_read %a[%c12, %c5, %c12], %none {{in_bounds = [false, {inside}],
        permutation_map = affine_map<(d0, d1, d2) -> (d0, d2)>}}
        : memref<40x6x24xf32>, vector<32x16xf32>
    %y = vector.transpose %x, [1, 0] : vector<32x16xf32> to vector<16x32xf32>
    %z = arith.addf %y, %y : vector<16x32xf32>
    vector.transfer_write %z, %c[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<16x32xf32>, memref<16x32xf32>
    {more}
    gpu.return
  }}
}}
"""

KEPT = """vector.transfer_write %x, %b[%c0, %c0] {in_bounds = [true, true]}
        : vector<32x16xf32>, memref<32x16xf32>"""


@pytest.mark.parametrize("more", ["", KEPT])
def test_values(more: str) -> None:
    module = xtile.parse(KERNEL.format(inside="false", more=more), language="mlir")
    folded = fold_transposes(module)
    assert (folded is module) == bool(more)
    a = fresh_generator().standard_normal((40, 6, 24), np.float32)
    b, c = np.full((32, 16), np.nan, np.float32), np.full((16, 32), np.nan, np.float32)
    xtile.run(folded, (a, b, c), 1)
    expected = np.full((32, 16), 7, np.float32)
    expected[:28, :12] = a[12:, 5, 12:]
    np.testing.assert_array_equal(c, 2 * expected.T)
    assert np.isnan(b).all() == (not more)


def test_text() -> None:
    module = xtile.parse(KERNEL.format(inside="true", more=""), language="mlir")
    text = xtile.to_text(fold_transposes(module), "mlir")
    assert "vector.transpose" not in text
    assert "affine_map<(d0, d1, d2) -> (d2, d0)>" in text
    assert "{in_bounds = [true, false], permutation_map = " in text
