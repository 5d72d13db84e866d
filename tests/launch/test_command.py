"""`xtile run --device`."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from xtile.backends.intel.opencl.setup import available_devices
from xtile.cli import main
from xtile.launch import devices
from xtile.launch.executable import Executable, Kernel

SCALE = """\
func @scale(%alpha: f32, %A: memref<f32x?>, %B: memref<f32x?>) {
    %zero = constant 0 : index
    %n = size %A[0] : index
    foreach (%i)=(%zero),(%n) {
        %a = load %A[%i] : f32
        %b = mul %alpha, %a : f32
        store %b, %B[%i]
    }
}
"""

ARGUMENTS = ("--arg", "alpha=2", "--rand", "--size", "A=100", "--arg", "B=nan:100")


@pytest.fixture(autouse=True)
def _in_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XTILE_CACHE_DIR", str(tmp_path / "cache"))
    Path("scale.ir").write_text(SCALE)


@pytest.mark.parametrize("device", ["opencl", "auto", available_devices()[-1].target.name])
def test_a_launch(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    saved = ("--out", "A=a.npy", "--out", "B=b.npy")
    assert main(["run", "scale.ir", *ARGUMENTS, "--device", device, *saved]) == 0
    assert np.array_equal(np.load("b.npy"), 2 * np.load("a.npy"))
    captured = capsys.readouterr()
    assert captured.err == ""
    title = captured.out.splitlines()[0].strip()
    start, end = f"@scale on {available_devices()[0]}, ", " ms"
    assert title.startswith(start)
    assert title.endswith(end)
    assert float(title.removeprefix(start).removesuffix(end)) >= 0


def test_a_new_process_needs_no_environment() -> None:
    command = [sys.executable, "-m", "xtile.cli", "run", "scale.ir", *ARGUMENTS]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("OCL_", "CL_"))}
    for number in range(2):
        saved = ("--out", f"A=a{number}.npy", "--out", f"B=b{number}.npy")
        result = subprocess.run(
            [*command, "--device", "opencl", *saved],
            env=environment,
            capture_output=True,
            text=True,
        )
        assert result.stderr == ""
        assert result.returncode == 0
        assert np.array_equal(np.load(f"b{number}.npy"), 2 * np.load(f"a{number}.npy"))
    kinds = sorted(path.name.partition("-")[0] for path in Path("cache").iterdir())
    assert kinds == ["binary", "program"]


WILD = """\
func @set(%i: index, %A: memref<f32x?>) {
    %one = constant 1.0 : f32
    store %one, %A[%i]
}
"""


def test_a_kernel_that_ends_the_process_of_the_device() -> None:
    Path("set.ir").write_text(WILD)
    command = [sys.executable, "-m", "xtile.cli", "run", "set.ir", "--device", "opencl"]
    arguments = ["--arg", f"i={10**13}", "--arg", "A=zeros:4"]
    result = subprocess.run([*command, *arguments], capture_output=True, text=True)
    assert result.returncode == 3
    assert result.stdout == ""
    assert result.stderr.endswith(
        "xtile: error: set.ir ended the device's process with signal SIGSEGV; it may access "
        "memory that is not its own, which `--device reference --sanitize` shows\n"
    )
    assert "Traceback" not in result.stderr


def fail(capsys: pytest.CaptureFixture[str], code: int, *arguments: str) -> str:
    assert main(["run", *arguments]) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err


def test_what_a_device_has_not(capsys: pytest.CaptureFixture[str]) -> None:
    missing = "pvc"
    message = fail(capsys, 3, "scale.ir", *ARGUMENTS, "--device", missing)
    assert message.startswith(
        f"xtile: error: there is no OpenCL device '{missing}' here; there is "
    )
    message = fail(capsys, 1, "scale.ir", *ARGUMENTS, "--device", "opencl", "--sanitize")
    assert message == "xtile: error: the device 'opencl' cannot sanitize\n"
    Path("large.ir").write_text(
        "func @large() attributes{work_group_size=[16384,1], subgroup_size=16} {\n}\n"
    )
    message = fail(capsys, 1, "large.ir", "--device", "opencl")
    assert "16384" in message
    assert "8192" in message


def test_a_build_that_takes_too_long(capsys: pytest.CaptureFixture[str]) -> None:
    # No other test has let this process build it.
    Path("slow.ir").write_text(SCALE.replace("mul", "sub"))
    arguments = ("slow.ir", *ARGUMENTS, "--device", "opencl", "--build-seconds")
    device = available_devices()[0]
    message = f"xtile: error: the device {device} cannot build the kernel: it was not done after"
    assert fail(capsys, 3, *arguments, "0.001") == f"{message} 0.001 s\n"
    assert main(["run", *arguments, "100", "--quiet"]) == 0


@pytest.mark.parametrize("seconds", ["0", "-1", "x", "inf", "nan"])
def test_wrong_seconds(seconds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "scale.ir", f"--build-seconds={seconds}"]) == 2
    expected = f"argument --build-seconds: expected a positive number, given '{seconds}'"
    assert expected in capsys.readouterr().err


@pytest.mark.parametrize("device", ["reference", "opencl", "auto"])
def test_functions_of_the_host(device: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("host.mlir").write_text("func.func @main() { return }\n")
    assert main(["run", "host.mlir", "--device", device]) == 0
    assert capsys.readouterr() == ("", "")


def test_unknown_files(capsys: pytest.CaptureFixture[str]) -> None:
    for device in ("reference", "opencl"):
        Path("kernel.txt").write_text("")
        message = fail(capsys, 2, "kernel.txt", "--device", device)
        assert (
            message
            == "xtile: error: kernel.txt: expected a file ending with .ir, .mlir, .ttir, .ttgir "
            "or .tileirbc\n"
        )
        message = fail(capsys, 1, "no.ir", "--device", device)
        assert message == "no.ir: error: cannot read the file: No such file or directory\n"


def test_a_value_error_within_is_no_usage_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(kernel: Kernel) -> Executable:
        raise ValueError("zip() argument 2 is longer than argument 1")

    monkeypatch.setitem(devices.DEVICES, "reference", replace(devices.REFERENCE, load=load))
    message = fail(capsys, 3, "scale.ir", *ARGUMENTS)
    assert message.startswith("xtile: internal error: ValueError: zip() argument 2 is longer")
