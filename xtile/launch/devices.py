"""The devices that a kernel can be launched on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xtile.arguments.errors import ArgumentError, DeviceError, HostFunctionError, UnknownDeviceError
from xtile.launch.executable import (
    CUDA_NAME,
    FIELD_NAME,
    HIP_NAME,
    REFERENCE_NAME,
    TRITON_NAME,
    Executable,
    Kernel,
)
from xtile.text.diagnostics import DiagnosticError


@dataclass(frozen=True)
class Device:
    """Something that runs kernels.

    Attributes:
        name: What `device=` calls it.
        description: One line about it.
        can_sanitize: Whether it can look for mistakes while it runs.
        load: Makes a kernel ready to be launched.
    """

    name: str
    description: str
    can_sanitize: bool
    load: Callable[[Kernel], Executable]


def _load_for_reference(kernel: Kernel) -> Executable:
    if kernel.binary is not None:
        raise ArgumentError(
            "the device 'reference' runs no binaries; use an OpenCL device or a CUDA GPU"
        )
    # numpy's engine is loaded when something runs on it.
    from xtile.launch.reference import load

    return load(kernel)


def _load_for_field(kernel: Kernel) -> Executable:
    if kernel.binary is not None:
        raise ArgumentError("the device 'field' runs no binaries; use an OpenCL device or a GPU")
    from xtile.launch.field import load_for_field

    return load_for_field(kernel)


def _load_for_opencl(kernel: Kernel) -> Executable:
    from xtile.launch.opencl import load

    return load(kernel, None)


def _with_hosts(name: str, load: Callable[[Kernel], Executable]) -> Callable[[Kernel], Executable]:
    """What loads functions of the host, too, whose kernels a device runs."""

    def loaded(kernel: Kernel) -> Executable:
        try:
            return load(kernel)
        # Some kernel of the file cannot be compiled, which need not be one that is launched.
        except (HostFunctionError, DiagnosticError):
            from xtile.launch.hosted import load_host

            hosted = load_host(kernel, name, load)
            if hosted is None:
                raise
            return hosted

    return loaded


def _load_for_cuda(kernel: Kernel) -> Executable:
    return _load_for_gpu(kernel, CUDA_NAME)


def _load_for_gpu(kernel: Kernel, name: str) -> Executable:
    from xtile.launch.gpu import Wanted, load

    return load(kernel, Wanted(device=name))


def _load_for_the_best(kernel: Kernel) -> Executable:
    from xtile.backends.amd.hip.device import available_devices as hip_devices
    from xtile.backends.intel.opencl.setup import available_devices as opencl_devices
    from xtile.backends.nvidia.cuda.device import available_devices as cuda_devices

    for gpus, devices in ((CUDA, cuda_devices), (HIP, hip_devices)):
        if not devices():
            continue
        try:
            return gpus.load(kernel)
        # What is wrong with the kernel itself, the next device says, too.
        except (DeviceError, DiagnosticError, HostFunctionError):
            continue
    if not opencl_devices():
        return REFERENCE.load(kernel)
    try:
        return _load_for_opencl(kernel)
    except HostFunctionError:
        return REFERENCE.load(kernel)


REFERENCE = Device(
    REFERENCE_NAME,
    "the language's meaning in numpy, on the CPU",
    can_sanitize=True,
    load=_load_for_reference,
)

FIELD = Device(
    FIELD_NAME,
    "the reference with exact numbers in place of floats, to compare a kernel with its port",
    can_sanitize=False,
    load=_load_for_field,
)

CUDA = Device(
    CUDA_NAME,
    "the first of NVIDIA's GPUs",
    can_sanitize=False,
    load=_load_for_cuda,
)

HIP = Device(
    HIP_NAME,
    "the first of AMD's GPUs, by Triton's compiler",
    can_sanitize=False,
    load=lambda kernel: _load_for_gpu(kernel, HIP_NAME),
)

TRITON = Device(
    TRITON_NAME,
    "the first GPU of NVIDIA's or AMD's, by Triton's compiler",
    can_sanitize=False,
    load=lambda kernel: _load_for_gpu(kernel, TRITON_NAME),
)

OPENCL = Device(
    "opencl",
    "the first of Intel's OpenCL devices, GPUs before CPUs",
    can_sanitize=False,
    load=_with_hosts("opencl", _load_for_opencl),
)

AUTOMATIC = Device(
    "auto",
    "a GPU or an OpenCL device for kernels that it can run, and else the reference",
    can_sanitize=False,
    load=_load_for_the_best,
)

DEVICES: dict[str, Device] = {
    device.name: device for device in (REFERENCE, FIELD, CUDA, HIP, TRITON, OPENCL, AUTOMATIC)
}
"""Every kind of device by name."""


def find_device(device: str | Any, *, sanitize: bool = False) -> Device:
    """Returns the device that is meant.

    Args:
        device: A name of `DEVICES`, the name of an architecture that an OpenCL device or a GPU must
            have, `cuda:1` or `hip:1` for a GPU by its number, or a `pyopencl.CommandQueue` or a
            stream of torch or CuPy that kernels are launched in.
        sanitize: Whether it must be able to look for mistakes, where there is a choice.

    Raises:
        DeviceError: There is none here.
        UnknownDeviceError: There is no such name.
    """
    if not isinstance(device, str):
        return _device_of_queue(device)
    chosen = DEVICES.get(device)
    if chosen is None:
        return _device_of_architecture(device)
    return REFERENCE if chosen is AUTOMATIC and sanitize else chosen


def _device_of_architecture(name: str) -> Device:
    from xtile.targets import INTEL

    if name in INTEL.chips:
        from xtile.backends.intel.opencl.setup import find
        from xtile.launch.opencl import load

        chosen = find(name)
        loaded = _with_hosts(name, lambda k: load(k, chosen))
        return Device(name, str(chosen), can_sanitize=False, load=loaded)
    from xtile.launch import gpu

    wanted = gpu.wanted_of(name)
    if wanted is None:
        raise UnknownDeviceError(f"there is no device '{name}'; there are {_known_devices()}")
    what = DEVICES[wanted.device].description
    return Device(name, what, can_sanitize=False, load=lambda k: gpu.load(k, wanted))


def _known_devices() -> str:
    from xtile.targets import LAUNCHED_VENDORS

    names = (*DEVICES, *(name for vendor in LAUNCHED_VENDORS for name in vendor.chips))
    return ", ".join(f"'{name}'" for name in names)


def _device_of_queue(queue: Any) -> Device:
    if type(queue).__module__.partition(".")[0] == "pyopencl" and hasattr(queue, "device"):
        from xtile.launch.opencl import load_for_queue

        name = queue.device.name.strip()
        loaded = _with_hosts(name, lambda k: load_for_queue(k, queue))
        return Device(name, name, can_sanitize=False, load=loaded)
    from xtile.launch import gpu

    wanted = gpu.wanted_by_stream(queue)
    if wanted is None:
        raise ArgumentError(
            "expected the name of a device, a pyopencl.CommandQueue or a CUDA stream of torch or "
            f"CuPy, given {queue!r}"
        )
    name = wanted.device
    return Device(name, "a stream", can_sanitize=False, load=lambda k: gpu.load(k, wanted))
