"""`xtile devices`, and what it advises."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.fake_driver import FakeApi, FakeGpu, installed
from xtile.backends.nvidia import tools
from xtile.cli import main
from xtile.launch import DeviceError, cuda_setup, listing, opencl_setup
from xtile.launch.opencl import available_devices


@pytest.fixture(name="lines")
def list_devices(capsys: pytest.CaptureFixture[str]) -> Any:
    def lines() -> list[str]:
        assert main(["devices"]) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out.splitlines()

    return lines


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("│┃").replace("┃", "│").split("│")]


def test_what_each_device_can_do(lines: Any) -> None:
    headings, reference, cpu = (cells(line) for line in lines() if line[0] in "│┃")
    assert headings == [
        *("device", "what it is", "subgroups", "local memory"),
        *("f16", "f64", "bf16", "matrix unit", "sanitizer"),
    ]
    assert reference == [
        *("reference", "the language's meaning in numpy, on the CPU", "any", "any"),
        *("yes", "yes", "yes", "emulated", "yes"),
    ]
    (device,) = available_devices()
    assert cpu[0] == f"opencl, {device.architecture.name}"
    assert cpu[1] == f"{device.name}, driver {device.driver} of {device.platform}"
    assert cpu[2:7] == ["4 8 16 32 64", "256 KiB", "yes", "yes", "yes"]
    assert cpu[7] == ("AMX" if device.architecture.name == "cpu-amx" else "no")
    assert cpu[8] == "no"


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Lets packages look as if they were not installed."""

    def version(name: str) -> str:
        if name in packages:
            raise PackageNotFoundError(name)
        return "1"

    monkeypatch.setattr(opencl_setup, "version", version)
    monkeypatch.setattr(listing, "available_devices", lambda: ())


@pytest.mark.parametrize(
    ("missing", "advice"),
    [
        (
            ["pyopencl", "intel-opencl-rt", "intel-cmplr-lib-rt"],
            (
                "no OpenCL device for the CPU: add one with: pip install pyopencl "
                "intel-opencl-rt intel-cmplr-lib-rt"
            ),
        ),
        (
            ["intel-cmplr-lib-rt"],
            "no OpenCL device for the CPU: add one with: pip install intel-cmplr-lib-rt",
        ),
    ],
)
def test_what_is_missing(
    missing: list[str], advice: str, lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, *missing)
    monkeypatch.setattr(opencl_setup, "has_intel_gpu", lambda: False)
    assert lines()[-1] == advice


def test_other_computers(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, *opencl_setup.PACKAGES)
    monkeypatch.setattr(opencl_setup, "has_intel_gpu", lambda: False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert lines()[-1] == (
        "no OpenCL device: add pyopencl with: pip install pyopencl, and a driver for the device"
    )
    # With pyopencl, what is missing is a driver that nobody can name.
    without(monkeypatch, "intel-opencl-rt", "intel-cmplr-lib-rt")
    assert lines()[-1].startswith(("└", "not usable: "))
    assert opencl_setup.advice() == "install the device's OpenCL driver"


@pytest.mark.parametrize("vendor", ["0x8086", "0x10de"])
def test_a_gpu_without_a_driver(
    vendor: str, lines: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    card = tmp_path / "card0" / "device"
    card.mkdir(parents=True)
    (card / "vendor").write_text(f"{vendor}\n")
    monkeypatch.setattr(opencl_setup, "_GRAPHICS_CARDS", tmp_path)
    advice = "no driver for Intel's GPU: apt-get install intel-opencl-icd"
    assert (lines()[-1] == advice) == (vendor == "0x8086")


def test_devices_that_cannot_be_used_are_named(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "available_devices", lambda: ())
    monkeypatch.setattr(opencl_setup, "has_intel_gpu", lambda: False)
    (device,) = available_devices()
    assert f"not usable: {device.name} of {device.platform}" in lines()


def test_gpus(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = (FakeGpu("NVIDIA H200"), FakeGpu("Old", (7, 5)), FakeGpu("NVIDIA L4", (8, 9)))
    with installed(monkeypatch, FakeApi(gpus)):
        _, _, first, second, _ = (cells(line) for line in lines() if line[0] in "│┃")
    abilities = ["tiles", "227 KiB", "yes", "yes", "yes", "tensor cores", "no"]
    assert first == ["cuda, sm_90", "NVIDIA H200, CUDA 13.0", *abilities]
    assert second == ["cuda:2, sm_89", "NVIDIA L4, CUDA 13.0", *abilities]


def test_a_gpu_without_an_assembler(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def find_tileiras() -> None:
        raise DeviceError("it is not here; add it")

    monkeypatch.setattr(tools, "find_tileiras", find_tileiras)
    with installed(monkeypatch, FakeApi()):
        assert lines()[-1] == "only compiled kernels run on NVIDIA's GPU: it is not here; add it"


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        (None, "no package for NVIDIA's GPU: pip install 'xtile[nvidia]'"),
        (
            object(),
            "no driver for NVIDIA's GPU: install release 580 or later of NVIDIA's driver",
        ),
    ],
)
def test_what_is_missing_for_a_gpu(
    lines: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, spec: object, advice: str
) -> None:
    monkeypatch.setattr(cuda_setup, "find_spec", lambda name: spec)  # pyright: ignore
    monkeypatch.setattr(cuda_setup, "_PCI_DEVICES", tmp_path)
    monkeypatch.setattr(cuda_setup, "_DRIVER", tmp_path / "none")
    monkeypatch.setattr(listing, "available_gpus", lambda: ())
    assert not any("NVIDIA" in line for line in lines())
    for place, vendor, kind in (("0", "0x10de", "0x040300"), ("1", "0x8086", "0x030000")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "vendor").write_text(f"{vendor}\n")
        (tmp_path / place / "class").write_text(f"{kind}\n")
    # The sound of a graphics card, and a graphics card of another vendor.
    assert not any("NVIDIA" in line for line in lines())
    (tmp_path / "1" / "vendor").write_text("0x10de\n")
    assert lines()[-1] == advice
