"""Arguments that lie in the memory of the host, for devices that cannot access it.

Such a device gets copies, one for all arrays that overlap, so that two views of one array are the
same memory in a kernel, too.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType

from xtile.arguments.binding import BoundArgument
from xtile.arguments.groups import GroupView
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.stacks import Stack
from xtile.arguments.views import View
from xtile.arguments.words import WordsView
from xtile.semantics.values import Array

ALIGNMENT = 128
"""Bytes up to which a copy has the alignment of the original."""

_ALIGNMENT_PROMISE = "alignment"


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
    elif isinstance(argument, GroupView | WordsView):
        if isinstance(argument.entries, Stack):
            yield argument.entries.memory
            return
        for entry in argument.entries:
            if isinstance(entry, View):
                yield entry.memory


def promised_alignment(parameter: Parameter) -> int:
    """Bytes that a kernel expects the address of a memref to be a multiple of."""
    promised = parameter.attributes.get(_ALIGNMENT_PROMISE)
    if not isinstance(promised, IntegerAttr):
        return 1
    return cast("IntegerAttr[IntegerType]", promised).value.data


@dataclass
class Copy:
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

    @property
    def size(self) -> int:
        """Bytes of the memory."""
        return self.end - self.start

    @property
    def room(self) -> int:
        """Bytes in which the copy finds a position, wherever they begin."""
        return self._padding + self.size + self.alignment

    @property
    def _padding(self) -> int:
        return (self.start - self.aligned) % self.alignment

    def position(self, address: int) -> None:
        """Puts the copy into memory of the device that begins at an address."""
        # Drivers need not align allocations to more than their largest type.
        self.address = address + -address % self.alignment + self._padding


class Copies:
    """The copies of memory of the host that one launch needs.

    Attributes:
        pieces: One for all arrays that overlap, by their places on the host.
    """

    def __init__(self, memory: Iterable[HostMemory]) -> None:
        self.pieces = _merged(_copy_of(piece) for piece in memory)
        self._starts = [copy.start for copy in self.pieces]

    def address_of(self, array: Array) -> int:
        """Where the copy of an array is, after all were placed."""
        start = host_address(array)
        copy = self.pieces[bisect_right(self._starts, start) - 1]
        assert copy.start <= start
        assert start + array.nbytes <= copy.end
        return copy.address + start - copy.start


def _copy_of(memory: HostMemory) -> Copy:
    start = host_address(memory.array)
    end = start + memory.array.nbytes
    if memory.alignment <= ALIGNMENT and memory.is_aligned:
        return Copy(start, end, memory.is_written, 0, ALIGNMENT)
    return Copy(start, end, memory.is_written, start, max(memory.alignment, ALIGNMENT))


def _merged(pieces: Iterable[Copy]) -> list[Copy]:
    """The pieces of memory, with one in place of those that overlap.

    Those that follow each other are joined, too, if that changes nothing else. Of several promised
    alignments that contradict each other, the largest is kept.
    """
    merged: list[Copy] = []
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


def _belongs(piece: Copy, last: Copy) -> bool:
    """Whether a piece that begins behind another one is copied together with it."""
    if piece.start < last.end or piece.start == last.start:
        return True
    is_alike = (piece.is_written, piece.aligned) == (last.is_written, last.aligned)
    return piece.start == last.end and is_alike
