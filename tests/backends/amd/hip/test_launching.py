"""Launches on AMD's GPUs, of code that Triton made, with a library whose GPU is Python."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.amd.fake_hip import (
    ILLEGAL_ADDRESS,
    OUT_OF_MEMORY,
    FakeHip,
    forget,
    installed,
)
from tests.backends.nvidia.fake_gpu import address_of, floats
from tests.backends.nvidia.gpu_arrays import (
    Dlpack,
    Interface,
    Tensor,
    TorchStream,
    install_torch,
    random,
)
from xtile.backends.amd.hip import device as device_module
from xtile.backends.amd.hip import driver as driver_module
from xtile.backends.amd.hip.driver import load_driver
from xtile.backends.sidecar import sidecar_path
from xtile.cli import main
from xtile.launch import ArgumentError, DeviceArray, DeviceError
from xtile.launch.devices import AUTOMATIC
from xtile.launch.executable import Kernel
from xtile.launch.gpu import Wanted, wanted_of
from xtile.launch.gpu_prepared import prepare
from xtile.text.diagnostics import DiagnosticError

EXAMPLES = Path(__file__).parents[4] / "examples"

ADD = """
func @add(%a: f32, %A: memref<f32x?x8>, %B: memref<f32x?x8>) {
    %one = constant 1.0 : f32
    axpby.n %a, %A, %one, %B
}
"""

PROMISES = """
tt.func public @promises(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32, tt.pointer_range = 32 : i32},
                         %n: i32 {tt.divisibility = 8 : i32}) {
  %s = arith.sitofp %n : i32 to f32
  tt.store %x, %s : !tt.ptr<f32>
  tt.return
}
"""

FILL = """
tt.func public @fill(%x: !tt.ptr<i32>) {
  %lane = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %first = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
  %p = tt.addptr %first, %lane : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
  tt.store %p, %lane : tensor<64x!tt.ptr<i32>>
  tt.return
}
"""


def bits(number: float) -> int:
    return int(np.float32(number).view(np.uint32))


@pytest.fixture(name="hip")
def one_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHip]:
    """One GPU, on which nothing may be left afterwards."""
    library = FakeHip()
    with installed(monkeypatch, library):
        yield library
    assert not library.live
    assert library.current == 0


@pytest.fixture(name="add", scope="module")
def compile_add(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hip") / "add.hsaco"
    xtile.compile(ADD, path, chip="gfx942")
    return path


@pytest.fixture(name="promises", scope="module")
def compile_promises(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hip") / "promises.hsaco"
    xtile.compile(xtile.parse(PROMISES, language="ttir"), path, chip="gfx942")
    return path


class TestArguments:
    def test_every_one_of_them(self, hip: FakeHip, add: Path) -> None:
        a, b = random(12, 8)[:5], random(5, 8)

        def body(_: Any, factor: int, x: int, size: int, stride: int, y: int, *rest: int) -> None:
            assert (factor, size, stride, rest) == (bits(3), 5, 12, (5, 5, 0, 0))
            assert x in range(min(hip.live), max(hip.live) + 2**20)
            floats(y, 40)[:] = floats(x, 12 * 8).reshape(8, 12)[:, :5].ravel()

        hip.bodies["add"] = body
        result = xtile.run(add, [3.0, a, b], (3, 2), device="hip")
        assert (result.device, result.seconds) == ("gfx942 (Fake MI0)", 1.5e-3)
        np.testing.assert_array_equal(b, a)
        (launch,) = hip.launches
        assert (launch.grid, launch.block) == ((3, 2, 1), (256, 1, 1))
        assert (launch.shared, launch.stream) == (0, 0)

    @pytest.mark.parametrize("kind", [Interface, Tensor, Dlpack])
    def test_arrays_on_the_gpu(
        self, hip: FakeHip, add: Path, kind: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        install_torch(monkeypatch)
        a, b = random(5, 8), random(5, 8)
        arrays = [kind(each, (10, 0)) if kind is Dlpack else kind(each) for each in (a, b)]
        for _ in range(2):
            xtile.run(add, [1.0, *arrays], device="gfx942")
        sizes = (5, 5)
        expected = (bits(1), address_of(a), *sizes, address_of(b), *sizes, 0, 0)
        assert [launch.values for launch in hip.launches] == [expected] * 2
        assert "hipMalloc" not in hip.calls

    def test_the_source(self, hip: FakeHip) -> None:
        for _ in range(2):
            xtile.run(ADD, [1.0, random(3, 8), random(3, 8)], device="hip:0")
        assert len(hip.launches) == 2
        assert hip.calls.count("hipModuleLoadData") == 1

    def test_whose_layouts_they_are(self, hip: FakeHip, tmp_path: Path) -> None:
        """Those of xtile have one wave for 64 elements, and Triton's own have four."""
        module, memory = xtile.parse(FILL, language="ttir"), np.zeros(64, np.int32)
        xtile.run(module, [memory], device="hip")
        for through in ("amdg", "ttir"):
            path = tmp_path / f"{through}.hsaco"
            xtile.compile(module, path, chip="gfx942", through=through)
            xtile.run(path, [memory], device="hip")
        assert [launch.block[0] for launch in hip.launches] == [64, 64, 256]

    @pytest.mark.slow
    def test_code_for_what_a_launch_finds(self, hip: FakeHip) -> None:
        """One file of machine code for arrays of a kind; the values are right for each."""
        shapes = ((16, 16), (32, 32), (16, 5), (5, 5))
        for rows, stride in shapes:
            memory = [np.zeros((8, max(rows, stride)), np.float32) for _ in range(2)]
            arrays = [Interface(each.T[:rows]) for each in memory]
            xtile.run(ADD, [1.0, *arrays], device="hip")
            values = hip.launches[-1].values
            assert values[1:4] == (address_of(memory[0]), rows, max(rows, stride))
        # numpy's memory is aligned to 16 bytes.
        assert hip.calls.count("hipModuleLoadData") == 2

    def test_memory_of_a_kernels_own(self, hip: FakeHip, add: Path, tmp_path: Path) -> None:
        """What the sidecar asks for is there while the kernel runs, for each program."""
        path = tmp_path / "add.hsaco"
        path.write_bytes(add.read_bytes())
        words = json.loads(sidecar_path(add).read_text())
        scratch = [{"size": 40, "alignment": 512}, {"size": 0, "alignment": 1}]
        words["kernels"][0]["scratch"] = scratch
        words["kernels"][0]["shared"] = 4096
        sidecar_path(path).write_text(json.dumps(words))

        def body(block: Any, *values: int) -> None:
            number = block[0] + 3 * block[1]
            assert values[-2] % 512 == values[-1] == 0
            floats(values[-2] + 40 * number, 10)[:] = number

        hip.bodies["add"] = body
        a, b = Interface(random(3, 8)), Interface(random(3, 8))
        for _ in range(2):
            xtile.run(path, [1.0, a, b], (3, 2), device="hip")
        assert hip.calls.count("hipMalloc") == hip.calls.count("hipFree") == 2
        assert [launch.shared for launch in hip.launches] == [4096] * 2
        launch = prepare(path, [1.0, a, b], (3, 2), device="hip")
        for _ in range(3):
            launch.enqueue(7)
        assert hip.calls.count("hipMalloc") == 3
        assert [each.stream for each in hip.launches[2:]] == [7] * 3
        del launch

    def test_arguments_that_overlap(self, hip: FakeHip, add: Path) -> None:
        memory = random(10, 8)
        with pytest.raises(ArgumentError, match="Triton takes different arguments for different"):
            xtile.run(add, [1.0, memory[:6], memory[4:]], device="hip")
        assert not hip.launches


