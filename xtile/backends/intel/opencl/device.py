"""OpenCL's devices: which chip each is, and what it can do.

Source: The OpenCL Specification 3.0, section 4.2; extension cl_intel_device_attribute_query; for
hardware versions the configurations of Intel's compute-runtime (`ocloc ids`).
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, replace
from functools import cache, cached_property

import pyopencl as cl

from xtile.backends.intel.opencl import discovery, native
from xtile.targets import intel
from xtile.targets.lanes import LaneTarget, for_spirv
from xtile.targets.spellings import spelling_for_driver
from xtile.targets.target import Target

_INTEL = 0x8086
"""Intel's number as a vendor of PCI devices."""

_CHIPS = {
    (12, 55): intel.DG2,
    (12, 56): intel.DG2,
    (12, 57): intel.DG2,
    (12, 60): intel.PVC,
    (12, 61): intel.PVC,
    (20, 1): intel.BMG,
    (20, 2): intel.BMG,
    (20, 4): intel.BMG,
}
"""Which chip each GPU is, by its hardware's version; Lunar Lake's GPU is Battlemage's."""

_MARKETING_NAMES = {
    "Data Center GPU Max": intel.PVC,
    "Data Center GPU Flex": intel.DG2,
    "Arc(TM) A": intel.DG2,
    "Arc(TM) B": intel.BMG,
}
"""Which chip each GPU is, by part of its name, for drivers that do not tell the version."""

_LEAST_SPIRV = "SPIR-V_1.2"


@dataclass(frozen=True, eq=False)
class OpenclDevice:
    """A device of an OpenCL platform that kernels can be compiled for.

    Attributes:
        handle: OpenCL's device.
        target: What kernels are compiled for: its chip, and what its driver takes.
    """

    handle: cl.Device
    target: LaneTarget

    def __str__(self) -> str:
        return f"{self.target.name} ({self.name})"

    def as_chip(self, name: str) -> OpenclDevice | None:
        """The device with code for a chip; None if it cannot run that.

        A CPU runs the code for every CPU without a matrix unit, fast or not.
        """
        if name == self.target.name:
            return self
        chip = next((chip for chip in intel.TARGETS if chip.name == name), None)
        if chip is None or not self.is_cpu or chip.vector_unit is None or chip.matrix_units:
            return None
        return replace(self, target=for_spirv(chip))

    @cached_property
    def name(self) -> str:
        """What the driver calls the device."""
        return self.handle.name.strip()

    @cached_property
    def driver(self) -> str:
        """The driver's version."""
        return self.handle.driver_version.strip()

    @cached_property
    def platform(self) -> str:
        """What the driver calls itself."""
        return self.handle.platform.name.strip()

    @cached_property
    def identity(self) -> str:
        """What tells apart devices that cannot run each other's code."""
        parts = [self.platform, self.handle.platform.version, self.name, self.driver]
        if self.is_cpu:
            flags = " ".join(sorted(discovery.cpu_flags()))
            parts += [hashlib.sha256(flags.encode()).hexdigest(), str(discovery.is_amx_enabled())]
            parts.append(discovery.compiler_options())
        return "\n".join(parts)

    @cached_property
    def is_cpu(self) -> bool:
        """Whether it is the computer's CPU."""
        return bool(self.handle.type & cl.device_type.CPU)

    @cached_property
    def extensions(self) -> frozenset[str]:
        """OpenCL's extensions that it has."""
        return frozenset(self.handle.extensions.split())

    @cached_property
    def subgroup_sizes(self) -> tuple[int, ...]:
        """The subgroup sizes that a kernel can ask for, smallest first."""
        content = native.device_info(self.handle, native.DEVICE_SUBGROUP_SIZES) or b""
        return tuple(sorted(struct.unpack(f"{len(content) // 8}Q", content)))

    @cached_property
    def most_work_items(self) -> int:
        """The largest work-group."""
        return self.handle.max_work_group_size

    @cached_property
    def most_work_items_in_mode(self) -> tuple[int, int, int]:
        """The largest work-group in x, y and z."""
        x, y, z = self.handle.max_work_item_sizes[:3]
        return x, y, z

    @cached_property
    def local_memory(self) -> int:
        """Bytes of local memory that a work-group can have."""
        return self.handle.local_mem_size

    @property
    def has_f64(self) -> bool:
        """Whether it computes with f64."""
        return "cl_khr_fp64" in self.extensions

    @property
    def has_f16(self) -> bool:
        """Whether it computes with f16."""
        return "cl_khr_fp16" in self.extensions

    @property
    def has_bf16(self) -> bool:
        """Whether it converts between bf16 and f32."""
        return bool(self.extensions & {"cl_intel_bfloat16_conversions", "cl_intel_bfloat16"})

    @property
    def has_unified_memory(self) -> bool:
        """Whether its driver has Intel's unified shared memory."""
        return "cl_intel_unified_shared_memory" in self.extensions

    @cached_property
    def shares_system_memory(self) -> bool:
        """Whether kernels can access all memory of the process at its own addresses."""
        capabilities = self.handle.svm_capabilities
        return bool(capabilities & cl.device_svm_capabilities.FINE_GRAIN_SYSTEM)

    @cached_property
    def has_shared_memory(self) -> bool:
        """Whether memory can be allocated that has one address for the host and kernels."""
        return bool(self.handle.svm_capabilities)


def target_of(device: cl.Device) -> LaneTarget | None:
    """What kernels for a device are compiled for, in the spelling that its driver reports to take.

    None if kernels cannot be compiled for it.
    """
    chip = chip_of(device)
    if chip is None or not chip.units("dpas"):
        return None if chip is None else for_spirv(chip)
    reported = {*device.extensions.split(), *native.spirv_extensions(device)}
    return for_spirv(chip, spelling_for_driver(chip, reported))


def chip_of(device: cl.Device) -> Target | None:
    """Which chip a device is; None if kernels cannot be compiled for it."""
    if device.vendor_id != _INTEL or not _reads_spirv(device):
        return None
    if device.type & cl.device_type.CPU:
        if discovery.is_amx_enabled():
            return intel.CPU_AMX
        return intel.CPU if discovery.has_avx512() else intel.CPU_AVX2
    version = native.device_info(device, native.DEVICE_IP_VERSION)
    if version is not None and len(version) == 4:
        number = int.from_bytes(version, "little")
        return _CHIPS.get((number >> 22, number >> 14 & 0xFF))
    chips = (chip for name, chip in _MARKETING_NAMES.items() if name in device.name)
    return next(chips, None)


def _reads_spirv(device: cl.Device) -> bool:
    try:
        return _LEAST_SPIRV in str(device.il_version)
    except cl.LogicError:
        return False


@cache
def find_devices() -> tuple[OpenclDevice, ...]:
    """The devices that kernels can be compiled for: GPUs first, then CPUs."""
    found: list[OpenclDevice] = []
    for device in all_devices():
        target = target_of(device)
        if target is not None:
            found.append(OpenclDevice(device, target))
    return tuple(sorted(found, key=lambda device: device.is_cpu))


def all_devices() -> list[cl.Device]:
    """Every device of every platform."""
    devices: list[cl.Device] = []
    for platform in discovery.find_platforms():
        try:
            devices += platform.get_devices()
        except cl.LogicError:
            # CL_DEVICE_NOT_FOUND: a driver without hardware.
            continue
    return devices
