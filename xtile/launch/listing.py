"""What `xtile devices` does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xtile.backends.amd.hip.device import available_devices as available_amd_gpus
from xtile.backends.amd.hip.device import runs as amd_gpu_runs
from xtile.backends.intel.opencl.setup import available_devices
from xtile.backends.nvidia.cuda.device import available_devices as available_gpus
from xtile.backends.nvidia.cuda.device import runs
from xtile.command import EXIT_OK, Messages, print_table, write_standard_output
from xtile.launch.devices import CUDA, HIP, OPENCL, REFERENCE
from xtile.launch.missing import compiles, missing
from xtile.targets import AMD, LAUNCHED_VENDORS, NVIDIA

if TYPE_CHECKING:
    from rich.table import Table

    from xtile.backends.amd.hip.device import HipDevice
    from xtile.backends.intel.opencl.device import OpenclDevice
    from xtile.backends.nvidia.cuda.device import CudaDevice

_KILOBYTE = 1024

_WIDTH = 80
"""Columns of the tables where the output is no terminal."""


@dataclass(frozen=True)
class _Here:
    """The devices of this computer.

    Attributes:
        cuda: NVIDIA's GPUs.
        hip: AMD's.
        opencl: Intel's OpenCL devices.
    """

    cuda: tuple[CudaDevice, ...]
    hip: tuple[HipDevice, ...]
    opencl: tuple[OpenclDevice, ...]

    def runs(self, chip: str) -> bool:
        """Whether one of them runs machine code for a chip."""
        if chip in NVIDIA.chips:
            return any(runs(gpu, chip) for gpu in self.cuda)
        if chip in AMD.chips:
            return any(amd_gpu_runs(gpu, chip) for gpu in self.hip)
        return any(device.as_chip(chip) is not None for device in self.opencl)


def list_devices(*, as_json: bool = False) -> int:
    """Prints the devices, the chips, and how to add what is missing; returns the exit code."""
    here = _Here(available_gpus(), available_amd_gpus(), available_devices())
    lines = list(
        missing(has_nvidia_gpu=bool(here.cuda), has_amd_gpu=bool(here.hip), opencl=here.opencl)
    )
    if not as_json:
        print_table(_devices(here), _WIDTH)
        print_table(_chips(here), _WIDTH)
        for line in lines:
            write_standard_output(f"{_folded(line)}\n")
    devices = [{"name": row[0], "what": row[1]} for row in _device_rows(here)]
    chips = [vars(row) for row in _chip_rows(here)]
    words = {"devices": devices, "chips": chips, "missing": lines}
    return Messages(as_json=as_json).end(EXIT_OK, words)


def _folded(line: str) -> str:
    """A line in two, if it is long: what is missing, and what to do."""
    problem, colon, remedy = line.partition(": ")
    return line if len(line) <= _WIDTH or not colon else f"{problem}:\n  {remedy}"


# --- what kernels run on here ---


def _devices(here: _Here) -> Table:
    from rich.table import Table

    table = Table(show_lines=True, width=_WIDTH)
    table.add_column("device", no_wrap=True)
    table.add_column("what it is, and what it can do", overflow="fold", ratio=1)
    for name, what in _device_rows(here):
        table.add_row(name, what)
    return table


def _device_rows(here: _Here) -> Iterator[tuple[str, str]]:
    """The names of each device, and what it is and can do."""
    yield REFERENCE.name, f"{REFERENCE.description}\nall types; looks for mistakes, too"
    for device, api, gpus in ((CUDA, "CUDA", here.cuda), (HIP, "HIP", here.hip)):
        for gpu in gpus:
            name = f"{device.name}:{gpu.ordinal}" if gpu.ordinal else device.name
            description = f"{gpu.name}, {api} {gpu.driver}\n{_gpu_abilities(gpu)}"
            yield f"{name}, {gpu.chip}", description
    for number, device in enumerate(here.opencl):
        names = device.target.name if number else f"{OPENCL.name}, {device.target.name}"
        yield names, f"{_description(device)}\n{_abilities(device)}"


def _description(device: OpenclDevice) -> str:
    return f"{device.name}, driver {device.driver} of {device.platform}"


def _abilities(device: OpenclDevice) -> str:
    units = device.target.chip.matrix_units
    matrix_unit = units[0].instruction if units else "no matrix unit"
    has_types = {
        "f16": device.has_f16,
        "f64": device.has_f64,
        "bf16": device.has_bf16,
        "bf16 as f32": not device.has_bf16,
    }
    types = " ".join(name for name, is_there in has_types.items() if is_there)
    sizes = " ".join(map(str, device.subgroup_sizes))
    memory = device.local_memory // _KILOBYTE
    return f"subgroups of {sizes}, {memory} KiB of local memory, {types}, {matrix_unit}"


def _gpu_abilities(gpu: CudaDevice | HipDevice) -> str:
    # A kernel is made of tiles, which the assembler gives to threads.
    memory = gpu.shared_memory // _KILOBYTE
    unit = "matrix cores" if gpu.chip in AMD.chips else "tensor cores"
    return f"tiles, {memory} KiB of shared memory, f16 f64 bf16, {unit}"


# --- what kernels can be compiled for ---


@dataclass(frozen=True)
class _Chip:
    """A line of the table of chips: whether kernels are compiled for it and run on it here."""

    name: str
    vendor: str
    what: str
    is_default: bool
    compiles: bool
    runs: bool


def _chips(here: _Here) -> Table:
    from rich.table import Table

    table = Table(caption="*: the default of its vendor", caption_justify="left")
    for heading in ("chip", "vendor", "what it is", "compiles", "runs"):
        table.add_column(heading, no_wrap=True)
    for each in _chip_rows(here):
        name = f"{each.name} *" if each.is_default else each.name
        table.add_row(name, each.vendor, each.what, _yes(each.compiles), _yes(each.runs))
    return table


def _chip_rows(here: _Here) -> Iterator[_Chip]:
    for vendor in LAUNCHED_VENDORS:
        is_compiled = compiles(vendor)
        for chip, target in vendor.chips.items():
            is_default = chip == vendor.default
            what = target.description
            yield _Chip(chip, vendor.name, what, is_default, is_compiled, here.runs(chip))


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"
