"""Where kernels find the memory of the host's arrays.

A CPU's kernels access it where it is. Other devices get copies, one for all arrays that overlap, so
that two views of one array are the same memory in a kernel, too.

Source: The OpenCL Specification 3.0, section 5.6 "Shared Virtual Memory".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import pyopencl as cl

from xtile.backends.intel.opencl import native
from xtile.semantics.values import Array

_ALIGNMENT = 128
"""Bytes up to which a copy has the alignment of the original."""


class Memory(Protocol):
    """The memory that the arguments of one launch lie in."""

    def address_of(self, array: Array) -> int:
        """Where kernels find an array's first element."""
        ...

    def hold(self, numbers: Array) -> int:
        """Puts 64-bit integers into memory until the launch is done; returns where they are."""
        ...

    def share(self, kernel: native.Kernel) -> None:
        """Lets a kernel follow pointers to this memory."""
        ...

    def bring_back(self) -> None:
        """Makes the host's arrays hold what the kernel has written."""
        ...


@dataclass(frozen=True)
class HostMemory:
    """Memory of the host that a kernel accesses.

    Attributes:
        array: The memory, whose elements follow each other.
        is_written: Whether the kernel may write to it.
        alignment: Bytes that the kernel expects its address to be a multiple of.
    """

    array: Array
    is_written: bool
    alignment: int

    @property
    def is_aligned(self) -> bool:
        """Whether it is where the kernel expects it."""
        return host_address(self.array) % self.alignment == 0


def host_address(array: Array) -> int:
    """Where an array's first element is in the memory of the host."""
    return array.__array_interface__["data"][0]


class SystemMemory:
    """The memory of the host itself, for devices that share it."""

    def __init__(self) -> None:
        self._held: list[Array] = []

    def address_of(self, array: Array) -> int:
        """Where the array is."""
        return host_address(array)

    def hold(self, numbers: Array) -> int:
        """Keeps integers where they are."""
        self._held.append(numbers)
        return host_address(numbers)

    def share(self, kernel: native.Kernel) -> None:
        """Nothing: a kernel may access system memory from its creation on."""

    def bring_back(self) -> None:
        """Nothing: it is the host's memory."""


@dataclass
class _Copy:
    """The copy of one piece of the host's memory.

    Attributes:
        start: Its first byte on the host.
        end: Past its last byte.
        is_written: Whether the kernel may write to it.
        aligned: A byte whose copy lies at a multiple of `alignment`.
        alignment: Bytes.
        address: Where the copy of the first byte is.
    """

    start: int
    end: int
    is_written: bool
    aligned: int
    alignment: int
    address: int = 0


class CopiedMemory:
    """Copies of the host's arrays in memory that the device shares with the host."""

    def __init__(self, queue: cl.CommandQueue, memory: Iterable[HostMemory]) -> None:
        """Makes the copies, in a context in which kernels are launched."""
        self._queue = queue
        self._held: list[cl.SVMAllocation] = []
        self._copies = _merged(_copy_of(piece) for piece in memory)
        self._starts = [copy.start for copy in self._copies]
        for copy in self._copies:
            self._make(copy)

    def _make(self, copy: _Copy) -> None:
        size = copy.end - copy.start
        padding = (copy.start - copy.aligned) % copy.alignment
        address = self._allocate(padding + size + copy.alignment).svm_ptr
        # Drivers need not align allocations to more than their largest type.
        copy.address = address + -address % copy.alignment + padding
        if size:
            native.copy_shared_memory(self._queue, copy.address, copy.start, size)

    def _allocate(self, size: int) -> cl.SVMAllocation:
        flags = cl.svm_mem_flags.READ_WRITE
        allocation = cl.SVMAllocation(self._queue.context, max(1, size), 0, flags)
        self._held.append(allocation)
        return allocation

    def address_of(self, array: Array) -> int:
        """Where the array's copy is."""
        start = host_address(array)
        copy = self._copies[bisect_right(self._starts, start) - 1]
        assert copy.start <= start
        assert start + array.nbytes <= copy.end
        return copy.address + start - copy.start

    def hold(self, numbers: Array) -> int:
        """Copies integers to the device's memory."""
        address = self._allocate(numbers.nbytes).svm_ptr
        if numbers.nbytes:
            source = host_address(numbers)
            native.copy_shared_memory(self._queue, address, source, numbers.nbytes)
        return address

    def share(self, kernel: native.Kernel) -> None:
        """Tells the driver which allocations pointers in memory lead to."""
        native.allow_shared_memory(kernel, [allocation.svm_ptr for allocation in self._held])

    def bring_back(self) -> None:
        """Copies what the kernel may have written, and gives the device's memory back."""
        for copy in self._copies:
            size = copy.end - copy.start
            if copy.is_written and size:
                native.copy_shared_memory(self._queue, copy.start, copy.address, size)
        for allocation in self._held:
            allocation.release()


def _copy_of(memory: HostMemory) -> _Copy:
    start = host_address(memory.array)
    end = start + memory.array.nbytes
    if memory.alignment <= _ALIGNMENT and memory.is_aligned:
        return _Copy(start, end, memory.is_written, 0, _ALIGNMENT)
    return _Copy(start, end, memory.is_written, start, max(memory.alignment, _ALIGNMENT))


def _merged(pieces: Iterable[_Copy]) -> list[_Copy]:
    """The pieces of memory, with one in place of those that overlap.

    Those that follow each other are joined, too, if that changes nothing else. Of several promised
    alignments that contradict each other, the largest is kept.
    """
    merged: list[_Copy] = []
    for piece in sorted(pieces, key=lambda piece: (piece.start, piece.end)):
        last = merged[-1] if merged else None
        if last is not None and _belongs(piece, last):
            last.end = max(last.end, piece.end)
            last.is_written |= piece.is_written
            if (piece.alignment, piece.aligned) > (last.alignment, last.aligned):
                last.alignment, last.aligned = piece.alignment, piece.aligned
        else:
            merged.append(piece)
    return merged


def _belongs(piece: _Copy, last: _Copy) -> bool:
    """Whether a piece that begins behind another one is copied together with it."""
    if piece.start < last.end or piece.start == last.start:
        return True
    is_alike = (piece.is_written, piece.aligned) == (last.is_written, last.aligned)
    return piece.start == last.end and is_alike