class TestPromises:
    def test_what_a_kernel_relies_on(self, hip: FakeHip, promises: Path) -> None:
        x = np.zeros(8, np.float32)
        xtile.run(promises, [Interface(x), 16], device="hip")
        assert hip.launches[0].values == (address_of(x), 16, 0, 0)
        with pytest.raises(
            ArgumentError,
            match=re.escape(
                "argument 1 of @promises: expected a number that is a multiple of 8, as the kernel "
                "promises, given 12"
            ),
        ):
            xtile.run(promises, [Interface(x), 12], device="hip")
        # Of a layout that it was launched on already.
        with pytest.raises(ArgumentError, match="argument 0 of @promises: expected an address"):
            xtile.run(promises, [Interface(x[1:]), 16], device="hip")
        assert len(hip.launches) == 1

    def test_memory_beyond_the_reach_of_offsets(self, hip: FakeHip, promises: Path) -> None:
        array = DeviceArray(1 << 40, (2**29,))
        with pytest.raises(ArgumentError, match=r"below 2 GB by offsets of 32 .* 2147483648"):
            xtile.run(promises, [array, 16], device="hip")
        xtile.run(promises, [DeviceArray(1 << 40, (2**29 - 1,)), 16], device="hip")
        assert len(hip.launches) == 1


