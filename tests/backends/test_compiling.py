"""`xtile compile` and `xtile.compile`."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.backends.nvidia.fake_driver import FakeApi, FakeGpu, installed
from xtile.backends.intel.compilation import compile_program
from xtile.backends.intel.files import read_spirv
from xtile.backends.intel.opencl import setup
from xtile.backends.intel.opencl.setup import available_devices
from xtile.backends.machine_code import CUBIN
from xtile.backends.sidecar import read_machine_code
from xtile.cli import main
from xtile.launch import ArgumentError
from xtile.targets import INTEL
from xtile.targets.lanes import for_spirv
from xtile.text.diagnostics import Diagnostics, SourceWarning

KERNELS = """
func @scale(%a: f32, %A: memref<f32x?x?>) {
    axpby.n %a, %A, %a, %A
}
func @nothing() {
}
"""

OLD = "func @f(%a: group<memref<f32x4>>) {\n}\n"
"""A text with a warning."""


@pytest.fixture(autouse=True)
def _directory(  # pyright: ignore[reportUnusedFunction]
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.ir").write_text(KERNELS)


def failure_of(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    assert main(["compile", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_a_cubin_with_its_sidecar(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "k.ir", "-o", "k.cubin", "--chip", "sm_80"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    cubin = read_machine_code("k.cubin", CUBIN)
    assert cubin.chip == "sm_80"
    assert list(cubin.signatures) == ["scale", "nothing"]
    assert sorted(path.name for path in Path().iterdir()) == ["k.cubin", "k.cubin.json", "k.ir"]


def test_remarks_where_they_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "k.ir", "-o", "k.tileirbc", "--chip", "sm_80", "--remarks"]) == 0
    assert "k.ir:2.1-43: remark: relies on sizes from 0 to 2^31 - 1" in capsys.readouterr().err


def test_one_kernel() -> None:
    assert main(["compile", "k.ir", "-o", "k.cubin", "--entry", "nothing"]) == 0
    cubin = read_machine_code("k.cubin", CUBIN)
    assert list(cubin.signatures) == ["nothing"]
    assert b"scale" not in cubin.code
    # The file itself is as it was.
    assert Path("k.ir").read_text() == KERNELS


def test_spirv() -> None:
    assert main(["compile", "k.ir", "-o", "k.spv", "--chip", "pvc"]) == 0
    program = compile_program(xtile.parse(KERNELS), for_spirv(INTEL.chips["pvc"]), may_wrap=True)
    assert Path("k.spv").read_bytes() == program.spirv
    assert read_spirv("k.spv").program == program


def test_spirv_is_for_the_device_here(monkeypatch: pytest.MonkeyPatch) -> None:
    (device,) = setup.available_devices()
    xtile.compile(KERNELS, "k.spv")
    program = compile_program(xtile.parse(KERNELS), device.target)
    assert Path("k.spv").read_bytes() == program.spirv
    monkeypatch.setattr(setup, "available_devices", lambda: ())
    xtile.compile(KERNELS, "k.spv")
    program = compile_program(xtile.parse(KERNELS), for_spirv(INTEL.chips["pvc"]))
    assert Path("k.spv").read_bytes() == program.spirv


def test_bytecode() -> None:
    assert main(["compile", "k.ir", "-o", "k.tileirbc"]) == 0
    assert Path("k.tileirbc").read_bytes().startswith(b"\x7fTileIR\0")


def test_the_chip_is_that_of_the_gpu_here(monkeypatch: pytest.MonkeyPatch) -> None:
    with installed(monkeypatch, FakeApi((FakeGpu("Old", (7, 0)), FakeGpu("L4", (8, 9))))):
        xtile.compile(KERNELS, "k.cubin")
    assert read_machine_code("k.cubin", CUBIN).chip == "sm_89"


def test_arguments_that_overlap() -> None:
    assert main(["compile", "k.ir", "-o", "1.cubin", "--may-overlap"]) == 0
    assert main(["compile", "k.ir", "-o", "2.cubin"]) == 0
    alone = [
        [
            parameter.is_noalias
            for parameter in read_machine_code(name, CUBIN).signatures["scale"].parameters
        ]
        for name in ("1.cubin", "2.cubin")
    ]
    assert alone == [[False, False], [False, True]]


@pytest.mark.slow
def test_the_level() -> None:
    xtile.compile(KERNELS, "0.cubin", chip="sm_90", level=0)
    xtile.compile(KERNELS, "3.cubin", chip="sm_90", level=3)
    assert Path("0.cubin").read_bytes() != Path("3.cubin").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-o", "k.foo"],
            "k.foo: expected a file ending with one of .cubin, .hsaco, .spv, .tileirbc",
        ),
        (["-o", "no/k.cubin"], "-o no/k.cubin: there is no directory no"),
        (
            ["-o", "k.cubin", "--chip", "pvc"],
            (
                "'pvc' is a chip of Intel's; CUDA Tile IR is for sm_80, sm_86, sm_89, sm_90, "
                "sm_100, sm_103, sm_110, sm_120, sm_121"
            ),
        ),
        (
            ["-o", "k.spv", "--chip", "sm_90"],
            "'sm_90' is a chip of NVIDIA's; SPIR-V is for pvc, bmg, dg2, cpu, cpu-avx2, cpu-amx",
        ),
    ],
)
def test_wrong_usage(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failure_of(capsys, 2, "k.ir", *arguments) == f"xtile: error: {message}\n"


def test_a_language_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    message = failure_of(capsys, 2, "k.txt", "-o", "k.cubin")
    assert message == (
        "xtile: error: k.txt: expected a file ending with .ir, .mlir, .ttir, .ttgir or .tileirbc\n"
    )


def test_bytecode_is_compiled(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "k.ir", "-o", "k.tileirbc"]) == 0
    assert main(["compile", "k.tileirbc", "-o", "k.cubin"]) == 0
    assert capsys.readouterr().err == ""
    cubin = read_machine_code("k.cubin", CUBIN)
    assert list(cubin.signatures) == ["scale", "nothing"]
    types = [str(parameter.type) for parameter in cubin.signatures["scale"].parameters]
    assert types == [f"!cuda_tile.tile<{type}>" for type in ("f32", "ptr<f32>", *["i64"] * 3)]


def test_no_such_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert "cannot read the file" in failure_of(capsys, 1, "no.ir", "-o", "k.cubin")


def test_no_such_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    message = failure_of(capsys, 1, "k.ir", "-o", "k.cubin", "--entry", "g")
    assert message == ("xtile: error: the kernel has no function 'g'; it has 'scale', 'nothing'\n")


def test_no_kernel(capsys: pytest.CaptureFixture[str]) -> None:
    Path("host.mlir").write_text("func.func @main() {\n  return\n}\n")
    message = failure_of(capsys, 1, "host.mlir", "-o", "k.cubin")
    assert message == "xtile: error: there is no kernel to compile\n"


def test_a_mistake_in_the_text(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.ir").write_text("func @f(%a: f31) {\n}\n")
    assert failure_of(capsys, 1, "k.ir", "-o", "k.cubin").startswith("k.ir:1.13-15: error: ")
    assert not Path("k.cubin").exists()


@pytest.mark.slow
def test_what_the_assembler_does_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    # No other test asks for this level, so nothing is kept of it.
    options = ("--level", "2", "--build-seconds", "0.001")
    message = failure_of(capsys, 3, "k.ir", "-o", "k.cubin", *options)
    assert "cannot build the kernel: it was not done after 0.001 s" in message


@pytest.mark.slow
def test_a_file_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.cubin").mkdir()
    message = failure_of(capsys, 1, "k.ir", "-o", "k.cubin")
    assert message == "xtile: error: cannot write k.cubin: Is a directory\n"


@pytest.mark.slow
def test_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.ir").write_text(OLD)
    assert main(["compile", "old.ir", "-o", "k.cubin"]) == 0
    assert capsys.readouterr().err.startswith("old.ir:1.")
    with pytest.warns(SourceWarning):
        xtile.compile(OLD, "k.cubin")
    collected = Diagnostics()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        xtile.compile(OLD, "k.cubin", diagnostics=collected)
    assert len(list(collected)) == 1


def test_a_module() -> None:
    module = xtile.parse(KERNELS)
    before = str(module)
    xtile.compile(module, "k.cubin", entry="nothing")
    assert list(read_machine_code("k.cubin", CUBIN).signatures) == ["nothing"]
    assert str(module) == before


@pytest.mark.parametrize("options", [{"chip": "sm_1"}, {"output": "k"}])
def test_options_of_the_function(options: dict[str, Any]) -> None:
    output = options.pop("output", "k.cubin")
    with pytest.raises(ValueError, match=r"there is no chip|expected a file"):
        xtile.compile(KERNELS, output, **options)
    with pytest.raises(ArgumentError):
        xtile.compile(KERNELS, "k.cubin", entry="g")


SAME_NAME = """
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @test(%a: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0] : memref<4xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %a[%c0] : memref<4xf32>
      gpu.return
    }
  }
  func.func @test(%a: memref<4xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@test blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<4xf32>)
    gpu.launch_func @m::@test blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : memref<4xf32>)
    return
  }
}
"""


def test_a_function_of_the_host_with_the_name_of_the_kernel() -> None:
    Path("same.mlir").write_text(SAME_NAME)
    assert main(["compile", "same.mlir", "-o", "same.spv"]) == 0
    assert b"test\0" in Path("same.spv").read_bytes()
    assert main(["compile", "same.mlir", "--entry", "test", "-o", "same.spv"]) == 0
    for entry, factor in ((None, 2.0), ("m::test", 2.0), ("test", 4.0)):
        array = np.array([1.0, 1.0, 1.0, 1.0], np.float32)
        xtile.run("same.mlir", [array], entry=entry)
        assert array.tolist() == [factor, 1.0, 1.0, 1.0]
    if available_devices():
        array = np.array([1.0, 1.0, 1.0, 1.0], np.float32)
        xtile.run("same.mlir", [array], device="opencl")
        assert array.tolist() == [2.0, 1.0, 1.0, 1.0]


CALLS = """
module attributes {gpu.container_module} {
  gpu.module @m {
    func.func @twice(%x: f32) -> f32 {
      %y = arith.addf %x, %x : f32
      return %y : f32
    }
    gpu.func @test(%a: memref<4xf32>) kernel {
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%c0] : memref<4xf32>
      %w = func.call @twice(%v) : (f32) -> f32
      memref.store %w, %a[%c0] : memref<4xf32>
      gpu.return
    }
    gpu.func @other() kernel {
      gpu.return
    }
  }
}
"""


@pytest.mark.parametrize("options", [[], ["--entry", "test"]])
def test_a_function_that_a_kernel_calls(options: list[str]) -> None:
    Path("calls.mlir").write_text(CALLS)
    assert main(["compile", "calls.mlir", "-o", "calls.spv", *options]) == 0
    for device in ("reference", *(["opencl"] if available_devices() else [])):
        array = np.array([1.5, 1.0, 1.0, 1.0], np.float32)
        xtile.run("calls.mlir", [array], device=device, entry="test")
        assert array.tolist() == [3.0, 1.0, 1.0, 1.0]
    if available_devices():
        array = np.array([1.5, 1.0, 1.0, 1.0], np.float32)
        xtile.run("calls.mlir", [array], device="opencl", entry="test", binary="calls.spv")
        assert array.tolist() == [3.0, 1.0, 1.0, 1.0]


def test_an_entry_that_kernels_call(capsys: pytest.CaptureFixture[str]) -> None:
    Path("calls.mlir").write_text(CALLS)
    assert main(["run", "calls.mlir", "--entry", "twice"]) == 1
    assert "twice" in capsys.readouterr().err


def test_two_kernels_with_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    kernels = SAME_NAME.partition("  func.func")[0]
    Path("two.mlir").write_text(
        kernels + kernels.partition("container_module} {")[2].replace("@m", "@n") + "}"
    )
    assert main(["compile", "two.mlir", "-o", "two.spv"]) == 1
    message = "two kernels have the name 'test', by which a device knows them; rename 'n::test'"
    assert message in capsys.readouterr().err
    array = np.array([1.0, 1.0, 1.0, 1.0], np.float32)
    xtile.run("two.mlir", [array], entry="n::test")
    assert array[0] == 2.0
