"""Barriers between accesses of a program to the same memory.

The core form has the order of the text. The threads of a program of Triton each access elements of
their own, and nothing orders those of one with those of another, unless there is a barrier.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.effects import UPDATES, changes_memory
from xtile.dialects.walk import walk
from xtile.translate.tiles.roots import is_group, memory_of, root_of


@dataclass(frozen=True)
class _Since:
    """What was done to a memory since the last barrier.

    Attributes:
        reads: The reads.
        writes: Whether it was written.
        updates: Whether it was updated atomically.
    """

    reads: frozenset[Operation] = frozenset()
    writes: bool = False
    updates: bool = False

    def joined(self, other: _Since) -> _Since:
        """What was done on one of two ways."""
        return _Since(
            self.reads | other.reads, self.writes or other.writes, self.updates or other.updates
        )

    def after(self, operation: Operation) -> _Since:
        """What was done once an operation is."""
        if operation.name in UPDATES:
            return replace(self, updates=True)
        if changes_memory(operation):
            return replace(self, writes=True)
        return replace(self, reads=self.reads | {operation})

    def conflicts_with(self, operation: Operation) -> bool:
        """Whether an operation must wait for other threads."""
        if operation.name in UPDATES:
            return self.writes or bool(self.reads)
        if not changes_memory(operation):
            return self.writes or self.updates
        return self.writes or self.updates or not all(_feeds(x, operation) for x in self.reads)


State = dict[SSAValue | None, _Since]
"""What was done to each memory; None is one of which it is not known which it is."""


class Barriers:
    """Finds out, while a kernel is translated in the order of its text, where barriers are."""

    def __init__(self) -> None:
        self._state: State = {}

    def is_before(self, operation: Operation) -> bool:
        """Whether there is a barrier before an operation, which is then recorded."""
        roots = _roots(operation)
        found = any(
            since.conflicts_with(operation)
            for root in roots
            for other, since in self._state.items()
            if root is other or root is None or other is None
        )
        if found:
            self._state = {}
        for root in roots:
            self._state[root] = self._state.get(root, _Since()).after(operation)
        return found

    # --- control flow ---

    def state(self) -> State:
        """What was done so far."""
        return dict(self._state)

    def restore(self, state: State) -> None:
        """Goes back to what was done."""
        self._state = dict(state)

    def join(self, *states: State) -> None:
        """Goes on where several ways meet, the current one and others."""
        for state in states:
            for root, since in state.items():
                self._state[root] = self._state.get(root, _Since()).joined(since)

    def enter(self, loop: Operation) -> None:
        """Begins an iteration, before which others were, unless they are independent."""
        if INDEPENDENT_ATTRIBUTE in loop.attributes:
            return
        for operation in walk(loop):
            for root in _roots(operation):
                self._state[root] = self._state.get(root, _Since()).after(operation)


def _roots(operation: Operation) -> list[SSAValue | None]:
    return [root_of(each) for each in memory_of(operation) if not is_group(each.type)]


def _feeds(read: Operation, write: Operation) -> bool:
    """Whether what is written is computed of what was read in the same elements.

    Then a thread that writes has waited for all that read.
    """
    first, second = (
        [each for each in operation.operands if _says_where(each, operation)]
        for operation in (read, write)
    )
    return first == second and _is_computed_of(write.operands, read.results)


def _says_where(operand: SSAValue, operation: Operation) -> bool:
    return operand in memory_of(operation) or str(operand.type) == "index"


def _is_computed_of(values: Iterable[SSAValue], sources: Iterable[SSAValue]) -> bool:
    wanted, seen, left = set(sources), set[SSAValue](), list(values)
    while left:
        value = left.pop()
        if value in wanted:
            return True
        if value in seen or isinstance(value.owner, Block):
            continue
        seen.add(value)
        # Of a loop or a branch anything in it may be handed on.
        left += [operand for inner in walk(value.owner) for operand in inner.operands]
    return False
