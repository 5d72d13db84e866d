"""The AMD GPUs of this computer.

Source: HIP 6.4, `hipDeviceProp_tR0600` in `hip_runtime_api.h`.
"""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass
from functools import cache

from xtile.arguments.errors import DeviceError
from xtile.backends.amd.hip.driver import load_driver
from xtile.backends.gpu.driver import GpuError, usable
from xtile.backends.gpu.platform import Platform
from xtile.backends.gpu.session import Session
from xtile.backends.machine_code import HSACO
from xtile.targets import AMD, chip_name

_SIZE_OF_PROPERTIES = 4096
"""Bytes for a device's properties, which are 1,472 in ROCm 6 and may grow."""

_NAME, _NAME_LENGTH = 0, 256
_MEMORY = 288
_MULTIPROCESSORS = 388
_ARCHITECTURE = 1160
"""Where a device's properties lie in bytes."""


@dataclass(frozen=True)
class HipDevice:
    """A GPU.

    Attributes:
        ordinal: Its number.
        name: What AMD calls it.
        architecture: The chip with its features, as in `gfx942:sramecc+:xnack-`.
        driver: The version of HIP, as in `6.4`.
        memory: Bytes of its memory.
        shared_memory: Bytes of shared memory that a block can have.
        multiprocessors: Their number.
        chip: The architecture whose machine code it runs; None if it is not known.
    """

    ordinal: int
    name: str
    architecture: str
    driver: str
    memory: int
    shared_memory: int
    multiprocessors: int
    chip: str | None

    def __str__(self) -> str:
        return f"{self.chip or self.architecture} ({self.name})"


def runs(device: HipDevice, chip: str) -> bool:
    """Whether a GPU runs the machine code of an architecture: its own only."""
    return chip_name(chip) == device.chip


@cache
def find_devices() -> tuple[HipDevice, ...]:
    """The GPUs, in the driver's order.

    Raises:
        DeviceError: There is no driver, or it fails.
    """
    driver = load_driver()
    try:
        version = driver.number("hipDriverGetVersion")
        count = driver.number("hipGetDeviceCount")
        return tuple(_device(number, version) for number in range(count))
    except GpuError as error:
        raise DeviceError(f"the AMD driver fails: {error}") from None


def _device(ordinal: int, version: int) -> HipDevice:
    properties = ctypes.create_string_buffer(_SIZE_OF_PROPERTIES)
    load_driver().call("hipGetDevicePropertiesR0600", properties, ordinal)
    data = properties.raw
    architecture = _text(data, _ARCHITECTURE)
    memory, shared_memory = struct.unpack_from("<QQ", data, _MEMORY)
    (multiprocessors,) = struct.unpack_from("<i", data, _MULTIPROCESSORS)
    chip = chip_name(architecture)
    return HipDevice(
        ordinal,
        _text(data, _NAME),
        architecture,
        f"{version // 10_000_000}.{version // 100_000 % 100}",
        memory,
        shared_memory,
        multiprocessors,
        chip if chip in AMD.chips else None,
    )


def _text(data: bytes, offset: int) -> str:
    text = data[offset : offset + _NAME_LENGTH].split(b"\0", 1)[0]
    return text.decode(errors="replace").strip()


def available_devices() -> tuple[HipDevice, ...]:
    """The GPUs that kernels can be compiled for; none where there is no driver."""
    return usable(find_devices)


@cache
def session_of(device: HipDevice) -> Session:
    """The session of a GPU.

    Raises:
        DeviceError: The GPU cannot be used.
    """
    return Session(device, load_driver())


PLATFORM = Platform("hip", HSACO, find_devices, runs, session_of)
"""AMD's GPUs."""
