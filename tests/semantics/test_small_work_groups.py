"""Work-groups that are smaller than a subgroup: the lanes that they lack are no work-items."""

from __future__ import annotations

import numpy as np
import pytest

import xtile

WAITS = """
gpu.module @m {
  gpu.func @fill(%A: memref<?xi32>) kernel {
    %i = gpu.thread_id x
    %n = arith.index_cast %i : index to i32
    memref.store %n, %A[%i] : memref<?xi32>
    gpu.barrier
    gpu.return
  }
}
"""


@pytest.mark.parametrize("size", [1, 5, 16, 17])
def test_all_work_items_reach_the_barrier(size: int) -> None:
    filled = np.full(size, -1, np.int32)
    xtile.run(WAITS, [filled], block=(size, 1, 1), device="reference", sanitize=True)
    np.testing.assert_array_equal(filled, np.arange(size))
