"""Which row of the table of devices an OpenCL device belongs to."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pyopencl as cl
import pytest

from xtile.backends.intel.compiler import compiler_for
from xtile.backends.intel.opencl import device as module
from xtile.backends.intel.opencl import discovery, native
from xtile.backends.intel.opencl.device import (
    OpenclDevice,
    chip_of,
    find_devices,
    target_of,
)
from xtile.launch import opencl
from xtile.targets import intel
from xtile.targets.lanes import for_spirv
from xtile.targets.spellings import FUNCTIONS, SPELLINGS
from xtile.targets.target import Target

INTEL = 0x8086


def gpu(name: str = "Intel(R) Graphics", **properties: Any) -> Any:
    everything = {
        "name": name,
        "vendor_id": INTEL,
        "type": cl.device_type.GPU,
        "il_version": "SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3",
        "extensions": "",
        **properties,
    }
    return SimpleNamespace(**everything)


@pytest.fixture(name="version")
def set_version(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets what devices say of the hardware's version."""

    def set(number: int | None) -> None:
        content = None if number is None else number.to_bytes(4, "little")

        def device_info(device: cl.Device, parameter: int) -> bytes | None:
            return content if parameter == native.DEVICE_IP_VERSION else None

        monkeypatch.setattr(native, "device_info", device_info)

    return set


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        # As Intel's compute-runtime encodes them: 10 bits, 8 bits, 14 bits.
        (0x030DC008, intel.DG2),
        (0x030E0005, intel.DG2),
        (0x030E4000, intel.DG2),
        (0x030F0007, intel.PVC),
        (0x030F4007, intel.PVC),
        (0x05004000, intel.BMG),
        (0x05008000, intel.BMG),
        (0x05010004, intel.BMG),
        # Tiger Lake, Meteor Lake.
        (0x03000000, None),
        (0x03118004, None),
    ],
)
def test_gpus_by_version(number: int, expected: Any, version: Any) -> None:
    version(number)
    assert chip_of(gpu()) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Intel(R) Data Center GPU Max 1550", intel.PVC),
        ("Intel(R) Data Center GPU Flex 170", intel.DG2),
        ("Intel(R) Arc(TM) A770 Graphics", intel.DG2),
        ("Intel(R) Arc(TM) B580 Graphics", intel.BMG),
        ("Intel(R) UHD Graphics 770", None),
    ],
)
def test_gpus_by_name(name: str, expected: Any, version: Any) -> None:
    version(None)
    assert chip_of(gpu(name)) is expected


def test_devices_that_kernels_cannot_be_compiled_for(version: Any) -> None:
    version(0x030F0007)
    assert chip_of(gpu()) is intel.PVC
    assert chip_of(gpu(vendor_id=0x10DE)) is None
    assert chip_of(gpu(il_version="SPIR-V_1.0")) is None
    assert chip_of(gpu(il_version="")) is None


@pytest.mark.parametrize(
    ("extensions", "of_spirv", "spelling"),
    [
        ("cl_intel_subgroups", (), "functions-and-visa"),
        (
            "cl_intel_subgroup_2d_block_io cl_intel_subgroup_matrix_multiply_accumulate",
            (),
            "functions",
        ),
        (
            "cl_intel_subgroups",
            ("SPV_INTEL_2d_block_io", "SPV_INTEL_subgroup_matrix_multiply_accumulate"),
            "extensions",
        ),
    ],
)
def test_drivers_of_gpus_tell_how_products_are_written(
    extensions: str,
    of_spirv: tuple[str, ...],
    spelling: str,
    version: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    version(0x030F0007)

    def reported(device: cl.Device) -> frozenset[str]:
        return frozenset(of_spirv)

    monkeypatch.setattr(native, "spirv_extensions", reported)
    assert target_of(gpu(extensions=extensions)) == for_spirv(intel.PVC, SPELLINGS[spelling])


def test_a_queue_gets_the_spelling_of_its_driver(
    version: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    version(0x030F0007)
    monkeypatch.setattr(native, "spirv_extensions", lambda device: frozenset())
    names = "cl_intel_subgroup_2d_block_io cl_intel_subgroup_matrix_multiply_accumulate"
    found = opencl._device_of.__wrapped__(gpu(extensions=names))
    assert found.target == for_spirv(intel.PVC, FUNCTIONS)


def test_programs_of_different_spellings_are_kept_apart() -> None:
    names = {
        compiler_for(for_spirv(chip, SPELLINGS[spelling])).name
        for chip in (intel.PVC, intel.BMG)
        for spelling in ("functions", "extensions")
    }
    assert len(names) == 4


def test_extensions_of_spirv_are_read() -> None:
    (cpu,) = (device for device in find_devices() if device.is_cpu)
    assert "SPV_INTEL_subgroups" in native.spirv_extensions(cpu.handle)
    assert cpu.target.chip in (intel.CPU, intel.CPU_AVX2, intel.CPU_AMX)


@pytest.mark.parametrize(
    ("has_avx512", "has_amx", "chip"),
    [
        (False, False, intel.CPU_AVX2),
        (True, False, intel.CPU),
        (True, True, intel.CPU_AMX),
    ],
)
def test_cpus(
    has_avx512: bool, has_amx: bool, chip: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(discovery, "has_avx512", lambda: has_avx512)
    monkeypatch.setattr(discovery, "is_amx_enabled", lambda: has_amx)
    cpu = gpu(type=cl.device_type.CPU)
    assert chip_of(cpu) is chip


@pytest.mark.parametrize("chip", [intel.CPU, intel.CPU_AVX2, intel.CPU_AMX])
def test_a_cpu_runs_the_code_for_others_without_a_matrix_unit(chip: Target) -> None:
    device = OpenclDevice(gpu(type=cl.device_type.CPU), for_spirv(chip))
    for name in ("cpu", "cpu-avx2", chip.name):
        found = device.as_chip(name)
        assert found is not None
        assert found.target.name == name
        assert found.handle is device.handle
    assert device.as_chip("pvc") is None
    assert device.as_chip("nothing") is None
    assert (device.as_chip("cpu-amx") is None) == (chip is not intel.CPU_AMX)
    card = OpenclDevice(gpu(), for_spirv(intel.PVC))
    assert card.as_chip("cpu") is None


def test_gpus_come_before_cpus(monkeypatch: pytest.MonkeyPatch, version: Any) -> None:
    version(0x05004000)
    cpu, card = gpu("C", type=cl.device_type.CPU), gpu("G")
    unknown = gpu("U", vendor_id=0)
    monkeypatch.setattr(module, "all_devices", lambda: [cpu, unknown, card, cpu])
    found = find_devices.__wrapped__()
    assert [device.handle for device in found] == [card, cpu, cpu]


def test_the_table_says_of_the_cpu_what_the_runtime_says() -> None:
    device = next(device for device in find_devices() if device.is_cpu)
    row = device.target.chip
    assert row in (intel.CPU, intel.CPU_AVX2, intel.CPU_AMX)
    assert device.subgroup_sizes == row.subgroup_sizes
    assert device.most_work_items == row.most_work_items
    assert device.local_memory == row.local_memory
    assert device.shares_system_memory
    assert device.has_unified_memory
    assert device.has_shared_memory
    assert (device.has_f16, device.has_f64, device.has_bf16) == (True, True, True)
    assert str(device) == f"{row.name} ({device.name})"
