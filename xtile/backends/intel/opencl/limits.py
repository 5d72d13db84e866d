"""What a device can do, compared with what a launch needs, before it begins.

Source: The SPIR-V Specification, section "Capability"; The OpenCL Specification 3.0, section 4.2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TypeAlias

from xtile.arguments.errors import ArgumentError
from xtile.backends.intel.compilation import KernelInterface
from xtile.backends.intel.opencl.device import OpenclDevice

Size3: TypeAlias = tuple[int, int, int]

MOST_GROUPS = 2**31 - 1
"""Work-groups in each mode of a launch; drivers number them in 32 bits."""

_FIRST_INSTRUCTION = 5
_CAPABILITY = 17
_FLOAT16 = 9
_FLOAT64 = 10


def check_types(name: str, spirv: bytes, device: OpenclDevice) -> None:
    """Checks that the device computes in the types of a program.

    Raises:
        ArgumentError: It has not f16 or f64, which a kernel of the program computes in.
    """
    needed = set(_capabilities(spirv))
    for capability, type, is_there in (
        (_FLOAT16, "f16", device.has_f16),
        (_FLOAT64, "f64", device.has_f64),
    ):
        if capability in needed and not is_there:
            raise ArgumentError(
                f"the program of @{name} computes in {type}, which the device {device} does not"
            )


def _capabilities(spirv: bytes) -> Iterator[int]:
    """The capabilities that a module declares; they come first in it."""
    words = memoryview(spirv).cast("I")
    position = _FIRST_INSTRUCTION
    while position < len(words) and words[position] & 0xFFFF == _CAPABILITY:
        yield words[position + 1]
        position += words[position] >> 16


def check_kernel(kernel: KernelInterface, device: OpenclDevice) -> None:
    """Checks what a kernel itself says that it needs.

    Raises:
        ArgumentError: The device has not so much local memory, or no such subgroups.
    """
    if kernel.local_memory > device.local_memory:
        raise ArgumentError(
            f"@{kernel.name} needs {kernel.local_memory} bytes of local memory, but a work-group "
            f"of the device {device} can have {device.local_memory}"
        )
    sizes = device.subgroup_sizes
    if kernel.subgroup_size is not None and kernel.subgroup_size not in sizes:
        known = ", ".join(map(str, sizes)) or "none"
        raise ArgumentError(
            f"@{kernel.name} needs subgroups of {kernel.subgroup_size} work-items, but those of "
            f"the device {device} can have {known}"
        )


def work_group_size(kernel: KernelInterface, block: Size3 | None, device: OpenclDevice) -> Size3:
    """The size of a launch's work-groups: what the kernel says, or else the launch.

    Raises:
        ArgumentError: They contradict each other, or the device has no such work-groups.
    """
    size = kernel.work_group_size
    if size is None:
        size = (1, 1, 1) if block is None else block
    elif not kernel.ignores_block and block not in (None, size, kernel.source_size):
        wanted = kernel.source_size or size
        raise ArgumentError(f"@{kernel.name} has work-groups of {wanted}, given block {block}")
    if math.prod(size) % kernel.lanes_together:
        raise ArgumentError(
            f"the lanes of a subgroup of @{kernel.name} hold matrices together, so a work-group "
            f"must have a multiple of {kernel.lanes_together} work-items, given block {size}"
        )
    if math.prod(size) > device.most_work_items:
        raise ArgumentError(
            f"a work-group of @{kernel.name} has {math.prod(size)} work-items, but one of "
            f"the device {device} can have {device.most_work_items}"
        )
    for mode, count, most in zip("xyz", size, device.most_work_items_in_mode, strict=True):
        if count > most:
            raise ArgumentError(
                f"a work-group of @{kernel.name} has {count} work-items in {mode}, but one of "
                f"the device {device} can have {most}"
            )
    return size


def check_grid(name: str, grid: Size3) -> None:
    """Checks the number of work-groups.

    Raises:
        ArgumentError: There are too many in a mode.
    """
    for mode, count in zip("xyz", grid, strict=True):
        if count > MOST_GROUPS:
            raise ArgumentError(
                f"the grid of @{name} has {count} work-groups in {mode}, but a launch can have "
                f"{MOST_GROUPS}"
            )
