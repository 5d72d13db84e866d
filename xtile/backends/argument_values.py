"""What a launch's arguments are as numbers: sizes, strides and addresses; for all backends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from xtile.arguments.calling_convention import KernelArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.groups import GroupView
from xtile.arguments.signature import Parameter
from xtile.arguments.stacks import DeviceStack, Stack
from xtile.arguments.views import View
from xtile.arguments.words import WordsView
from xtile.backends.host_memory import promised_alignment
from xtile.dialects.core.signature import Role
from xtile.semantics.values import Array

AnyView: TypeAlias = View | DeviceView

NULL = 0
"""The address of no memory."""

_NULL_SIZE = 0
_NULL_STRIDE = 1
"""The dynamic sizes and strides of a null pointer."""


def size_or_stride(part: KernelArgument, view: AnyView | None) -> int:
    """A size, stride or offset of a memref."""
    match part.role:
        case Role.SIZE | Role.SIZES:
            return _NULL_SIZE if view is None else view.shape[cast(int, part.mode)]
        case Role.STRIDE | Role.STRIDES:
            return _NULL_STRIDE if view is None else view.strides[cast(int, part.mode)]
        case Role.OFFSET:
            # An array begins with the memref's first element.
            return 0
        case Role.COUNT:
            return 0 if view is None else math.prod(view.shape)
        case _:
            raise AssertionError(f"{part.role} is no number of a memref")


def words_of(
    parameter: Parameter, words: WordsView, address_of_view: Callable[[str, AnyView], int]
) -> Array:
    """The addresses and numbers of a list, as kernels read them from memory.

    Args:
        parameter: The function's parameter.
        words: The argument.
        address_of_view: Where kernels find an array, whose name comes first.
    """
    found = (
        word if isinstance(word, int) else address_of_view(str(parameter), word)
        for word in words.entries
    )
    return np.fromiter(found, np.int64, len(words.entries))


def size_or_stride_of_words(part: KernelArgument, words: WordsView) -> int:
    """A size, stride or offset of the memref that a list is given for; it has no gaps."""
    match part.role:
        case Role.SIZE | Role.COUNT:
            return len(words.entries)
        case Role.STRIDE:
            return 1
        case Role.OFFSET:
            return 0
        case _:
            raise AssertionError(f"{part.role} is no number of a list")


def check_alignment(parameter: Parameter, addresses: Array) -> None:
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


def check_address(parameter: Parameter, address: int, natural: int = 1) -> None:
    """Like `check_alignment`, for one array.

    Args:
        parameter: The function's parameter.
        address: Where kernels find the array.
        natural: Bytes that the address must be a multiple of, whatever the kernel promises.

    Raises:
        ArgumentError: The address is no multiple of the promised alignment, or of `natural`.
    """
    if address % natural:
        raise ArgumentError(
            f"{parameter}: expected an address that is a multiple of the {natural} bytes of a "
            f"number, given {address:#x}"
        )
    alignment = promised_alignment(parameter)
    if address % alignment:
        check_alignment(parameter, np.array([address]))


def bytes_before(parameter: Parameter) -> int:
    """Bytes between the memory's element 0 and an array that begins at the type's offset."""
    memory, type = parameter.memory, parameter.type
    if memory is None or not isinstance(type, MemRefType):
        return 0
    memref = cast("MemRefType[Attribute]", type)
    return (memref.get_offset() or 0) * memory.dtype.itemsize


def sizes_or_strides(part: KernelArgument, group: GroupView) -> Array:
    """A size or stride of each memref of a group."""
    entries = group.entries
    if isinstance(entries, Stack | DeviceStack) and len(entries):
        return np.full(len(entries), size_or_stride(part, entries[0]), np.int64)
    return np.array([size_or_stride(part, entry) for entry in entries], np.int64)


def addresses_of(
    parameter: Parameter,
    group: GroupView,
    address_of_array: Callable[[Array], int],
    address_of_view: Callable[[str, AnyView], int],
) -> Array:
    """Where kernels find each memref of a group, without the group's offset.

    Args:
        parameter: The function's parameter.
        group: The argument.
        address_of_array: Where kernels find an array of the host.
        address_of_view: Where they find any array, whose name comes first.

    Raises:
        ArgumentError: An entry lies where the kernel does not expect it.
    """
    entries = group.entries
    if isinstance(entries, Stack | DeviceStack) and len(entries):
        if isinstance(entries, Stack):
            first = address_of_array(entries.memory)
        else:
            first = address_of_view(str(parameter), entries[0])
        addresses = first + entries.distance * np.arange(len(entries), dtype=np.int64)
    else:
        found = (
            NULL if entry is None else address_of_view(str(parameter), entry) for entry in entries
        )
        addresses = np.fromiter(found, np.int64, len(entries))
    check_alignment(parameter, addresses)
    return addresses
