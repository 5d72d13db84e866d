"""Barriers between accesses of a program to the same memory.

The core form has the order of the text. The threads of a program of Triton each access elements of
their own, and nothing orders those of one with those of another, unless there is a barrier.

Acquires and releases order accesses of the threads that do them: one thread for a single element,
and for a tensor each thread for elements of its own. So all threads wait before a release, when
what they did is done, and between an acquire and the next access.

Source: docs/core-form.md, "Atomic updates".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.core.attributes import INDEPENDENT_ATTRIBUTE
from xtile.dialects.effects import UPDATES, changes_memory
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.walk import walk
from xtile.translate.tiles.accesses import is_group, memory_of, root_of


class _Threads(Enum):
    """Which threads of a program do an access."""

    FIRST = auto()
    """The first one alone, as it does all atomic accesses of single elements."""

    ALL = auto()


@dataclass(frozen=True)
class _Since:
    """What was done to a memory since the last barrier.

    Attributes:
        reads: The reads.
        writes: Whether it was written.
        updates: Whether it was updated atomically.
        threads: The threads that accessed it.
        acquires: The threads of its accesses that were acquires.
    """

    reads: frozenset[Operation] = frozenset()
    writes: bool = False
    updates: bool = False
    threads: frozenset[_Threads] = frozenset()
    acquires: frozenset[_Threads] = frozenset()

    def joined(self, other: _Since) -> _Since:
        """What was done on one of two ways."""
        return _Since(
            self.reads | other.reads,
            self.writes or other.writes,
            self.updates or other.updates,
            self.threads | other.threads,
            self.acquires | other.acquires,
        )

    def after(self, operation: Operation) -> _Since:
        """What was done once an operation is."""
        own = {_threads_of(operation)}
        acquires = own if ordering_of(operation).acquires else ()
        since = replace(self, threads=self.threads | own, acquires=self.acquires.union(acquires))
        if operation.name in UPDATES:
            return replace(since, updates=True)
        if changes_memory(operation):
            return replace(since, writes=True)
        return replace(since, reads=self.reads | {operation})

    def conflicts_with(self, operation: Operation) -> bool:
        """Whether an operation must wait for other threads."""
        if operation.name in UPDATES:
            return self.writes or bool(self.reads)
        if not changes_memory(operation):
            return self.writes or self.updates
        return self.writes or self.updates or not all(_feeds(x, operation) for x in self.reads)

    def is_ordered_with(self, operation: Operation) -> bool:
        """Whether an access of any memory must wait: after an acquire, or as a release.

        What the first thread alone does has the order of the text.
        """
        is_release = ordering_of(operation).releases
        others = self.acquires | self.threads if is_release else self.acquires
        return bool(others) and _Threads.ALL in others | {_threads_of(operation)}


State = dict[SSAValue | None, _Since]
"""What was done to each memory; None is one of which it is not known which it is."""


class Barriers:
    """Finds out, while a kernel is translated in the order of its text, where barriers are."""

    def __init__(self) -> None:
        self._state: State = {}

    def is_before(self, operation: Operation) -> bool:
        """Whether there is a barrier before an operation, which is then recorded.

        A loop of which only the first thread accesses memory, as one that takes a lock, has its
        barrier before it, and none in each iteration.
        """
        found = any(map(self._must_wait, _accesses_at_once(operation)))
        if found:
            self._state = {}
        self._record(operation)
        return found

    def _must_wait(self, operation: Operation) -> bool:
        return any(
            since.is_ordered_with(operation)
            or ((root is other or None in (root, other)) and since.conflicts_with(operation))
            for root in _roots(operation)
            for other, since in self._state.items()
        )

    def _record(self, operation: Operation) -> None:
        for root in _roots(operation):
            self._state[root] = self._state.get(root, _Since()).after(operation)

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
            self._record(operation)


def _roots(operation: Operation) -> list[SSAValue | None]:
    return [root_of(each) for each in memory_of(operation) if not is_group(each.type)]


def _accesses_at_once(operation: Operation) -> list[Operation]:
    """The accesses of memory that a barrier before an operation is for."""
    if not isinstance(operation, scf.ForOp | scf.WhileOp):
        return [operation]
    inner = [each for each in walk(operation) if _roots(each)]
    return inner if all(_threads_of(each) is _Threads.FIRST for each in inner) else []


def _threads_of(operation: Operation) -> _Threads:
    is_atomic = operation.name in UPDATES or "order" in operation.properties
    values = (*operation.operands, *operation.results)
    is_single = not any(isinstance(value.type, VectorType) for value in values)
    return _Threads.FIRST if is_atomic and is_single else _Threads.ALL


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
