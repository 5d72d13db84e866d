"""What reaches a kernel, by value: a fake driver calls Python functions with the parameters."""

from __future__ import annotations

import ctypes
import struct
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.backends.nvidia.fake_gpu import STORE, Gpu, address_of, floats
from tests.backends.nvidia.gpu_arrays import Interface, random
from xtile.launch import ArgumentError, LaunchResult
from xtile.launch.gpu_prepared import prepare


def number(format: str, bits: int, size: int) -> Any:
    (value,) = struct.unpack(format, bits.to_bytes(size, "little"))
    return value


class TestScalars:
    def test_each_type(self, gpu: Gpu) -> None:
        types = ("i8", "i16", "i32", "i64", "index", "bf16", "f16", "f32", "f64")
        parameters = ", ".join(f"%p{index}: {type}" for index, type in enumerate(types))
        gpu.make(parameters, [1, 2, 4, 8, 8, 2, 2, 4, 8])
        gpu.run(-1, -2, -3, -4, 5, 1.5, -0.25, 0.1, 0.1)
        ((i8, i16, i32, i64, index, bf16, f16, f32, f64),) = gpu.seen
        assert (i8, i16, i32, i64, index) == (2**8 - 1, 2**16 - 2, 2**32 - 3, 2**64 - 4, 5)
        assert bf16 == int(np.array(1.5, ml_dtypes.bfloat16).view(np.uint16))
        assert number("<e", f16, 2) == -0.25
        assert number("<f", f32, 4) == np.float32(0.1)
        assert number("<d", f64, 8) == 0.1

    def test_a_complex_number_is_two(self, gpu: Gpu) -> None:
        gpu.make("%a: c32, %b: c64", [4, 4, 8, 8])
        gpu.run(1 + 2j, -3 + 0.1j)
        ((real32, imaginary32, real64, imaginary64),) = gpu.seen
        assert (number("<f", real32, 4), number("<f", imaginary32, 4)) == (1, 2)
        assert (number("<d", real64, 8), number("<d", imaginary64, 8)) == (-3, 0.1)

    def test_no_parameters(self, gpu: Gpu) -> None:
        gpu.make("", [])
        gpu.run()
        assert gpu.seen == [()]

    def test_the_grid(self, gpu: Gpu) -> None:
        gpu.make("%a: i32", [4])
        result = gpu.run(7, grid=(4, 3, 2))
        assert gpu.api.launches == [((4, 3, 2), 0)]
        assert gpu.seen == [(7,)] * 24
        assert result == LaunchResult("sm_90 (Fake H200)", 0.0015)


