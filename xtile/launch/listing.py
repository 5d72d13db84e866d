"""What `xtile devices` does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from xtile.backends.nvidia.cuda.device import available_devices as available_gpus
from xtile.command import EXIT_OK, print_table, write_standard_output
from xtile.launch import cuda_setup, opencl_setup
from xtile.launch.devices import CUDA, OPENCL, REFERENCE
from xtile.launch.opencl import available_devices

if TYPE_CHECKING:
    from rich.table import Table

    from xtile.backends.intel.opencl.device import OpenclDevice
    from xtile.backends.nvidia.cuda.device import CudaDevice

_KILOBYTE = 1024


def list_devices() -> int:
    """Prints the devices, and how to add what is missing; returns the exit code."""
    gpus, devices = available_gpus(), available_devices()
    print_table(_table(gpus, devices))
    missing_for_gpus = cuda_setup.missing(bool(gpus))
    for line in (*_unusable(devices), *_missing(devices), *missing_for_gpus):
        write_standard_output(line + "\n")
    return EXIT_OK


def _table(gpus: tuple[CudaDevice, ...], devices: tuple[OpenclDevice, ...]) -> Table:
    from rich.table import Table

    table = Table()
    table.add_column("device")
    table.add_column("what it is", overflow="fold")
    for heading in ("subgroups", "local memory", "f16", "f64", "bf16", "matrix unit", "sanitizer"):
        table.add_column(heading)
    everything = ("any", "any", "yes", "yes", "yes", "emulated", "yes")
    table.add_row(REFERENCE.name, REFERENCE.description, *everything)
    for gpu in gpus:
        name = f"{CUDA.name}:{gpu.ordinal}" if gpu.ordinal else CUDA.name
        table.add_row(f"{name}, {gpu.chip}", f"{gpu.name}, CUDA {gpu.driver}", *_gpu_abilities(gpu))
    for number, device in enumerate(devices):
        names = device.architecture.name if number else f"{OPENCL.name}, {device.architecture.name}"
        table.add_row(names, _description(device), *_abilities(device))
    return table


def _description(device: OpenclDevice) -> str:
    return f"{device.name}, driver {device.driver} of {device.platform}"


def _abilities(device: OpenclDevice) -> tuple[str, ...]:
    architecture = device.architecture
    if architecture.matrix_unit is not None:
        matrix_unit = "dpas"
    else:
        matrix_unit = "AMX" if architecture.cooperative_matrices else "no"
    return (
        " ".join(map(str, device.subgroup_sizes)),
        f"{device.local_memory // _KILOBYTE} KiB",
        _yes(device.has_f16),
        _yes(device.has_f64),
        "yes" if device.has_bf16 else "as f32",
        matrix_unit,
        "no",
    )


def _gpu_abilities(gpu: CudaDevice) -> tuple[str, ...]:
    # A kernel is made of tiles, which the assembler gives to threads.
    shared_memory = f"{gpu.shared_memory // _KILOBYTE} KiB"
    return ("tiles", shared_memory, "yes", "yes", "yes", "tensor cores", "no")


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def _unusable(devices: tuple[OpenclDevice, ...]) -> Iterator[str]:
    """OpenCL devices for which there is no compiler."""
    if "pyopencl" in opencl_setup.missing_packages():
        return
    from xtile.backends.intel.opencl.device import all_devices

    usable = {device.handle for device in devices}
    for device in all_devices():
        if device not in usable:
            yield f"not usable: {device.name.strip()} of {device.platform.name.strip()}"


def _missing(devices: tuple[OpenclDevice, ...]) -> Iterator[str]:
    """What could be there, and the command that adds it."""
    packages = opencl_setup.missing_packages()
    if not any(device.is_cpu for device in devices):
        if opencl_setup.has_packaged_runtime():
            yield f"no OpenCL device for the CPU: {opencl_setup.advice()}"
        elif "pyopencl" in packages:
            yield f"no OpenCL device: {opencl_setup.advice()}"
    if opencl_setup.has_intel_gpu() and all(device.is_cpu for device in devices):
        yield f"no driver for Intel's GPU: {opencl_setup.gpu_advice()}"
