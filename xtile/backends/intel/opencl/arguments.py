"""The arguments of a launch as the arguments of a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
import pyopencl as cl
from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute

from xtile.backends.calling_convention import KernelArgument, Role
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.device import OpenclDevice
from xtile.backends.intel.opencl.memory import HostMemory, Memory
from xtile.launch.binding import BoundArgument
from xtile.launch.device_memory import DeviceView
from xtile.launch.errors import ArgumentError
from xtile.launch.groups import GroupView
from xtile.launch.signature import Parameter, Signature
from xtile.launch.stacks import Stack
from xtile.launch.views import View
from xtile.semantics.values import Array

_NULL = 0

_NULL_SIZE = 0
_NULL_STRIDE = 1
"""The dynamic sizes and strides of a null pointer."""


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

AnyView: TypeAlias = View | DeviceView

_ALIGNMENT = "alignment"


def host_memory(signature: Signature, arguments: Iterable[BoundArgument]) -> Iterator[HostMemory]:
    """The memory of the host that kernels access through the arguments."""
    for index, (parameter, argument) in enumerate(
        zip(signature.parameters, arguments, strict=True)
    ):
        # What becomes of an address, nothing says.
        is_written = index in signature.written or parameter.may_be_address
        alignment = promised_alignment(parameter)
        for memory in _memory_of(argument):
            yield HostMemory(memory, is_written, alignment)


def _memory_of(argument: BoundArgument) -> Iterator[Array]:
    if isinstance(argument, View):
        yield argument.memory
    elif isinstance(argument, GroupView):
        if isinstance(argument.entries, Stack):
            yield argument.entries.memory
            return
        for entry in argument.entries:
            if isinstance(entry, View):
                yield entry.memory


def promised_alignment(parameter: Parameter) -> int:
    """Bytes that a kernel expects the address of a memref to be a multiple of."""
    promised = parameter.attributes.get(_ALIGNMENT)
    if not isinstance(promised, IntegerAttr):
        return 1
    return cast("IntegerAttr[IntegerType]", promised).value.data


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
    if convention[0].role is Role.VALUE:
        return [_scalar(str(parameter), argument, memory)]
    assert argument is None or isinstance(argument, View | DeviceView)
    pointer = _pointer(parameter, argument, memory, device)
    return [pointer, *(_integer(_number(part, argument)) for part in convention[1:])]


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


def _number(part: KernelArgument, view: AnyView | None) -> int:
    """A size, stride or offset of a memref."""
    match part.role:
        case Role.SIZE | Role.SIZES:
            return _NULL_SIZE if view is None else view.shape[cast(int, part.mode)]
        case Role.STRIDE | Role.STRIDES:
            return _NULL_STRIDE if view is None else view.strides[cast(int, part.mode)]
        case Role.OFFSET:
            # An array begins with the memref's first element.
            return 0
        case _:
            raise AssertionError(f"{part.role} is no number of a memref")


def _pointer(
    parameter: Parameter, view: AnyView | None, memory: Memory, device: OpenclDevice
) -> Value:
    if view is None:
        return Address(_NULL)
    if isinstance(view, DeviceView) and isinstance(view.memory, cl.Buffer):
        return Buffer(_from_offset(str(parameter), view.memory, view.offset))
    before = _bytes_before(parameter)
    address = _address_of(str(parameter), view, memory)
    _check_alignment(parameter, np.array([address]))
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


def _check_alignment(parameter: Parameter, addresses: Array) -> None:
    """Checks that arrays are where a kernel expects them.

    Raises:
        ArgumentError: An address is no multiple of the promised alignment.
    """
    alignment = promised_alignment(parameter)
    wrong = addresses[addresses % alignment != 0]
    if wrong.size:
        raise ArgumentError(
            f"{parameter}: expected an address that is a multiple of alignment={alignment}, as "
            f"the kernel promises, given {wrong[0]:#x}"
        )


def _bytes_before(parameter: Parameter) -> int:
    """Bytes between the memory's element 0 and an array that begins at the type's offset."""
    memory, type = parameter.memory, parameter.type
    if memory is None or not isinstance(type, MemRefType):
        return 0
    memref = cast("MemRefType[Attribute]", type)
    return (memref.get_offset() or 0) * memory.dtype.itemsize


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
        ArgumentError: It is a buffer, which has none.
    """
    memory: Any = view.memory
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
        return Address(_NULL)
    if part.role is not Role.POINTERS:
        return Address(memory.hold(_numbers(part, group)))
    addresses = _addresses(parameter, group, memory)
    return Address(memory.hold(addresses))


def _numbers(part: KernelArgument, group: GroupView) -> Array:
    """A size or stride of each memref of a group."""
    entries = group.entries
    if isinstance(entries, Stack) and len(entries):
        return np.full(len(entries), _number(part, entries[0]), np.int64)
    return np.array([_number(part, entry) for entry in entries], np.int64)


def _addresses(parameter: Parameter, group: GroupView, memory: Memory) -> Array:
    """Where kernels find each memref of a group, without the group's offset."""
    entries = group.entries
    if isinstance(entries, Stack) and len(entries):
        first = memory.address_of(entries.memory)
        addresses = first + entries.distance * np.arange(len(entries), dtype=np.int64)
    else:
        found = (
            _NULL if entry is None else _address_of(str(parameter), entry, memory)
            for entry in entries
        )
        addresses = np.fromiter(found, np.int64, len(entries))
    _check_alignment(parameter, addresses)
    return addresses
