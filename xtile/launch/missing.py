"""What is missing here for devices and for compilers, and how to add it, as `xtile devices` says.

What GPUs a computer has is known on Linux only.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from xtile.arguments.errors import DeviceError
from xtile.backends.intel.opencl import setup
from xtile.backends.nvidia.tools import PACKAGES as NVIDIA_PACKAGES
from xtile.backends.nvidia.tools import find_tileiras
from xtile.backends.triton.installed import PACKAGES as TRITON_PACKAGES
from xtile.backends.triton.installed import triton_problem
from xtile.targets import AMD, NVIDIA, Vendor

if TYPE_CHECKING:
    from xtile.backends.intel.opencl.device import OpenclDevice


def missing(
    *, has_nvidia_gpu: bool, has_amd_gpu: bool, opencl: tuple[OpenclDevice, ...]
) -> Iterator[str]:
    """What could be there or is needed, and what adds it.

    Args:
        has_nvidia_gpu: Whether kernels can be launched on a GPU of NVIDIA's already.
        has_amd_gpu: The same of AMD's.
        opencl: Intel's devices that kernels can be launched on.
    """
    yield from _unusable(opencl)
    yield from _missing_for_intel(opencl)
    yield from _missing_for_nvidia(has_nvidia_gpu)
    yield from _missing_for_amd(has_amd_gpu)
    if not compiles(NVIDIA):
        yield f"to compile for NVIDIA's chips: {NVIDIA_PACKAGES}"
    if not compiles(AMD):
        yield f"to compile for AMD's chips: {TRITON_PACKAGES}"
    if not has_nvidia_gpu:
        yield f"to run on NVIDIA's chips: a GPU, {_NVIDIA_DRIVER}, {NVIDIA_PACKAGES}"
    if not has_amd_gpu:
        yield f"to run on AMD's chips: a GPU, {_ROCM}"
    if all(device.is_cpu for device in opencl):
        yield f"to run on Intel's GPUs: a GPU, {setup.gpu_advice()}"


def compiles(vendor: Vendor) -> bool:
    """Whether machine code can be made here for a vendor's chips."""
    if vendor is NVIDIA:
        return _assembler_problem() is None
    return vendor is not AMD or triton_problem() is None


# --- Intel ---


def _unusable(devices: tuple[OpenclDevice, ...]) -> Iterator[str]:
    """OpenCL devices for which there is no compiler."""
    if "pyopencl" in setup.missing_packages():
        return
    from xtile.backends.intel.opencl.device import all_devices

    usable = {device.handle for device in devices}
    for device in all_devices():
        if device not in usable:
            yield f"not usable: {device.name.strip()} of {device.platform.name.strip()}"


def _missing_for_intel(devices: tuple[OpenclDevice, ...]) -> Iterator[str]:
    packages = setup.missing_packages()
    if not any(device.is_cpu for device in devices):
        if setup.has_packaged_runtime():
            yield f"no OpenCL device for the CPU: {setup.advice()}"
        elif "pyopencl" in packages:
            yield f"no OpenCL device: {setup.advice()}"
    if setup.has_intel_gpu() and all(device.is_cpu for device in devices):
        yield f"no driver for Intel's GPU: {setup.gpu_advice()}"


# --- NVIDIA ---

_NVIDIA_DRIVER = "release 580 or later of NVIDIA's driver"
"""What GPUs are launched with."""

_PCI_VENDOR = "0x10de"

_PCI_DEVICES = Path("/sys/bus/pci/devices")

_DISPLAY_CLASS = "0x03"
"""How PCI's class of a graphics card or a 3D controller begins."""

_NVIDIA_MODULE = Path("/proc/driver/nvidia/version")


def _missing_for_nvidia(has_devices: bool) -> Iterator[str]:
    if has_devices:
        problem = _assembler_problem()
        if problem is not None:
            yield f"only compiled kernels run on NVIDIA's GPU: {problem}"
    elif _has_nvidia_gpu():
        if find_spec("cuda") is None:
            yield f"no package for NVIDIA's GPU: {NVIDIA_PACKAGES}"
        else:
            yield f"no driver for NVIDIA's GPU: install {_NVIDIA_DRIVER}"


def _assembler_problem() -> str | None:
    """Why nothing can be compiled to machine code; None if it can."""
    try:
        find_tileiras()
    except DeviceError as error:
        return str(error)
    return None


def _has_nvidia_gpu() -> bool:
    """Whether this computer has a GPU of NVIDIA's, with a driver or without."""
    for device in _PCI_DEVICES.glob("*"):
        try:
            is_nvidia = (device / "vendor").read_text().strip() == _PCI_VENDOR
            if is_nvidia and (device / "class").read_text().startswith(_DISPLAY_CLASS):
                return True
        except OSError:
            continue
    return _NVIDIA_MODULE.exists()


# --- AMD ---

_ROCM = "ROCm 6 or later (https://rocm.docs.amd.com)"
"""What GPUs are launched with."""

_AMD_MODULE = Path("/sys/module/amdgpu")
_AMD_COMPUTE = Path("/dev/kfd")


def _missing_for_amd(has_devices: bool) -> Iterator[str]:
    if has_devices:
        if triton_problem() is not None:
            yield f"only compiled kernels run on AMD's GPU: {TRITON_PACKAGES}"
    elif _AMD_COMPUTE.exists() and _AMD_MODULE.exists():
        yield f"no library for AMD's GPU: install {_ROCM}"
