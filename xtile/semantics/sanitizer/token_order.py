"""Who accessed each element, where only tokens say what comes before what.

Two accesses to an element conflict if one of them writes, neither comes before the other, and not
both are strong with scopes that have both tile blocks in them. Within a tile block a token says
what comes before. Between tile blocks, what comes before a release comes before what takes the
token of an acquire that reads what the release wrote.

Source: CUDA Tile IR specification, "Memory Model".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from xtile.semantics.memory import Buffer
from xtile.semantics.observer import Access, BoolArray, IntArray
from xtile.semantics.ordering import Order, Token
from xtile.semantics.sanitizer.memories import AccessedUnits, Memories, Memory
from xtile.semantics.sanitizer.report import word_of
from xtile.semantics.sanitizer.shadow import same_numbers

_OF_TOKENS = Order().actor
"""What tokens order the accesses of."""

_MOST_READS = 64
"""So many reads since the last write are known of an element; older ones are forgotten."""


class _Past(NamedTuple):
    """An access that happened: by which block, its number there, what it was."""

    block: int
    number: int
    is_strong: bool
    has_wide_scope: bool
    operation: Operation


class _History(NamedTuple):
    """What happened to some elements.

    Attributes:
        write: The last write.
        reads: Reads since then.
        released: What comes before the release that the last write belongs to, by block.
    """

    write: _Past | None = None
    reads: tuple[_Past, ...] = ()
    released: Mapping[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses that nothing orders.

    Attributes:
        access: The later one.
        at: The position of an element in it.
        other: The earlier one's instruction; that of `access` if its own elements conflict.
        is_same_block: Whether one tile block did both.
        actor: What messages call a tile block.
    """

    access: Access
    at: int
    other: Operation
    is_same_block: bool
    actor: str

    @property
    def description(self) -> str:
        """What a message says of the element."""
        other = word_of(self.other)
        if not self.is_same_block:
            what = f"while another {self.actor} accesses it with {other}; nothing orders them"
        elif self.actor != _OF_TOKENS:
            what = f"by two accesses of one {self.actor} that nothing orders; the other is {other}"
        elif self.other is self.access.operation:
            what = "twice by one instruction or two executions of it; no token orders them"
        else:
            what = f"and by {other}; no token orders the two"
        return f"is accessed ({self.access.kind.value}) {what}"


