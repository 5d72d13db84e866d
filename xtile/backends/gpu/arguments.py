"""The arguments of a launch as the parameters of a kernel on a GPU."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects.builtin import ComplexType

from xtile.arguments.binding import BoundArgument
from xtile.arguments.calling_convention import KernelArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuMemory
from xtile.arguments.groups import GroupView
from xtile.arguments.signature import Parameter
from xtile.arguments.stacks import DeviceStack
from xtile.arguments.views import View
from xtile.arguments.words import WordsView
from xtile.backends.argument_values import (
    NULL,
    AnyView,
    addresses_of,
    bytes_before,
    check_address,
    size_or_stride,
    size_or_stride_of_words,
    sizes_or_strides,
    words_of,
)
from xtile.backends.gpu.memory import CopiedMemory
from xtile.backends.parameters import (
    POINTER_SIZE,
    sizes_of_element,
)
from xtile.dialects.core.signature import Role
from xtile.semantics.values import Array
from xtile.targets.nvidia import GREATEST_SIZE, GREATEST_STRIDE


def gpu_memory(arguments: Sequence[BoundArgument]) -> Iterator[GpuMemory]:
    """The memory of GPUs that arrays of the arguments lie in."""
    for argument in arguments:
        if isinstance(argument, DeviceView):
            yield from _gpu_memory_of(argument.memory)
        elif isinstance(argument, GroupView | WordsView):
            if isinstance(argument.entries, DeviceStack):
                yield from _gpu_memory_of(argument.entries.memory)
                continue
            for entry in argument.entries:
                if isinstance(entry, DeviceView):
                    yield from _gpu_memory_of(entry.memory)


def _gpu_memory_of(memory: object) -> Iterator[GpuMemory]:
    if isinstance(memory, GpuMemory):
        yield memory


def kernel_values(
    parameter: Parameter,
    convention: Sequence[KernelArgument],
    argument: BoundArgument,
    memory: CopiedMemory,
) -> list[bytes]:
    """The parameters of a kernel that one argument of the launch becomes, as bytes.

    Args:
        parameter: The function's parameter.
        convention: What arguments of the kernel there are for it.
        argument: The argument, which fits the parameter.
        memory: Where arrays of the host are.

    Raises:
        ArgumentError: The GPU cannot reach the argument's memory.
        GpuError: The driver has too little memory.
    """
    if isinstance(argument, GroupView):
        return [_integer(_group_value(parameter, part, argument, memory)) for part in convention]
    if isinstance(argument, WordsView):
        words = words_of(parameter, argument, lambda label, view: _address_of(label, view, memory))
        rest = (size_or_stride_of_words(part, argument) for part in convention[1:])
        return [_integer(memory.hold(words)), *map(_integer, rest)]
    if convention[0].role is Role.VALUE:
        return _scalar(parameter, convention[0], argument, memory)
    assert not isinstance(argument, np.generic)
    pointer = _pointer(parameter, convention[0], argument, memory)
    return [_integer(pointer), *layout_values(parameter, convention[1:], argument)]


def layout_values(
    parameter: Parameter, parts: Sequence[KernelArgument], view: AnyView | None
) -> list[bytes]:
    """The parameters of a kernel behind a memref's pointer.

    Raises:
        ArgumentError: Compiled kernels expect other sizes or strides.
    """
    return [_integer(_size_or_stride(parameter, part, view)) for part in parts]


def _scalar(
    parameter: Parameter, part: KernelArgument, argument: BoundArgument, memory: CopiedMemory
) -> list[bytes]:
    """A number, which is two where it is complex; memory stands for its address."""
    if isinstance(argument, View | DeviceView):
        return [_integer(_address_of(str(parameter), argument, memory))]
    assert isinstance(argument, np.generic)
    return scalar_values(part, argument)


def scalar_values(part: KernelArgument, number: np.generic) -> list[bytes]:
    """The parameters of a kernel that a number becomes: one, or two where it is complex."""
    content = number.tobytes()
    if isinstance(part.type, ComplexType):
        half = len(content) // 2
        return [content[:half], content[half:]]
    return [content]


def _integer(value: int) -> bytes:
    return value.to_bytes(POINTER_SIZE, "little", signed=value < 0)


def _size_or_stride(parameter: Parameter, part: KernelArgument, view: AnyView | None) -> int:
    """A size or stride of a memref, as compiled kernels expect it.

    Raises:
        ArgumentError: It is not.
    """
    number = size_or_stride(part, view)
    if part.role is Role.SIZE and number > GREATEST_SIZE:
        raise _too_large(parameter, number)
    if part.role is Role.STRIDE and not 1 <= number <= GREATEST_STRIDE:
        if view is not None and 0 in view.shape:
            return 1
        raise _no_stride(parameter, number)
    return number


def _too_large(parameter: Parameter, size: int) -> ArgumentError:
    return ArgumentError(
        f"{parameter}: expected sizes below 2^31 on a GPU, given {size}; launch the kernel on "
        "parts of the array"
    )


def _no_stride(parameter: Parameter, stride: int) -> ArgumentError:
    return ArgumentError(
        f"{parameter}: expected strides from 1 to 2^37 - 1 on a GPU, given {stride}"
    )


def _pointer(
    parameter: Parameter, part: KernelArgument, view: AnyView | None, memory: CopiedMemory
) -> int:
    if view is None:
        return NULL
    address = _address_of(str(parameter), view, memory)
    # Compiled kernels promise it of every pointer.
    check_address(parameter, address, sizes_of_element(part)[0])
    return address - bytes_before(parameter)


def _address_of(label: str, view: AnyView, memory: CopiedMemory) -> int:
    """Where kernels find an array.

    Raises:
        ArgumentError: It lies on another device.
    """
    if isinstance(view, View):
        return memory.address_of(view.memory)
    if isinstance(view.memory, GpuMemory):
        return view.memory.address + view.offset
    if isinstance(view.memory, int):
        return view.memory + view.offset
    raise ArgumentError(
        f"{label}: memory of an OpenCL device is given, but the kernel runs on a "
        f"{memory.driver.GPU}"
    )


def _group_value(
    parameter: Parameter, part: KernelArgument, group: GroupView, memory: CopiedMemory
) -> int:
    """One of the kernel's parameters for a group."""
    if part.role is Role.COUNT:
        return len(group.entries)
    if part.role is Role.OFFSET:
        return group.offset
    if not group.is_associated:
        return NULL
    if part.role in (Role.SIZES, Role.STRIDES):
        return memory.hold(_sizes_or_strides(parameter, part, group))
    addresses = addresses_of(
        parameter,
        group,
        memory.address_of,
        lambda label, view: _address_of(label, view, memory),
    )
    return memory.hold(addresses)


def _sizes_or_strides(parameter: Parameter, part: KernelArgument, group: GroupView) -> Array:
    """A size or stride of each memref of a group, as compiled kernels expect them.

    Raises:
        ArgumentError: One is not.
    """
    numbers = sizes_or_strides(part, group)
    if part.role is Role.SIZES and (numbers > GREATEST_SIZE).any():
        raise _too_large(parameter, int(numbers.max()))
    if part.role is Role.STRIDES:
        wrong = numbers[(numbers < 1) | (numbers > GREATEST_STRIDE)]
        if wrong.size:
            raise _no_stride(parameter, int(wrong[0]))
    return numbers
