"""Arguments of a launch that are the same memory, at least in part.

A kernel may rely on it that what is written through an argument is accessed through no other one
(`core.noalias`). Then it neither orders such accesses nor waits between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

from xtile.arguments.binding import BoundArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuMemory
from xtile.arguments.groups import GroupView
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.stacks import DeviceStack, Stack
from xtile.arguments.views import View
from xtile.backends.host_memory import host_address

Range: TypeAlias = tuple[int, int]
"""The first byte, and past the last one."""

_FIRST_ADDRESS = 2**32
"""Numbers for parameters that may be addresses are taken for some from here on."""

_ADDRESSES = 2**64

_EVERYTHING: Range = (0, _ADDRESSES)


@dataclass(frozen=True)
class _Piece:
    """Memory of an argument.

    Attributes:
        start: Its first byte.
        end: Past its last byte.
        index: The number of the parameter.
        is_written: Whether the kernel may write to it.
    """

    start: int
    end: int
    index: int
    is_written: bool


def overlapping(
    signature: Signature, arguments: Sequence[BoundArgument]
) -> tuple[Parameter, Parameter] | None:
    """Two arguments that overlap although the kernel relies on it that they do not.

    Arrays whose elements alternate in memory overlap, too.

    Returns:
        The two, the second of which is written; None if there are none.
    """
    if not signature.has_disjoint_memory:
        return None
    pieces = sorted(_pieces(signature, arguments), key=lambda piece: (piece.start, piece.end))
    latest: dict[int, _Piece] = {}
    for piece in pieces:
        for other in latest.values():
            if other.index == piece.index or other.end <= piece.start:
                continue
            one, two = signature.parameters[other.index], signature.parameters[piece.index]
            if (one.is_noalias or two.is_noalias) and (other.is_written or piece.is_written):
                return (one, two) if piece.is_written else (two, one)
        before = latest.get(piece.index)
        if before is None or piece.end > before.end:
            latest[piece.index] = piece
    return None


class _Executable(Protocol):
    @property
    def signature(self) -> Signature: ...


ExecutableT = TypeVar("ExecutableT", bound=_Executable)


def suited(
    executable: ExecutableT,
    for_overlaps: Callable[[], ExecutableT] | None,
    arguments: Sequence[BoundArgument],
    reason: str,
) -> ExecutableT:
    """The kernel itself, or one that is compiled for arguments that overlap, if they do.

    Args:
        executable: The kernel.
        for_overlaps: Compiles it for arguments that overlap; None where it was compiled elsewhere.
        arguments: What it is launched on.
        reason: Why it does not take arguments that overlap where it was compiled elsewhere, and
            what to do.

    Raises:
        ArgumentError: They overlap, and the kernel cannot be compiled for that.
    """
    found = overlapping(executable.signature, arguments)
    if found is None:
        return executable
    if for_overlaps is not None:
        variant = for_overlaps()
        if overlapping(variant.signature, arguments) is None:
            return variant
        reason = _TRANSLATED
    one, written = found
    raise ArgumentError(
        f"@{executable.signature.name} writes to '{written.name}', which overlaps '{one.name}', "
        f"but {reason}"
    )


_TRANSLATED = "it was translated for arguments that do not overlap; translate it with may_overlap"


def _pieces(signature: Signature, arguments: Sequence[BoundArgument]) -> Iterator[_Piece]:
    for index, (parameter, argument) in enumerate(
        zip(signature.parameters, arguments, strict=True)
    ):
        # What becomes of an address, nothing says.
        is_written = index in signature.written or parameter.may_be_address
        for start, end in _ranges(parameter, argument):
            if start < end:
                yield _Piece(start, end, index, is_written)


def _ranges(parameter: Parameter, argument: BoundArgument) -> Iterator[Range]:
    if isinstance(argument, View):
        yield _of_host(argument)
    elif isinstance(argument, DeviceView):
        yield _EVERYTHING if parameter.may_be_address else _of_device(parameter, argument)
    elif isinstance(argument, GroupView):
        yield from _of_group(parameter, argument)
    elif parameter.may_be_address and _is_address(argument):
        yield _EVERYTHING


def _is_address(argument: BoundArgument) -> bool:
    """Whether a number can be nothing but an address."""
    return isinstance(argument, np.generic) and argument.item() >= _FIRST_ADDRESS


def _of_host(view: View) -> Range:
    start = host_address(view.memory)
    return start, start + view.memory.nbytes


def _of_device(parameter: Parameter, view: DeviceView) -> Range:
    """The bytes of an array on a device."""
    start = _address_of(view.memory) + view.offset
    return start, start + size_in_bytes(parameter, view.shape, view.strides)


def _address_of(memory: Any) -> int:
    """Where memory of a device begins.

    A buffer of OpenCL has no address. It gets one beyond all others, as if each had all addresses
    that there are for itself.
    """
    if isinstance(memory, int):
        return memory
    if isinstance(memory, GpuMemory):
        return memory.address
    if hasattr(memory, "svm_ptr"):
        return memory.svm_ptr
    whole = memory.associated_memobject
    return (memory if whole is None else whole).int_ptr * _ADDRESSES + memory.offset


def _of_group(parameter: Parameter, group: GroupView) -> Iterator[Range]:
    entries = group.entries
    if isinstance(entries, Stack) and len(entries):
        start = host_address(entries.memory)
        yield start, start + entries.memory.nbytes
    elif isinstance(entries, DeviceStack) and len(entries):
        (start, _), (_, end) = (_of_device(parameter, entries[i]) for i in (0, len(entries) - 1))
        yield start, end
    else:
        for entry in entries:
            if isinstance(entry, View):
                yield _of_host(entry)
            elif entry is not None:
                yield _of_device(parameter, entry)


def size_in_bytes(parameter: Parameter, shape: Sequence[int], strides: Sequence[int]) -> int:
    """Bytes from an array's first element to past its last one."""
    type = parameter.memory if parameter.group is None else parameter.group.element
    if type is None or math.prod(shape) == 0:
        return 0
    last = sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    return (1 + last) * type.dtype.itemsize
