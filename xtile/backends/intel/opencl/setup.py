"""The OpenCL devices that are here; what is missing for others, and the one command that adds it.

It loads pyopencl where it looks for devices, because that may be missing.
"""

from __future__ import annotations

import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from xtile.arguments.errors import DeviceError

if TYPE_CHECKING:
    from xtile.backends.intel.opencl.device import OpenclDevice

PACKAGES = ("pyopencl", "intel-opencl-rt", "intel-cmplr-lib-rt")
"""What makes a CPU an OpenCL device: the loader, Intel's runtime, and the functions it calls."""

_GPU_DRIVER = "intel-opencl-icd"
"""The package of Debian and Ubuntu with Intel's OpenCL driver for GPUs."""

_INTEL = "0x8086"

_GRAPHICS_CARDS = Path("/sys/class/drm")


def available_devices() -> tuple[OpenclDevice, ...]:
    """The OpenCL devices that kernels can be compiled for; the best one comes first."""
    try:
        from xtile.backends.intel.opencl.device import find_devices
    except ImportError:
        return ()
    return find_devices()


def find(chip: str | None) -> OpenclDevice:
    """Returns the best OpenCL device, of a chip if one is named.

    Raises:
        DeviceError: There is none; the message says how to get one.
    """
    devices = available_devices()
    for device in devices:
        chosen = device if chip is None else device.as_chip(chip)
        if chosen is not None:
            return chosen
    if not devices:
        raise DeviceError(f"there is no OpenCL device here; {advice()}")
    there = ", ".join(f"'{device.target.name}'" for device in devices)
    raise DeviceError(f"there is no OpenCL device '{chip}' here; there is {there}")


def has_packaged_runtime() -> bool:
    """Whether PyPI has the CPU runtime for this computer and its system."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def missing_packages() -> list[str]:
    """The packages for OpenCL on the CPU that are not installed."""
    missing: list[str] = []
    for package in PACKAGES:
        try:
            version(package)
        except PackageNotFoundError:
            missing.append(package)
    return missing


def advice() -> str:
    """How to get an OpenCL device, for an error that there is none."""
    missing = missing_packages()
    if missing and has_packaged_runtime():
        return f"add one with: pip install {' '.join(missing)}"
    if "pyopencl" in missing:
        return "add pyopencl with: pip install pyopencl, and a driver for the device"
    if not missing:
        return (
            "the packages for the CPU are installed, but OpenCL's loader does not show it; if the "
            "program uses pyopencl itself, launch with xtile before it asks for the platforms"
        )
    return "install the device's OpenCL driver"


def has_intel_gpu() -> bool:
    """Whether this computer has a GPU of Intel's; known on Linux only."""
    for vendor in _GRAPHICS_CARDS.glob("card*/device/vendor"):
        try:
            if vendor.read_text().strip() == _INTEL:
                return True
        except OSError:
            continue
    return False


def gpu_advice() -> str:
    """How to get the driver of a GPU."""
    return f"apt-get install {_GPU_DRIVER}"
