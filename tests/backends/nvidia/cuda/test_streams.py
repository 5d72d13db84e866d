"""Launches in a caller's stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeGpu, installed
from tests.backends.nvidia.fake_gpu import Gpu
from tests.backends.nvidia.gpu_arrays import (
    CupyStream,
    Dlpack,
    Interface,
    Tensor,
    TorchStream,
    install_torch,
    random,
)
from xtile.launch import ArgumentError


@pytest.fixture(name="gpu")
def two_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
    install_torch(monkeypatch, stream=77)
    api = FakeApi((FakeGpu("First"), FakeGpu("Second")))
    with installed(monkeypatch, api):
        yield Gpu(tmp_path, api)


@pytest.mark.parametrize("kind", [TorchStream, CupyStream])
def test_the_kernel_runs_in_it(gpu: Gpu, kind: Any) -> None:
    gpu.make("%a: i8", [1])
    for ordinal, name in enumerate(("First", "Second")):
        for _ in range(2):
            result = gpu.run(1, device=kind(99, ordinal))
            assert result.device == f"sm_90 ({name})"
    assert gpu.api.launches == [((1, 1, 1), 99)] * 4


def test_the_null_stream_of_cupy_belongs_to_no_gpu(gpu: Gpu) -> None:
    gpu.make("%a: i8", [1])
    assert gpu.run(1, device=CupyStream(0, -1)).device == "sm_90 (First)"
    assert gpu.api.launches == [((1, 1, 1), 0)]


def test_what_is_waited_for(gpu: Gpu) -> None:
    gpu.make("%A: memref<f32x?>, %B: memref<f32x?>", [8] * 4)
    # Copies of the host's arrays arrive in the default stream.
    gpu.run(random(4), random(4), device=TorchStream(99))
    assert gpu.api.waits == [(99, 0)]
    gpu.api.waits.clear()
    for _ in range(2):
        gpu.run(Tensor(random(4)), Interface(random(4), stream=99), device=TorchStream(99))
    assert gpu.api.waits == [(99, 0), (99, 77), (99, 77)]
    gpu.api.waits.clear()
    gpu.run(Tensor(random(4)), Dlpack(random(4)), device=TorchStream(77))
    assert gpu.api.waits == [(77, 0)]


@pytest.mark.parametrize("device", [5, object(), Tensor(random(4))])
def test_what_is_no_stream(device: Any) -> None:
    with pytest.raises(ArgumentError) as raised:
        xtile.run("func @f() {\n}\n", [], device=device)
    assert str(raised.value) == (
        "expected the name of a device, a pyopencl.CommandQueue or a CUDA stream of torch or CuPy, "
        f"given {device!r}"
    )