class TestStreams:
    def test_that_of_torch(self, hip: FakeHip, add: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """torch calls streams of HIP those of CUDA."""
        install_torch(monkeypatch, stream=5)
        monkeypatch.setattr(
            sys.modules["torch"], "version", SimpleNamespace(hip="6.4"), raising=False
        )
        arrays = [Tensor(random(3, 8)) for _ in range(2)]
        xtile.run(add, [1.0, *arrays], device=TorchStream(9))
        assert hip.launches[0].stream == 9
        assert hip.waits == [(9, 5)] or hip.waits == [(9, 0), (9, 5)]


class TestFailures:
    @pytest.mark.parametrize(
        ("function", "status", "message"),
        [
            ("hipMalloc", OUT_OF_MEMORY, "hipMalloc: hipErrorOutOfMemory: what the driver says"),
            ("hipModuleLaunchKernel", OUT_OF_MEMORY, "failed to run @add: hipModuleLaunchKernel"),
            ("hipModuleLoadData", OUT_OF_MEMORY, "the device gfx942 (Fake MI0) does not load: "),
            ("hipEventSynchronize", ILLEGAL_ADDRESS, "this process can use the GPU no more"),
        ],
    )
    def test_the_driver(
        self, hip: FakeHip, add: Path, function: str, status: int, message: str
    ) -> None:
        hip.failures[function] = status
        if function == "hipEventSynchronize":
            hip.failures["hipEventQuery"] = 600
        with pytest.raises(DeviceError, match=re.escape(message)):
            xtile.run(add, [1.0, random(3, 8), random(3, 8)], device="hip")

    def test_a_kernel_with_other_parameters(self, hip: FakeHip, add: Path, tmp_path: Path) -> None:
        path = tmp_path / "add.hsaco"
        path.write_bytes(add.read_bytes())
        words = json.loads(sidecar_path(add).read_text())
        words["kernels"][0]["scratch"] = []
        sidecar_path(path).write_text(json.dumps(words))
        message = "parameters of 4, 8, 8, 8, 8, 8, 8, 8, 8 bytes, but by its signature they have 4,"
        with pytest.raises(DeviceError, match=message):
            xtile.run(path, [1.0, random(3, 8), random(3, 8)], device="hip")

    def test_another_chip(self, add: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with installed(monkeypatch, FakeHip(("gfx1100", "gfx90a:sramecc+:xnack-"))):
            with pytest.raises(DeviceError, match=r"there is 0: gfx1100 \(Fake MI0\), 1: gfx9"):
                xtile.run(add, [], device="hip")
            with pytest.raises(ArgumentError, match="the hsaco is for gfx942, which the device gf"):
                xtile.run(add, [], device="hip:1")

    def test_a_cubin(self, hip: FakeHip, tmp_path: Path) -> None:
        path = tmp_path / "k.cubin"
        path.write_bytes(b"\x7fELF\x02\x01" + bytes(100))
        with pytest.raises(
            DiagnosticError, match="expected an hsaco, which is an ELF file for AMD"
        ):
            xtile.run(path, [], device="hip")


class TestWithoutAGpu:
    def test_it_is_compiled_first(self, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
        forget()
        path = tmp_path / "add.ir"
        path.write_text(ADD)
        arguments = ["--arg", "a=1", "--rand", "--size", "A=3x8", "--size", "B=3x8"]
        assert main(["run", str(path), "--device", "hip", *arguments]) == 3
        assert capsys.readouterr().err == (
            "xtile: error: there is no AMD GPU here: its library libamdhip64.so is not installed; "
            f"the kernel compiles for gfx942, and `xtile compile {path} --chip gfx942 -o k.hsaco` "
            "writes the hsaco\n"
        )
        path.write_text(ADD.replace("axpby.n", "axpby.q"))
        assert main(["run", str(path), "--device", "hip", *arguments]) == 1

    def test_a_library_without_a_gpu(self, monkeypatch: pytest.MonkeyPatch) -> None:
        load_driver.cache_clear()
        library = FakeHip(failures={"hipInit": 2})
        for name in driver_module.SIGNATURES:
            monkeypatch.setattr(FakeHip, name, getattr(FakeHip, name))
        monkeypatch.setattr(driver_module, "find_library", lambda: library)
        monkeypatch.setattr(driver_module, "declare", lambda library: None)  # pyright: ignore
        with pytest.raises(DeviceError, match="there is no AMD GPU here: hipInit: hipErrorOutOfM"):
            load_driver()
        load_driver.cache_clear()


def test_the_names_of_gpus() -> None:
    assert wanted_of("hip") == Wanted(device="hip")
    assert wanted_of("hip:1") == Wanted(ordinal=1, device="hip")
    assert wanted_of("gfx90a:sramecc+:xnack-") == Wanted(chip="gfx90a", device="hip")
    assert wanted_of("triton:2") == Wanted(ordinal=2, device="triton")
    assert wanted_of("gfx1") is wanted_of("hip:x") is None


def test_what_a_gpu_is(hip: FakeHip) -> None:
    (device,) = device_module.find_devices()
    assert (device.name, device.driver, device.chip) == ("Fake MI0", "6.4", "gfx942")
    assert (device.memory, device.shared_memory) == (192 * 2**30, 64 * 2**10)
    assert (device.architecture, device.multiprocessors) == ("gfx942:sramecc+:xnack-", 304)


def test_the_best_device(hip: FakeHip) -> None:
    assert str(AUTOMATIC.load(Kernel(ADD, None)).device) == "gfx942 (Fake MI0)"  # pyright: ignore


def test_the_devices_here(hip: FakeHip, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"│ hip, gfx942 +│ Fake MI0, HIP 6.4 +│", text)
    assert "tiles, 64 KiB of shared memory, f16 f64 bf16, matrix" in text
    assert re.search(r"│ gfx942 \* +│ AMD +│ CDNA 3, MI300 +│ yes +│ yes +│", text)
    assert "to run on AMD's chips" not in text
