"""What a driver refuses, and what GPUs there are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr, i8

import xtile
from tests.backends.nvidia.fake_driver import (
    ILLEGAL_ADDRESS,
    FakeApi,
    FakeGpu,
    forget,
    installed,
)
from tests.backends.nvidia.fake_gpu import CODE, Gpu
from tests.backends.nvidia.gpu_arrays import Interface, random
from xtile.arguments.signature import Parameter, Signature
from xtile.backends.machine_code import KernelInterface, MachineCode
from xtile.backends.sidecar import write_machine_code
from xtile.launch import ArgumentError, DeviceArray, DeviceError


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

    def test_the_first_that_runs_it(self, gpu: Gpu) -> None:
        gpu.make("", [])
        assert gpu.run().device == "sm_90 (H200)"
        gpu.api.gpus = gpu.api.gpus[:2]
        forget()
        with pytest.raises(DeviceError) as raised:
            gpu.run()
        assert str(raised.value) == (
            "there is no NVIDIA GPU for sm_90 here that kernels run on; there is 0: cuda (Old), "
            "1: sm_80 (A100); the cubin is for sm_90"
        )

    def test_one_that_cannot_run_it(self, gpu: Gpu) -> None:
        gpu.make("", [])
        for device in ("cuda:1", "sm_80"):
            with pytest.raises(ArgumentError) as raised:
                gpu.run(device=device)
            assert str(raised.value) == (
                "the cubin is for sm_90, which the device sm_80 (A100) does not run"
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


class TestHeaps:
    def test_none(self, gpu: Gpu) -> None:
        gpu.make("", [])
        gpu.run()
        assert "cuCtxSetLimit" not in gpu.api.calls

    def test_it_grows_before_the_cubin_is_loaded(self, gpu: Gpu) -> None:
        gpu.make("", [], heap=1000)
        gpu.run()
        assert gpu.api.heap == 1 << 30
        assert gpu.api.calls.index("cuCtxSetLimit") < gpu.api.calls.index("cuModuleLoadData")
        gpu.make("", [], heap=2000)
        gpu.run()
        assert gpu.api.calls.count("cuCtxSetLimit") == 1
        gpu.make("", [], heap=1 << 20)
        gpu.run()
        # Twice what the blocks of 132 multiprocessors have.
        assert gpu.api.heap == (2 << 20) * 132 * 32

    def test_no_more_than_half_of_the_memory(self, gpu: Gpu) -> None:
        gpu.make("", [], heap=1 << 30)
        gpu.run()
        assert gpu.api.heap == (141 << 30) // 2

    def test_it_cannot_grow(self, gpu: Gpu) -> None:
        gpu.make("", [], heap=5000)
        gpu.api.failures["cuCtxSetLimit"] = 1
        with pytest.raises(DeviceError) as raised:
            gpu.run()
        assert str(raised.value) == (
            "the device sm_90 (Fake H200) has too small a heap for tile blocks that allocate 5000 "
            "bytes each, and it cannot grow after kernels have used it: cuCtxSetLimit: "
            "CUDA_ERROR_INVALID_VALUE: what the driver says; run this kernel first"
        )


class TestLayouts:
    def test_a_size_of_more_than_31_bits(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<i8x?>", [8, 8])
        with pytest.raises(ArgumentError) as raised:
            gpu.run(DeviceArray(4096, (2**31,), (1,)))
        assert str(raised.value) == (
            "argument 'A' (memref<i8x?>): expected sizes below 2^31 on a GPU, given "
            "2147483648; launch the kernel on parts of the array"
        )
        gpu.run(DeviceArray(4096, (2**31 - 1,), (1,)))
        gpu.make("%G: group<memref<i8x?>x?>", [8, 8, 8])
        with pytest.raises(ArgumentError, match=r"expected sizes below 2\^31 on a GPU"):
            gpu.run([DeviceArray(4096, (2**31,), (1,))])

    @pytest.mark.parametrize("stride", [0, 2**37])
    def test_a_stride_that_kernels_do_not_expect(self, gpu: Gpu, stride: int) -> None:
        parameter = Parameter("A", MemRefType(i8, [4], StridedLayoutAttr([None])), {})
        signature = Signature("k", (parameter,), frozenset())
        gpu.make("", [])
        gpu.api.kernels["k"].sizes = [8, 8]
        kernels = {"k": KernelInterface()}
        cubin = MachineCode(CODE, "sm_90", "tileiras", {"k": signature}, kernels)
        write_machine_code(gpu.path, cubin)
        with pytest.raises(ArgumentError) as raised:
            gpu.run(DeviceArray(4096, (4,), (stride,)))
        assert str(raised.value).endswith(
            f"expected strides from 1 to 2^37 - 1 on a GPU, given {stride}"
        )

    def test_an_empty_array(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<i8x?x?>", [8] * 4)
        gpu.run(DeviceArray(4096, (0, 4), (1, 0)))
        assert gpu.seen == [(4096, 0, 4, 1)]

    def test_a_number_that_is_not_aligned(self, gpu: Gpu) -> None:
        gpu.make("%A: memref<f32x?>", [8, 8])
        with pytest.raises(ArgumentError) as raised:
            gpu.run(DeviceArray(4098, (4,), (1,)))
        assert str(raised.value) == (
            "argument 'A' (memref<f32x?>): expected an address that is a multiple of the 4 bytes "
            "of a number, given 0x1002"
        )
