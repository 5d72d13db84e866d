"""`xtile devices`, and what it advises."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import pytest

from tests.backends.nvidia.fake_driver import FakeApi, FakeGpu, installed
from xtile.backends.intel.opencl import setup as opencl_setup
from xtile.backends.intel.opencl.setup import available_devices
from xtile.cli import main
from xtile.launch import DeviceError, listing
from xtile.launch import missing as what_is_missing
from xtile.targets import LAUNCHED_VENDORS


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


def rows(lines: list[str]) -> list[list[str]]:
    """The rows of all tables, where the lines of a cell are joined."""
    found: list[list[str]] = []
    for line in lines:
        if line[0] not in "│┃":
            continue
        row = cells(line)
        if row[0]:
            found.append(row)
        else:
            found[-1] = [
                f"{above} {below}".strip() for above, below in zip(found[-1], row, strict=True)
            ]
    return found


def test_what_each_device_can_do(lines: Any) -> None:
    headings, reference, cpu, *_ = rows(lines())
    assert headings == ["device", "what it is, and what it can do"]
    assert reference == [
        "reference",
        "the language's meaning in numpy, on the CPU all types; looks for mistakes, too",
    ]
    (device,) = available_devices()
    assert cpu[0] == f"opencl, {device.target.name}"
    matrix_unit = "AMX" if device.target.name == "cpu-amx" else "no matrix unit"
    assert cpu[1] == (
        f"{device.name}, driver {device.driver} of {device.platform} "
        f"subgroups of 4 8 16 32 64, 256 KiB of local memory, f16 f64 bf16, {matrix_unit}"
    )


def test_every_chip_is_listed(lines: Any) -> None:
    found = {row[0].removesuffix(" *"): row for row in rows(lines()) if len(row) == 5}
    assert found.pop("chip") == ["chip", "vendor", "what it is", "compiles", "runs"]
    assert list(found) == [chip for vendor in LAUNCHED_VENDORS for chip in vendor.chips]
    defaults = [row[0] for row in found.values() if row[0].endswith(" *")]
    assert defaults == ["pvc *", "sm_90 *", "gfx942 *"]
    (device,) = available_devices()
    for vendor in LAUNCHED_VENDORS:
        for chip, target in vendor.chips.items():
            _, maker, what, compiles, is_here = found[chip]
            assert (maker, what, compiles) == (vendor.name, target.description, "yes")
            runs = device.as_chip(chip) is not None
            assert is_here == ("yes" if runs else "no")
            assert runs == (chip in ("cpu", "cpu-avx2", device.target.name))


def test_nothing_is_wider_than_80_columns(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, lines())) <= 80
    without(monkeypatch, *opencl_setup.PACKAGES)
    monkeypatch.setattr(what_is_missing, "find_tileiras", no_assembler)
    found = lines()
    assert max(map(len, found)) <= 80
    assert found[found.index("no OpenCL device for the CPU:") + 1] == (
        "  add one with: pip install pyopencl intel-opencl-rt intel-cmplr-lib-rt"
    )


def test_what_chips_need(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = "a GPU, release 580 or later of NVIDIA's driver, pip install 'xtile[nvidia]'"
    rocm = "to run on AMD's chips: a GPU, ROCm 6 or later (https://rocm.docs.amd.com)"
    to_run = [
        *("to run on NVIDIA's chips:", f"  {driver}"),
        rocm,
        "to run on Intel's GPUs: a GPU, apt-get install intel-opencl-icd",
    ]
    assert lines()[-4:] == to_run
    monkeypatch.setattr(what_is_missing, "find_tileiras", no_assembler)
    found = lines()
    assert found[-5:] == [
        "to compile for NVIDIA's chips: pip install 'xtile[nvidia]'",
        *to_run,
    ]
    assert {row[3] for row in rows(found) if row[0].startswith("sm_")} == {"no"}
    with installed(monkeypatch, FakeApi((FakeGpu("NVIDIA L4", (8, 9)),))):
        found = lines()
    assert "to run on NVIDIA's chips:" not in found
    here = [row[0] for row in rows(found) if row[0].startswith("sm_") and row[4] == "yes"]
    assert here == ["sm_80", "sm_86", "sm_89"]


def no_assembler() -> None:
    raise DeviceError("it is not here; add it")


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
    assert advice in unfolded(lines())


def unfolded(lines: list[str]) -> list[str]:
    """Lines as they are where there is room."""
    return "\n".join(lines).replace(":\n  ", ": ").split("\n")


def test_other_computers(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, *opencl_setup.PACKAGES)
    monkeypatch.setattr(opencl_setup, "has_intel_gpu", lambda: False)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert (
        "no OpenCL device: add pyopencl with: pip install pyopencl, and a driver for the device"
    ) in unfolded(lines())
    # With pyopencl, what is missing is a driver that nobody can name.
    without(monkeypatch, "intel-opencl-rt", "intel-cmplr-lib-rt")
    assert not any(line.startswith("no OpenCL device") for line in lines())
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
    assert (advice in lines()) == (vendor == "0x8086")


def test_devices_that_cannot_be_used_are_named(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "available_devices", lambda: ())
    monkeypatch.setattr(opencl_setup, "has_intel_gpu", lambda: False)
    (device,) = available_devices()
    assert f"not usable: {device.name} of {device.platform}" in lines()


def test_gpus(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gpus = (FakeGpu("NVIDIA H200"), FakeGpu("Old", (7, 5)), FakeGpu("NVIDIA L4", (8, 9)))
    with installed(monkeypatch, FakeApi(gpus)):
        _, _, first, second, *_ = rows(lines())
    abilities = "tiles, 227 KiB of shared memory, f16 f64 bf16, tensor cores"
    assert first == ["cuda, sm_90", f"NVIDIA H200, CUDA 13.0 {abilities}"]
    assert second == ["cuda:2, sm_89", f"NVIDIA L4, CUDA 13.0 {abilities}"]


def test_a_gpu_without_an_assembler(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(what_is_missing, "find_tileiras", no_assembler)
    with installed(monkeypatch, FakeApi()):
        assert "only compiled kernels run on NVIDIA's GPU: it is not here; add it" in lines()


@pytest.mark.slow
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
    monkeypatch.setattr(what_is_missing, "find_spec", lambda name: spec)  # pyright: ignore
    monkeypatch.setattr(what_is_missing, "_PCI_DEVICES", tmp_path)
    monkeypatch.setattr(what_is_missing, "_NVIDIA_MODULE", tmp_path / "none")
    monkeypatch.setattr(listing, "available_gpus", lambda: ())
    assert not any("for NVIDIA's GPU" in line for line in lines())
    for position, vendor, kind in (("0", "0x10de", "0x040300"), ("1", "0x8086", "0x030000")):
        (tmp_path / position).mkdir()
        (tmp_path / position / "vendor").write_text(f"{vendor}\n")
        (tmp_path / position / "class").write_text(f"{kind}\n")
    # The sound of a graphics card, and a graphics card of another vendor.
    assert not any("for NVIDIA's GPU" in line for line in lines())
    (tmp_path / "1" / "vendor").write_text("0x10de\n")
    assert advice in lines()
