"""What a driver refuses, and what GPUs there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import xtile
from tests.backends.nvidia.fake_driver import ILLEGAL_ADDRESS, FakeApi, FakeGpu, installed
from tests.backends.nvidia.fake_gpu import Gpu
from tests.backends.nvidia.gpu_arrays import Interface, random
from xtile.launch import ArgumentError, DeviceError


class TestSeveralGpus:
    @pytest.fixture(name="gpu")
    def three_gpus(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gpu]:
        gpus = (FakeGpu("Old", (7, 5)), FakeGpu("A100", (8, 0)), FakeGpu("H200", (9, 0)))
        api = FakeApi(gpus)
        with installed(monkeypatch, api):
            yield Gpu(tmp_path, api)

    def test_by_number(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        assert gpu.run(random(3), device="cuda:2").device == "sm_90 (H200)"

    def test_by_architecture(self, gpu: Gpu) -> None:
        gpu.make("", [])
        assert gpu.run(device="sm_90").device == "sm_90 (H200)"

    def test_the_first_cannot_run_it(self, gpu: Gpu) -> None:
        gpu.make("", [])
        with pytest.raises(ArgumentError) as raised:
            gpu.run()
        assert (
            str(raised.value)
            == "the cubin is for sm_90, which the device sm_80 (A100) does not run"
        )

    @pytest.mark.parametrize(
        ("device", "which"), [("cuda:0", "with the number 0"), ("sm_120", "for sm_120")]
    )
    def test_none_that_fits(self, gpu: Gpu, device: str, which: str) -> None:
        gpu.make("", [])
        with pytest.raises(DeviceError) as raised:
            gpu.run(device=device)
        assert str(raised.value) == (
            f"there is no NVIDIA GPU {which} here that kernels run on; there is 0: cuda (Old), "
            "1: sm_80 (A100), 2: sm_90 (H200); the cubin is for sm_90"
        )

    def test_memory_of_another_gpu(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        with pytest.raises(ArgumentError) as raised:
            gpu.run(Interface(random(4), ordinal=1), device="cuda:2")
        assert str(raised.value) == (
            "an array lies on CUDA GPU 1, but the kernel runs on GPU 2; launch it with "
            "device='cuda:1'"
        )


class TestFailures:
    def test_an_illegal_access(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        gpu.api.failures["cuEventSynchronize"] = ILLEGAL_ADDRESS
        with pytest.raises(DeviceError) as raised:
            gpu.run(random(4))
        assert str(raised.value) == (
            "the device sm_90 (Fake H200) failed to run @k: cuEventSynchronize: "
            "CUDA_ERROR_ILLEGAL_ADDRESS: what the driver says; the kernel may access memory that "
            "is not its own, which `--device reference --sanitize` shows; this process can use the "
            "GPU no more"
        )

    def test_too_little_memory(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        gpu.api.failures["cuMemcpyHtoD"] = 2
        with pytest.raises(DeviceError) as raised:
            gpu.run(random(4))
        assert str(raised.value) == (
            "the device sm_90 (Fake H200) failed to run @k: cuMemcpyHtoD: "
            "CUDA_ERROR_OUT_OF_MEMORY: what the driver says"
        )

    def test_a_cubin_that_is_not_loaded(self, gpu: Gpu) -> None:
        gpu.make("", [])
        gpu.api.failures["cuModuleLoadData"] = 209
        with pytest.raises(DeviceError, match=r"\(Fake H200\) does not load: .*NO_BINARY_FOR_GPU"):
            gpu.run()

    def test_a_kernel_that_is_not_there(self, gpu: Gpu) -> None:
        gpu.make("", [])
        gpu.api.kernels = {}
        with pytest.raises(DeviceError, match=r"the cubin has no kernel @k: .*ERROR_NOT_FOUND"):
            gpu.run()

    def test_other_parameters(self, gpu: Gpu) -> None:
        gpu.make("%a: f32, %b: f64", [4, 4])
        with pytest.raises(DeviceError) as raised:
            gpu.run(1, 2)
        assert str(raised.value) == (
            "the kernel @k of the cubin has parameters of 4, 4 bytes, but by its signature they "
            "have 4, 8 bytes"
        )

    @pytest.mark.parametrize(
        ("grid", "mode", "most"),
        [((2**24, 1, 1), "x", 2**24 - 1), ((1, 2**16, 1), "y", 65535), ((1, 1, 2**16), "z", 65535)],
    )
    def test_too_large_a_grid(self, gpu: Gpu, grid: Any, mode: str, most: int) -> None:
        gpu.make("", [])
        with pytest.raises(ArgumentError) as raised:
            gpu.run(grid=grid)
        assert str(raised.value) == (
            f"the grid of @k has {most + 1} tile blocks in {mode}, but a launch on a CUDA GPU can "
            f"have {most}"
        )

    def test_a_block(self, gpu: Gpu) -> None:
        gpu.make("", [])
        with pytest.raises(ArgumentError, match="runs as tile blocks, which have no work-items"):
            xtile.run(gpu.path, [], device="cuda", block=(32, 1, 1))

    def test_a_cubin_is_loaded_once(self, gpu: Gpu) -> None:
        gpu.make("", [])
        for _ in range(3):
            gpu.run()
        assert gpu.api.calls.count("cuModuleLoadData") == 1
        assert gpu.api.calls.count("cuLaunchKernel") == 3
        gpu.make("%a: i8", [1])
        gpu.run(1)
        assert gpu.api.calls.count("cuModuleLoadData") == 2
