"""Entries of CUDA Tile IR: each of their parameters is one of the machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeKernel, installed
from tests.backends.nvidia.fake_gpu import address_of, floats
from tests.backends.nvidia.gpu_arrays import Interface, Tensor, install_torch, random
from xtile.launch import ArgumentError

SCALE = """
cuda_tile.module @kernels {
  entry @scale(%p: tile<ptr<f32>>, %n: tile<i32>, %a: tile<f32>) {
    %token = make_token : token
    %v = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> tensor_view<?xf32, strides=[1]>
    %x, %y, %z = get_tile_block_id : tile<i32>
    %w = make_partition_view %v : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>
    %t, %read = load_view_tko weak %w[%x] token = %token : partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> tile<16xf32>, token
    %r = addf %t, %t : tile<16xf32>
    %written = store_view_tko weak %r, %w[%x] token = %read : tile<16xf32>, partition_view<tile=(16), tensor_view<?xf32, strides=[1]>>, tile<i32> -> token
    return
  }
}
"""  # noqa: E501

POINTERS = """
cuda_tile.module @kernels {
  entry @follow(%p: tile<ptr<i64>>, %b: tile<i1>, %h: tile<f16>) {
    return
  }
}
"""

Launch = Callable[..., Any]


@pytest.fixture(name="api")
def fake_api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeApi]:
    install_torch(monkeypatch)
    api = FakeApi()
    with installed(monkeypatch, api):
        yield api
    assert not api.live


def doubled(block: Any, address: int, count: int, factor: int) -> None:
    floats(address, count)[:] *= 2


def test_a_copy_of_an_array_of_any_shape(api: FakeApi) -> None:
    api.kernels = {"scale": FakeKernel([8, 4, 4], doubled)}
    array = random(3, 5)
    before = array.copy()
    xtile.run(SCALE, [array, array.size, 1.0], device="cuda")
    assert np.array_equal(array, 2 * before)
    assert api.calls.count("cuMemcpyDtoH") == 1


@pytest.mark.parametrize("kind", [Interface, Tensor])
def test_an_array_of_the_gpu(api: FakeApi, kind: Any) -> None:
    seen: list[tuple[int, ...]] = []
    api.kernels = {"scale": FakeKernel([8, 4, 4], lambda block, *values: seen.append(values))}
    for array in (random(3, 5), random(4, 4)[:, 1:]):
        for _ in range(2):
            xtile.run(SCALE, [kind(array), 7, 1.0], device="cuda")
            assert seen.pop() == (address_of(array), 7, 0x3F800000)
    with pytest.raises(ArgumentError, match="expected elements of type float32, given float64"):
        xtile.run(SCALE, [kind(np.zeros(4)), 7, 1.0], device="cuda")


def test_a_list_of_arrays_and_numbers(api: FakeApi) -> None:
    there, here = random(4), random(6)

    def follow(block: Any, pointer: int, truth: int, half: int) -> None:
        words = (ctypes.c_int64 * 4).from_address(pointer)
        assert words[0] == address_of(there)
        assert np.array_equal(floats(words[1], 6), here)
        assert list(words[2:]) == [-5, 0]
        assert (truth, half) == (1, 0x3C00)

    api.kernels = {"follow": FakeKernel([8, 1, 2], follow)}
    xtile.run(POINTERS, [[Interface(there), here, -5, None], True, 1.0], device="cuda")
    assert len(api.launches) == 1


def test_null(api: FakeApi) -> None:
    seen: list[tuple[int, ...]] = []
    api.kernels = {"follow": FakeKernel([8, 1, 2], lambda block, *values: seen.append(values))}
    for null in (None, 0):
        xtile.run(POINTERS, [null, False, 0.0], device="cuda")
    assert seen == [(0, 0, 0)] * 2