class TestMemoryOfTheHost:
    def test_sizes_and_strides(self, gpu: Gpu) -> None:
        # A pointer, two sizes and a stride, as the first is 1.
        gpu.make("%A: memref<f32x?x?>", [8, 8, 8, 8])
        array = random(20, 30)[:5, ::2]
        gpu.run(array)
        ((_, *numbers),) = gpu.seen
        assert numbers == [5, 15, 40]

    def test_static_sizes_are_no_parameters(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x4x8>", [8])
        gpu.run(random(4, 8))
        assert len(gpu.seen[0]) == 1

    def test_what_is_written_comes_back(self, gpu: Gpu) -> None:
        def body(a: int, n: int, b: int, m: int) -> None:
            floats(b, m)[:] = 2 * floats(a, n)
            floats(a, n)[:] = -1

        gpu.make("%A: memref<f32x?>, %B: memref<f32x?>", [8] * 4, body, STORE)
        a, b = random(100), np.full(100, np.nan, np.float32)
        before = a.copy()
        gpu.run(a, b)
        assert np.array_equal(b, 2 * before)
        # The kernel does not say that it writes to it.
        assert np.array_equal(a, before)
        assert gpu.api.calls.count("cuMemcpyHtoD") == 2
        assert gpu.api.calls.count("cuMemcpyDtoH") == 1

    def test_overlapping_views_stay_one_memory(self, gpu: Gpu) -> None:
        def body(a: int, n: int, b: int, m: int) -> None:
            floats(b, m)[:] = 5
            assert (floats(a, n)[20:] == 5).all()

        parameters = "%A: memref<f32x?>, %B: memref<f32x?>"
        gpu.make(parameters, [8] * 4, body, STORE, may_overlap=True)
        storage = random(100)
        before = storage.copy()
        gpu.run(storage[10:40], storage[30:60])
        ((a, _, b, _),) = gpu.seen
        assert b - a == 20 * 4
        assert (storage[30:60] == 5).all()
        assert np.array_equal(storage[:30], before[:30])
        assert np.array_equal(storage[60:], before[60:])
        assert gpu.api.calls.count("cuMemAlloc") == 1

    def test_a_promised_alignment(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?> {alignment=256}", [8, 8])
        gpu.run(random(100)[1:])
        assert gpu.seen[0][0] % 256 == 0

    def test_null_and_empty(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?x?>, %B: memref<f32x?>", [8] * 6)
        gpu.run(None, random(0))
        assert gpu.seen[0][:4] == (0, 0, 0, 1)
        assert gpu.seen[0][5] == 0


class TestGroups:
    def test_pointers(self, gpu: Gpu) -> None:
        def body(pointers: int, sizes: int, count: int, offset: int) -> None:
            addresses = (ctypes.c_uint64 * count).from_address(pointers)
            lengths = (ctypes.c_int64 * count).from_address(sizes)
            assert (count, offset) == (3, 0)
            for address, length, array in zip(addresses, lengths, arrays, strict=True):
                assert np.array_equal(floats(address, length), array)

        gpu.make("%G: group<memref<f32x?>x?, offset: ?>", [8] * 4, body)
        arrays = [random(n) for n in (3, 5, 4)]
        gpu.run(arrays)
        assert len(gpu.seen) == 1

    def test_one_array_of_the_gpu(self, gpu: Gpu) -> None:
        storage = random(4, 6, 10)
        gpu.make("%G: group<memref<f32x4x6>x?>", [8, 8])
        addresses: list[int] = []

        def body(block: Any, pointers: int, count: int) -> None:
            addresses.extend((ctypes.c_uint64 * count).from_address(pointers))

        gpu.api.kernels["k"].body = body
        gpu.run(Interface(storage))
        first = address_of(storage)
        assert addresses == [first + 96 * index for index in range(10)]

    def test_arrays_of_the_gpu_and_of_the_host(self, gpu: Gpu) -> None:
        def body(pointers: int, count: int) -> None:
            addresses = (ctypes.c_uint64 * count).from_address(pointers)
            assert addresses[0] == address_of(there)
            assert addresses[1] == 0
            assert np.array_equal(floats(addresses[2], 4), here)

        gpu.make("%G: group<memref<f32x4>x?>", [8, 8], body)
        there, here = random(4), random(4)
        gpu.run([Interface(there), None, here])
        assert len(gpu.seen) == 1

    def test_null(self, gpu: Gpu) -> None:
        gpu.make("%G: group<memref<f32x?>x?>", [8, 8, 8])
        gpu.run(None)
        assert gpu.seen == [(0, 0, 0)]

    def test_a_stack_of_the_wrong_order(self, gpu: Gpu) -> None:
        gpu.make("%G: group<memref<f32x4x6>x?>", [8, 8])
        with pytest.raises(ArgumentError, match=r"whose last mode counts the entries, given shape"):
            gpu.run(Interface(random(4, 6)))


class TestPreparedLaunches:
    def test_it_is_repeated_without_waiting(self, gpu: Gpu) -> None:
        gpu.make("%a: f32, %A: memref<f32x?>", [4, 8, 8])
        array = random(4)
        launch = prepare(gpu.path, [1.0, Interface(array)], (2, 1, 1))
        assert not gpu.seen
        launch.enqueue()
        launch.enqueue(99)
        assert gpu.api.launches == [((2, 1, 1), 0), ((2, 1, 1), 99)]
        assert set(gpu.seen) == {(0x3F800000, address_of(array), 4)}
        assert "cuEventSynchronize" not in gpu.api.calls

    def test_pointers_live_as_long_as_it(self, gpu: Gpu) -> None:
        gpu.make("%G: group<memref<f32x4>x?>", [8, 8])
        launch = prepare(gpu.path, [Interface(random(4, 3))])
        assert len(gpu.api.live) == 1
        launch.enqueue()
        del launch
        assert not gpu.api.live

    def test_memory_of_the_host(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        with pytest.raises(ArgumentError, match="takes arrays on the GPU only"):
            prepare(gpu.path, [random(4)])

    def test_another_device(self, gpu: Gpu) -> None:
        gpu.make("", [])
        with pytest.raises(ArgumentError, match="expected the name of a GPU or an architecture"):
            prepare(gpu.path, [], device="opencl")


def test_threads(gpu: Gpu) -> None:
    def body(a: int, n: int, b: int, m: int) -> None:
        floats(b, m)[:] = 2 * floats(a, n)

    gpu.make("%A: memref<f32x?>, %B: memref<f32x?>", [8] * 4, body, STORE)
    wrong: list[int] = []

    def work(seed: int) -> None:
        generator = np.random.default_rng(seed)
        for size in range(1, 30):
            a, b = generator.random(size, np.float32), np.full(size, np.nan, np.float32)
            gpu.run(a, b)
            if not np.array_equal(b, 2 * a):
                wrong.append(size)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(gpu.seen) == 4 * 29
    assert gpu.api.calls.count("cuModuleLoadData") == 1
