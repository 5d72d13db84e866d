"""The NVIDIA GPUs of this computer, and which architecture's machine code each runs.

Source: CUDA C++ Programming Guide 13.0, section "Binary Compatibility": machine code runs on GPUs
of the same major and the same or a later minor compute capability.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from xtile.arguments.errors import DeviceError
from xtile.backends.gpu.driver import usable
from xtile.backends.nvidia.cuda.driver import CudaError, load_driver
from xtile.targets import NVIDIA

_NAME_LENGTH = 256


@dataclass(frozen=True)
class CudaDevice:
    """A GPU.

    Attributes:
        ordinal: Its number.
        name: What NVIDIA calls it.
        capability: Its compute capability, major and minor.
        driver: The version of CUDA that the driver has, as in `13.0`.
        memory: Bytes of its memory.
        shared_memory: Bytes of shared memory that a block can have.
        multiprocessors: Their number.
        blocks_per_multiprocessor: The most thread blocks that run on one at the same time.
        chip: The newest architecture whose machine code it runs; None if there is none.
    """

    ordinal: int
    name: str
    capability: tuple[int, int]
    driver: str
    memory: int
    shared_memory: int
    multiprocessors: int
    blocks_per_multiprocessor: int
    chip: str | None

    def __str__(self) -> str:
        return f"{self.chip or 'cuda'} ({self.name})"


def runs(device: CudaDevice, chip: str) -> bool:
    """Whether a GPU runs the machine code of an architecture."""
    return chip == device.chip or chip_for(device.capability, [chip]) is not None


def chip_for(capability: tuple[int, int], chips: Iterable[str]) -> str | None:
    """The newest of some architectures whose machine code a GPU runs."""
    major, minor = capability
    fitting = [
        (chip_minor, chip)
        for chip in chips
        for chip_major, chip_minor in (capability_of(chip),)
        if chip_major == major and chip_minor <= minor
    ]
    return max(fitting)[1] if fitting else None


def capability_of(chip: str) -> tuple[int, int]:
    """The compute capability of an architecture: 9 and 0 for `sm_90`, 12 and 1 for `sm_121`."""
    digits = chip.removeprefix("sm_")
    return int(digits[:-1]), int(digits[-1])


@cache
def find_devices() -> tuple[CudaDevice, ...]:
    """The GPUs, in the driver's order.

    Raises:
        DeviceError: There is no driver, or it fails.
    """
    driver = load_driver()
    try:
        version = int(driver.call("cuDriverGetVersion"))
        return tuple(_device(number, version) for number in range(driver.call("cuDeviceGetCount")))
    except CudaError as error:
        raise DeviceError(f"the NVIDIA driver fails: {error}") from None


def _device(ordinal: int, version: int) -> CudaDevice:
    driver = load_driver()
    handle = driver.call("cuDeviceGet", ordinal)
    name: bytes = driver.call("cuDeviceGetName", _NAME_LENGTH, handle)
    capability = (
        driver.attribute("COMPUTE_CAPABILITY_MAJOR", handle),
        driver.attribute("COMPUTE_CAPABILITY_MINOR", handle),
    )
    return CudaDevice(
        ordinal,
        name.split(b"\0", 1)[0].decode(errors="replace").strip(),
        capability,
        f"{version // 1000}.{version % 1000 // 10}",
        int(driver.call("cuDeviceTotalMem", handle)),
        driver.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", handle),
        driver.attribute("MULTIPROCESSOR_COUNT", handle),
        driver.attribute("MAX_BLOCKS_PER_MULTIPROCESSOR", handle),
        chip_for(capability, NVIDIA.chips),
    )


def available_devices() -> tuple[CudaDevice, ...]:
    """The GPUs that kernels can be compiled for; none where there is no driver."""
    return usable(find_devices)
