"""Launches that are repeated with other arrays of the same layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.nvidia.fake_gpu import STORE, Gpu, address_of
from tests.backends.nvidia.gpu_arrays import Dlpack, Interface, Tensor, install_torch, random
from xtile.launch import ArgumentError
from xtile.launch import gpu as gpu_module


@pytest.fixture(name="checks", autouse=True)
def count_checks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that arguments are checked."""
    install_torch(monkeypatch)
    checks: list[int] = []
    bind: Callable[..., Any] = gpu_module.bind

    def counted(*arguments: Any) -> Any:
        checks.append(1)
        return bind(*arguments)

    monkeypatch.setattr(gpu_module, "bind", counted)
    return checks


@pytest.mark.parametrize("kind", [Interface, Tensor])
def test_other_arrays_are_not_checked(gpu: Gpu, checks: list[int], kind: Any) -> None:
    gpu.make("%a: f32, %A: memref<f32x?x?>, %c: c32", [4, 8, 8, 8, 8, 4, 4])
    arrays = [random(20, 6)[:5] for _ in range(3)]
    for number, array in enumerate(arrays):
        gpu.run(number, kind(array), number + 1j)
    assert len(checks) == 1
    bits = [0, 0x3F800000, 0x40000000]
    assert gpu.seen == [
        (bits[i], address_of(array), 5, 6, 20, bits[i], 0x3F800000)
        for i, array in enumerate(arrays)
    ]


@pytest.mark.parametrize(
    "array",
    [random(5, 6), random(20, 6)[:4], random(20, 7)[:5], random(6, 20)[:5, ::3]],
)
def test_another_layout_is_checked(gpu: Gpu, checks: list[int], array: Any) -> None:
    gpu.make("%A: memref<f32x?x?>", [8] * 4)
    gpu.run(Tensor(random(20, 6)[:5]))
    gpu.run(Tensor(array))
    assert len(checks) == 2
    strides = array.strides[1] // 4
    assert gpu.seen[1] == (address_of(array), *array.shape, strides)
    # Both are known now.
    gpu.run(Tensor(random(20, 6)[:5]))
    gpu.run(Tensor(array))
    assert len(checks) == 2


def test_by_name(gpu: Gpu, checks: list[int]) -> None:
    gpu.make("%a: i32, %A: memref<f32x?>", [4, 8, 8])
    array = random(4)
    xtile.run(gpu.path, {"A": Tensor(array), "a": 3}, device="cuda")
    xtile.run(gpu.path, {"a": 4, "A": Tensor(array)}, device="cuda")
    xtile.run(gpu.path, [5, Tensor(array)], device="cuda")
    assert gpu.seen == [(number, address_of(array), 4) for number in (3, 4, 5)]
    assert len(checks) == 1
    for wrong in ({"a": 1}, {"a": 1, "B": Tensor(array)}, [1]):
        with pytest.raises(ArgumentError):
            xtile.run(gpu.path, wrong, device="cuda")


def test_another_type(gpu: Gpu) -> None:
    gpu.make("%A: memref<f32x?>", [8, 8])
    gpu.run(Tensor(random(4)))
    for value in (Tensor(np.zeros(4, np.int32)), Interface(np.zeros(4, np.float64))):
        with pytest.raises(ArgumentError, match="expected elements of type float32"):
            gpu.run(value)


def test_a_number_that_does_not_fit(gpu: Gpu) -> None:
    gpu.make("%a: i8", [1])
    gpu.run(5)
    with pytest.raises(ArgumentError, match="expected an integer from -128 to 127, given 128"):
        gpu.run(128)
    with pytest.raises(ArgumentError, match=r"expected an integer, given the float 0\.5"):
        gpu.run(0.5)
    assert gpu.seen == [(5,)]


def test_an_address_that_is_not_aligned(gpu: Gpu) -> None:
    gpu.make("%A: memref<f32x?> {alignment=16}", [8, 8])
    storage = random(100)
    first = (-address_of(storage) % 16) // 4
    gpu.run(Tensor(storage[first : first + 8]))
    with pytest.raises(ArgumentError, match="a multiple of alignment=16, as the kernel promises"):
        gpu.run(Tensor(storage[first + 1 : first + 9]))


def test_what_is_written_must_be_writable(gpu: Gpu) -> None:
    gpu.make("%B: memref<f32x?>", [8, 8], store=STORE)
    array = random(4)
    gpu.run(Interface(array))
    array.flags.writeable = False
    with pytest.raises(ArgumentError, match="read-only"):
        gpu.run(Interface(array))


def test_streams_are_waited_for(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.make("%A: memref<f32x?>, %B: memref<f32x?>", [8] * 4)
    for stream in (0, 77, 88):
        install_torch(monkeypatch, stream)
        gpu.run(Tensor(random(4)), Interface(random(4), stream=55))
    assert gpu.api.waits == [(0, 55), (0, 55), (0, 77), (0, 55), (0, 88)]


def test_the_grid_is_checked(gpu: Gpu) -> None:
    gpu.make("%a: i8", [1])
    gpu.run(5, grid=(2, 3))
    gpu.run(5, grid=4)
    assert [grid for grid, _ in gpu.api.launches] == [(2, 3, 1), (4, 1, 1)]
    with pytest.raises(ArgumentError, match="tile blocks in z"):
        gpu.run(5, grid=(1, 1, 2**16))


@pytest.mark.parametrize("kind", [Dlpack, lambda array: array])
def test_other_memory_is_checked_each_time(gpu: Gpu, checks: list[int], kind: Any) -> None:
    gpu.make("%A: memref<f32x?>", [8, 8])
    for _ in range(2):
        gpu.run(kind(random(4)))
    assert len(checks) == 2


def test_null_is_checked_each_time(gpu: Gpu, checks: list[int]) -> None:
    gpu.make("%A: memref<f32x?>", [8, 8])
    gpu.run(None)
    gpu.run(Tensor(random(4)))
    gpu.run(None)
    assert [values[0] == 0 for values in gpu.seen] == [True, False, True]


def test_a_broken_promise(gpu: Gpu) -> None:
    gpu.make("%A: memref<f32x?> {shape_gcd=[4]}", [8, 8])
    gpu.run(Tensor(random(8)))
    with pytest.raises(ArgumentError, match="expected sizes divisible by shape_gcd"):
        gpu.run(Tensor(random(9)))
