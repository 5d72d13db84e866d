"""Pointers and lists of arrays as parameters of compiled kernels of the core form."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from tests.backends.nvidia.fake_gpu import Gpu, address_of
from tests.backends.nvidia.gpu_arrays import Interface, random

KERNEL = """
gpu.module @m {
  gpu.func @k(%x: !core.ptr<f32>, %t: memref<?x!core.ptr<f32>>, %n: index, %o: !core.ptr<f32>,
              %q: !core.ptr<!core.ptr<f32>>) kernel attributes {core.level = "tile"} {
    %zero = arith.constant 0.0 : f32
    core.scatter_store %zero, %o : f32, !core.ptr<f32>
    gpu.return
  }
}
"""


def words_at(address: int, count: int) -> list[int]:
    return list((ctypes.c_int64 * count).from_address(address))


def test_what_a_kernel_gets(gpu: Gpu) -> None:
    lists: list[Any] = []

    def body(x: int, table: int, length: int, n: int, out: int, pointers: int) -> None:
        lists.append(words_at(table, length))
        lists.append(words_at(pointers, 1))
        ctypes.c_float.from_address(out).value = 7.0

    gpu.make_of(KERNEL, "mlir", [8] * 6, body)
    x, row, on_host = random(20), random(3), np.zeros(4, np.float32)
    gpu.run(Interface(x), [Interface(row), None], 5, on_host, [Interface(x)])
    ((seen_x, _, length, n, out, _),) = gpu.seen
    assert (seen_x, length, n) == (address_of(x), 2, 5)
    assert lists == [[address_of(row), 0], [address_of(x)]]
    # What the kernel writes of the host's memory comes back.
    assert out != address_of(on_host)
    assert on_host.tolist() == [7.0, 0.0, 0.0, 0.0]
