"""The arguments of a launch as the arguments of a kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyopencl as cl

from xtile.arguments.binding import BoundArgument
from xtile.arguments.calling_convention import KernelArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuMemory
from xtile.arguments.groups import GroupView
from xtile.arguments.signature import Parameter
from xtile.arguments.views import View
from xtile.arguments.words import WordsView
from xtile.backends.argument_values import (
    NULL,
    AnyView,
    addresses_of,
    bytes_before,
    check_alignment,
    size_or_stride,
    size_or_stride_of_words,
    sizes_or_strides,
    words_of,
)
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.device import OpenclDevice
from xtile.backends.intel.opencl.memory import Memory
from xtile.dialects.core.signature import Role


@dataclass(frozen=True)
class Number:
    """An argument that is no pointer, as its bytes."""

    content: bytes

    def set(self, kernel: native.Kernel, index: int, device: OpenclDevice) -> None:
        """Makes it an argument of a kernel."""
        native.set_value(kernel, index, self.content)


@dataclass(frozen=True)
class Address:
    """A pointer to shared virtual memory, or a null pointer."""

    address: int

    def set(self, kernel: native.Kernel, index: int, device: OpenclDevice) -> None:
        """Makes it an argument of a kernel."""
        native.set_address(kernel, index, self.address)


@dataclass(frozen=True)
class UnifiedAddress:
    """A pointer to Intel's unified shared memory."""

    address: int

    def set(self, kernel: native.Kernel, index: int, device: OpenclDevice) -> None:
        """Makes it an argument of a kernel."""
        native.set_unified_address(kernel, index, self.address, device.handle)


@dataclass(frozen=True)
class Buffer:
    """A pointer to the memory of a buffer."""

    buffer: cl.MemoryObject

    def set(self, kernel: native.Kernel, index: int, device: OpenclDevice) -> None:
        """Makes it an argument of a kernel."""
        native.set_buffer(kernel, index, self.buffer)


Value: TypeAlias = Number | Address | UnifiedAddress | Buffer


def kernel_values(
    parameter: Parameter,
    convention: Sequence[KernelArgument],
    argument: BoundArgument,
    memory: Memory,
    device: OpenclDevice,
) -> list[Value]:
    """The arguments of a kernel that one argument of the launch becomes.

    Args:
        parameter: The function's parameter.
        convention: What arguments of the kernel there are for it.
        argument: The argument, which fits the parameter.
        memory: Where arrays of the host are.
        device: Where the kernel runs.

    Raises:
        ArgumentError: The device cannot reach the argument's memory.
    """
    if isinstance(argument, GroupView):
        return [_group_value(parameter, part, argument, memory) for part in convention]
    if isinstance(argument, WordsView):
        words = words_of(parameter, argument, lambda label, view: _address_of(label, view, memory))
        rest = (size_or_stride_of_words(part, argument) for part in convention[1:])
        return [Address(memory.hold(words)), *map(_integer, rest)]
    if convention[0].role is Role.VALUE:
        return [_scalar(str(parameter), argument, memory)]
    assert argument is None or isinstance(argument, View | DeviceView)
    pointer = _pointer(parameter, argument, memory, device)
    return [pointer, *(_integer(size_or_stride(part, argument)) for part in convention[1:])]


def _scalar(label: str, argument: BoundArgument, memory: Memory) -> Value:
    """A number; memory stands for its address."""
    if isinstance(argument, View):
        return _integer(memory.address_of(argument.memory))
    if isinstance(argument, DeviceView):
        return _integer(address_in_device(label, argument))
    assert isinstance(argument, np.generic)
    return Number(argument.tobytes())


def _integer(value: int) -> Number:
    return Number(value.to_bytes(8, "little", signed=value < 0))


def _pointer(
    parameter: Parameter, view: AnyView | None, memory: Memory, device: OpenclDevice
) -> Value:
    if view is None:
        return Address(NULL)
    if isinstance(view, DeviceView) and isinstance(view.memory, cl.Buffer):
        return Buffer(_from_offset(str(parameter), view.memory, view.offset))
    before = bytes_before(parameter)
    address = _address_of(str(parameter), view, memory)
    check_alignment(parameter, np.array([address]))
    address -= before
    if isinstance(view.memory, int) and device.has_unified_memory:
        return UnifiedAddress(address)
    return Address(address)


def _address_of(label: str, view: AnyView, memory: Memory) -> int:
    """Where kernels find an array.

    Raises:
        ArgumentError: It has no address.
    """
    if isinstance(view, View):
        return memory.address_of(view.memory)
    return address_in_device(label, view)


def _from_offset(label: str, buffer: cl.Buffer, offset: int) -> cl.Buffer:
    """The part of a buffer that begins at an offset in bytes."""
    if offset == 0:
        return buffer
    try:
        return buffer.get_sub_region(offset, buffer.size - offset)
    except cl.Error as error:
        raise ArgumentError(
            f"{label}: the driver lets no pointer begin {offset} bytes behind a buffer's start: "
            f"{error}"
        ) from None


def address_in_device(label: str, view: DeviceView) -> int:
    """The address of memory of a device.

    Raises:
        ArgumentError: It is a buffer, which has none, or lies on another device.
    """
    memory: Any = view.memory
    if isinstance(memory, GpuMemory):
        raise ArgumentError(
            f"{label}: memory of a CUDA GPU is given, but the kernel runs on an OpenCL device"
        )
    if isinstance(memory, int):
        return memory + view.offset
    if isinstance(memory, cl.SVMPointer):
        return memory.svm_ptr + view.offset
    raise ArgumentError(
        f"{label}: a pyopencl buffer has no address that a kernel could load; pass shared virtual "
        "memory or a numpy array"
    )


def _group_value(
    parameter: Parameter, part: KernelArgument, group: GroupView, memory: Memory
) -> Value:
    """One of the kernel's arguments for a group."""
    if part.role is Role.COUNT:
        return _integer(len(group.entries))
    if part.role is Role.OFFSET:
        return _integer(group.offset)
    if not group.is_associated:
        return Address(NULL)
    if part.role is not Role.POINTERS:
        return Address(memory.hold(sizes_or_strides(part, group)))
    addresses = addresses_of(
        parameter,
        group,
        memory.address_of,
        lambda label, view: _address_of(label, view, memory),
    )
    return Address(memory.hold(addresses))
