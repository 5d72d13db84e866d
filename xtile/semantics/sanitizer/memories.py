"""Pieces of memory, whatever they are reached through.

Arguments may overlap, and pointers show memory as elements of any type. What is known of memory
must not depend on that, so it is counted in units of bytes: so many that every element that the
memory was reached as is made of whole units.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from xtile.semantics.arguments import Argument, GroupArgument, MemrefArgument, WordsArgument
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import IntArray


@dataclass(eq=False)
class Memory:
    """A piece of memory.

    Attributes:
        start: The address of its first byte.
        end: The address past its last byte.
        unit: The bytes of a unit; it becomes smaller when smaller elements are accessed.
        filled: First and past the last byte of what may be read from the beginning.
    """

    start: int
    end: int
    unit: int
    filled: list[tuple[int, int]]

    @property
    def size(self) -> int:
        """The number of units."""
        return -(-(self.end - self.start) // self.unit)


@dataclass(frozen=True)
class AccessedUnits:
    """The units that elements are made of.

    Attributes:
        units: The numbers of the units.
        positions: For each the position of its element in the access.
    """

    units: IntArray
    positions: IntArray

    def chosen(self, which: IntArray) -> AccessedUnits:
        """Some of them."""
        return AccessedUnits(self.units[which], self.positions[which])


class Memories:
    """The memory of a launch."""

    def __init__(self) -> None:
        self._arguments: list[Memory] = []
        self._starts: list[int] = []
        self._known: dict[Buffer, Memory] = {}

    def add_arguments(self, arguments: Sequence[Argument]) -> None:
        """Makes one memory of all arguments that overlap."""
        pieces = sorted(_pieces(arguments), key=lambda piece: piece.start)
        for piece in pieces:
            last = self._arguments[-1] if self._arguments else None
            if last is None or piece.start >= last.end:
                self._arguments.append(piece)
                continue
            last.end = max(last.end, piece.end)
            last.unit = gcd(last.unit, piece.unit, piece.start - last.start)
            last.filled += piece.filled
        self._starts = [memory.start for memory in self._arguments]

    def add_own(self, buffer: Buffer, *, is_filled: bool) -> Memory:
        """The memory of a buffer that overlaps nothing, such as one that the kernel allocates."""
        data = buffer.root.data
        start = int(data.ctypes.data)
        end = start + data.nbytes
        filled = [(start, end)] if is_filled else []
        memory = self._known[buffer.root] = Memory(start, end, data.dtype.itemsize, filled)
        return memory

    def of(self, buffer: Buffer) -> Memory:
        """The memory that a buffer is, or is a part of."""
        memory = self._known.get(buffer)
        if memory is not None:
            return memory
        memory = self._known.get(buffer.root) or self._argument(buffer.root)
        if memory is None:
            memory = self.add_own(buffer, is_filled=buffer.is_initialized)
        distance = int(buffer.data.ctypes.data) - memory.start
        memory.unit = gcd(memory.unit, buffer.data.dtype.itemsize, distance)
        self._known[buffer] = memory
        return memory

    def forget(self, buffer: Buffer) -> Memory | None:
        """Knows a buffer no more; returns the memory that it was, if it was known."""
        memory = self._known.get(buffer)
        self._known = {known: its for known, its in self._known.items() if its is not memory}
        return memory

    def positions(self, buffer: Buffer, elements: IntArray) -> AccessedUnits:
        """The units of the elements that lie inside of a buffer."""
        memory = self.of(buffer)
        inside = np.flatnonzero((elements >= 0) & (elements < buffer.size))
        first = (int(buffer.data.ctypes.data) - memory.start) // memory.unit
        count = buffer.data.dtype.itemsize // memory.unit
        units = elements[inside] * count + first
        if count == 1:
            return AccessedUnits(units, inside)
        every = (units[:, np.newaxis] + np.arange(count)).ravel()
        return AccessedUnits(every, np.repeat(inside, count))

    def _argument(self, buffer: Buffer) -> Memory | None:
        start = int(buffer.data.ctypes.data)
        number = bisect_right(self._starts, start) - 1
        if number < 0 or buffer.is_local or buffer.data.nbytes == 0:
            return None
        memory = self._arguments[number]
        return memory if start + buffer.data.nbytes <= memory.end else None


def _pieces(arguments: Sequence[Argument]) -> Iterator[Memory]:
    for argument in arguments:
        for memref in _memrefs(argument):
            if memref.base is not None and memref.base.nbytes:
                start = int(memref.base.ctypes.data)
                end = start + memref.base.nbytes
                filled = [(start, end)] if memref.is_initialized else []
                yield Memory(start, end, memref.base.itemsize, filled)


def _memrefs(argument: Argument) -> Iterator[MemrefArgument]:
    match argument:
        case MemrefArgument():
            yield argument
        case GroupArgument():
            yield from argument.entries
        case WordsArgument():
            yield from (entry for entry in argument.entries if isinstance(entry, MemrefArgument))
        case _:
            return
