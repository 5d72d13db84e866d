"""Arguments of a launch that are the same memory, at least in part.

A compiled kernel orders accesses to one argument only, unless it was compiled to expect more:
tokens between what different arguments hold would keep it from loading ahead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from xtile.backends.host_memory import host_address
from xtile.launch.binding import BoundArgument
from xtile.launch.device_memory import DeviceView
from xtile.launch.gpu_arrays import GpuMemory
from xtile.launch.groups import GroupView
from xtile.launch.signature import Parameter, Signature
from xtile.launch.stacks import DeviceStack, Stack
from xtile.launch.views import View

Range: TypeAlias = tuple[int, int]
"""The first byte, and past the last one."""

_TILE = "cuda_tile.tile"

_FIRST_ADDRESS = 2**32
"""Numbers for parameters that may be addresses are taken for some from here on."""

_EVERYTHING: Range = (0, 2**64)


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


def orders_everything(signature: Signature) -> bool:
    """Whether a kernel itself says in which order all memory is accessed, as CUDA Tile IR does."""
    return any(parameter.type.name == _TILE for parameter in signature.parameters)


def overlapping(
    signature: Signature, arguments: Sequence[BoundArgument]
) -> tuple[Parameter, Parameter] | None:
    """Two arguments that overlap, the second of which is written; None if there are none.

    Arrays whose elements alternate in memory overlap, too.
    """
    pieces = sorted(_pieces(signature, arguments), key=lambda piece: (piece.start, piece.end))
    latest: dict[int, _Piece] = {}
    for piece in pieces:
        for other in latest.values():
            if other.index != piece.index and other.end > piece.start:
                if piece.is_written:
                    return signature.parameters[other.index], signature.parameters[piece.index]
                if other.is_written:
                    return signature.parameters[piece.index], signature.parameters[other.index]
        before = latest.get(piece.index)
        if before is None or piece.end > before.end:
            latest[piece.index] = piece
    return None


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
    """The bytes of an array on a GPU; those of another device are of no account."""
    memory = view.memory
    if isinstance(memory, GpuMemory):
        start = memory.address + view.offset
    elif isinstance(memory, int):
        start = memory + view.offset
    else:
        return 0, 0
    return start, start + size_in_bytes(parameter, view.shape, view.strides)


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