class TokenOrder:
    """The histories of all elements."""

    def __init__(self, memories: Memories) -> None:
        self._number = 0
        self._known: list[_History] = [_History()]
        self._memories = memories
        # For each unit of a memory the number of its history, and the bytes of a unit.
        self._histories: dict[Memory, tuple[npt.NDArray[np.int64], int]] = {}

    def begin_block(self) -> None:
        """Counts accesses anew in each tile block."""
        self._number = 0

    def forget(self, memory: Memory) -> None:
        """Knows nothing of memory that ended."""
        self._histories.pop(memory, None)

    def access(
        self, accesses: Sequence[Access], order: Order, block: int
    ) -> tuple[Token, list[Conflict]]:
        """Takes note of an access in one or more buffers.

        Args:
            accesses: What is accessed in each buffer.
            order: How the access is ordered.
            block: The number of the tile block.

        Returns:
            The token of the access, and what it conflicts with.
        """
        number, self._number = self._number, self._number + 1
        token = order.token.with_access(number)
        conflicts: list[Conflict] = []
        for access in accesses:
            past = _Past(block, number, order.is_strong, order.has_wide_scope, access.operation)
            conflicts += _conflicts_within(access, order.actor)
            for history, chosen in self._by_history(access):
                found = _conflict(history, access, chosen.positions, past, order)
                if found is not None:
                    conflicts.append(found)
                if order.acquires and history.released is not None:
                    token = _acquired(token, history.released, block)
                self._record(access, chosen, _following(history, access, past, order))
        return token, conflicts

    def _by_history(self, access: Access) -> Iterator[tuple[_History, AccessedUnits]]:
        """The histories of what is accessed, and the positions that have each."""
        accessed = self._memories.positions(access.buffer, access.elements)
        keys = self._keys(access.buffer)[accessed.units]
        if keys.size and (keys == keys[0]).all():
            yield self._known[keys[0]], accessed
            return
        for key in np.unique(keys):
            yield self._known[key], accessed.chosen(np.flatnonzero(keys == key))

    def _record(self, access: Access, chosen: AccessedUnits, history: _History) -> None:
        self._keys(access.buffer)[chosen.units] = len(self._known)
        self._known.append(history)

    def _keys(self, buffer: Buffer) -> npt.NDArray[np.int64]:
        """For each unit of a buffer's memory the number of its history."""
        memory = self._memories.of(buffer)
        keys, unit = self._histories.get(memory) or (np.zeros(memory.size, np.int64), memory.unit)
        if unit != memory.unit:
            keys = keys.repeat(unit // memory.unit)
        self._histories[memory] = keys, memory.unit
        return keys


def _conflict(
    history: _History, access: Access, chosen: IntArray, past: _Past, order: Order
) -> Conflict | None:
    """What an access conflicts with in a history, if it does."""
    write = history.write
    if write is not None and not _is_ordered(write, past, order.token):
        differs = chosen[~_repeats_value(access, chosen)]
        if differs.size:
            return _conflict_with(write, access, int(differs[0]), past, order.actor)
    if access.kind.writes:
        for read in history.reads:
            if not _is_ordered(read, past, order.token):
                return _conflict_with(read, access, int(chosen[0]), past, order.actor)
    return None


def _conflict_with(other: _Past, access: Access, at: int, past: _Past, actor: str) -> Conflict:
    return Conflict(access, at, other.operation, other.block == past.block, actor)


def _is_ordered(earlier: _Past, past: _Past, before: Token) -> bool:
    """Whether two accesses, one of which writes, do not conflict."""
    is_same_block = earlier.block == past.block
    reaches = is_same_block or (earlier.has_wide_scope and past.has_wide_scope)
    if earlier.is_strong and past.is_strong and reaches:
        return True
    return before.has(earlier.number, earlier.block, past.block)


def _repeats_value(access: Access, chosen: IntArray) -> BoolArray:
    """Where a write does not change the content: the order of such writes is no matter."""
    if access.values is None:
        return np.zeros(len(chosen), np.bool_)
    old = access.buffer.data[access.elements[chosen]]
    return same_numbers(old, access.values[chosen])


def _conflicts_within(access: Access, actor: str) -> Iterator[Conflict]:
    """A position to which an access writes two different values."""
    if access.values is None:
        return
    order = np.argsort(access.elements, kind="stable")
    elements, values = access.elements[order], access.values[order]
    differs = (elements[1:] == elements[:-1]) & ~same_numbers(values[1:], values[:-1])
    if differs.any():
        at = int(order[1 + int(np.argmax(differs))])
        yield Conflict(access, at, access.operation, True, actor)


def _acquired(token: Token, released: Mapping[int, int], block: int) -> Token:
    others = {other: bits for other, bits in released.items() if other != block}
    return Token(token.own | released.get(block, 0), token.with_others(others).others)


def _following(history: _History, access: Access, past: _Past, order: Order) -> _History:
    """What is known of elements after an access."""
    before = order.token
    if not access.kind.writes:
        reads = [read for read in history.reads if not before.has(read.number, read.block, past[0])]
        return history._replace(reads=(*reads, past)[-_MOST_READS:])
    # An update goes on with what was released before it; a store begins anew.
    released = history.released if access.kind.is_update else None
    if order.releases:
        own = before.with_access(past.number).own
        released = Token(0, released or {}).with_others({**before.others, past.block: own}).others
    return _History(past, (), released)
