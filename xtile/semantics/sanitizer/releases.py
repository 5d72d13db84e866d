"""What a work-group has learnt of others through the elements that they update atomically.

Work-groups run one after the other, so that nothing but what a kernel says orders them. What comes
before an access that releases comes before what follows one that acquires and reads what the first
wrote. As everywhere in the shadow, time is counted in phases, and a thread's own accesses follow
each other:

- A release by a thread of a work-group in a phase tells of all that the thread had learnt, of the
  work-group's accesses in earlier phases, and of the thread's own so far.
- An acquire teaches the thread that does it, and from the next phase on its work-group.
- An update that does not release hands on what was released before it; a store begins anew.

Both sides must have other work-groups in their scope. Before anything is acquired, this costs
nothing but a note of what was released.

Source: docs/core-form.md, "Atomic updates".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from xdsl.ir import Operation

from xtile.dialects.memory_orders import Ordering, ordering_of
from xtile.semantics.observer import Access, BoolArray, IntArray
from xtile.semantics.sanitizer.memories import AccessedUnits, Memory


class Known(NamedTuple):
    """Accesses of a work-group.

    Attributes:
        phase: All in phases before this one.
        until: Those of some threads in this phase, up to a time.
    """

    phase: int
    until: Mapping[int, int]

    def joined(self, other: Known) -> Known:
        """The accesses of both."""
        if self.phase != other.phase:
            return max(self, other, key=lambda known: known.phase)
        until = dict(self.until)
        for thread, time in other.until.items():
            until[thread] = max(time, until.get(thread, time))
        return Known(self.phase, until)


Knowledge: TypeAlias = Mapping[int, Known]
"""Accesses of work-groups, by the work-group's number."""

_NOTHING: Knowledge = {}

_FEW = 256
"""So many overwritten releases are kept at least."""


class Moments(NamedTuple):
    """Accesses, one for each element: by whom, and when.

    Attributes:
        group: The number of the work-group.
        thread: The thread of the work-group.
        phase: The phase.
        time: How many accesses had released before.
    """

    group: IntArray
    thread: IntArray
    phase: IntArray
    time: IntArray

    def chosen(self, which: IntArray) -> Moments:
        """Some of them."""
        return Moments(*(each[which] for each in self))


class Releases:
    """What was released, and what the work-group that runs has learnt.

    Attributes:
        time: How many accesses have released so far.
    """

    def __init__(self) -> None:
        self.time = 0
        self._orderings: dict[Operation, Ordering] = {}
        # For each unit of a memory the number of what was released there, and the bytes of a unit.
        self._numbers: dict[Memory, tuple[npt.NDArray[np.int32], int]] = {}
        self._released: list[Knowledge] = [_NOTHING]
        self._most_released = _FEW
        self._of_group: Knowledge = _NOTHING
        self._of_threads: dict[int, Knowledge] = {}
        self._phase = 0

    def begin_group(self) -> None:
        """A work-group begins, which knows nothing of others."""
        self._of_group = _NOTHING
        self._of_threads.clear()

    def forget(self, memory: Memory) -> None:
        """Knows nothing of memory that ended."""
        self._numbers.pop(memory, None)

    @property
    def is_anything_learnt(self) -> bool:
        """Whether the work-group knows of any access of others."""
        return bool(self._of_group or self._of_threads)

    def acquire(
        self, access: Access, memory: Memory, accessed: AccessedUnits, threads: IntArray, phase: int
    ) -> None:
        """Learns what an access tells its threads, if it acquires; `threads` has one for each unit.

        It is called before the access is checked, because what it reads comes before it, too.
        """
        if memory not in self._numbers or not access.kind.is_atomic:
            return
        ordering = self._ordering(access.operation)
        reads = access.kind.reads or access.kind.is_update
        if not (reads and ordering.acquires and ordering.has_wide_scope):
            return
        self._enter(phase)
        numbers = self._numbers_of(memory)[accessed.units]
        pairs = {(int(thread), int(n)) for thread, n in zip(threads, numbers, strict=True) if n}
        for thread, number in pairs:
            before = self._of_threads.get(thread, _NOTHING)
            self._of_threads[thread] = _joined(before, self._released[number])

    def record(
        self,
        access: Access,
        memory: Memory,
        accessed: AccessedUnits,
        threads: IntArray,
        group: int,
        phase: int,
    ) -> None:
        """Notes what an access releases, or that it ends what was released; after its check."""
        kind = access.kind
        if not kind.writes:
            return
        ordering = self._ordering(access.operation) if kind.is_atomic else Ordering()
        if ordering.releases and ordering.has_wide_scope:
            self._release(memory, accessed.units, threads, group, phase, kind.is_update)
        elif memory in self._numbers and not kind.is_update:
            self._numbers_of(memory)[accessed.units] = 0

    def known(self, past: Moments, threads: IntArray, phase: int) -> BoolArray:
        """Which accesses come before one of the work-group, by a thread for each, in a phase."""
        self._enter(phase)
        result = np.zeros(len(threads), np.bool_)
        for knowledge, chosen in self._by_knowledge(threads):
            result[chosen] = _among(knowledge, past.chosen(chosen))
        return result

    def knows_phases(self, chain: Iterator[tuple[int, int]], thread: int, phase: int) -> bool:
        """Whether all accesses of work-groups in phases come before one of a thread."""
        self._enter(phase)
        knowledge = self._knowledge_of(thread)
        return all(
            group in knowledge and knowledge[group].phase > in_phase for group, in_phase in chain
        )

    def _ordering(self, operation: Operation) -> Ordering:
        ordering = self._orderings.get(operation)
        if ordering is None:
            ordering = self._orderings[operation] = ordering_of(operation)
        return ordering

    def _enter(self, phase: int) -> None:
        """In a new phase all threads know what one of them has learnt before."""
        if phase == self._phase:
            return
        self._phase = phase
        for learnt in self._of_threads.values():
            self._of_group = _joined(self._of_group, learnt)
        self._of_threads.clear()

    def _knowledge_of(self, thread: int) -> Knowledge:
        own = self._of_threads.get(thread)
        return self._of_group if own is None else _joined(self._of_group, own)

    def _by_knowledge(self, threads: IntArray) -> Iterator[tuple[Knowledge, IntArray]]:
        """What threads know, and the positions of those that know it."""
        own = np.isin(threads, list(self._of_threads))
        yield self._of_group, np.flatnonzero(~own)
        for thread in np.unique(threads[own]):
            yield self._knowledge_of(int(thread)), np.flatnonzero(threads == thread)

    def _release(
        self,
        memory: Memory,
        units: IntArray,
        threads: IntArray,
        group: int,
        phase: int,
        is_update: bool,
    ) -> None:
        self._enter(phase)
        numbers = self._numbers_of(memory)
        time, self.time = self.time, self.time + 1
        made: dict[tuple[int, tuple[int, ...]], int] = {}
        for unit, who in _by_unit(units, threads):
            key = (int(numbers[unit]) if is_update else 0, who)
            if key not in made:
                knowledge = self._released[key[0]]
                for thread in who:
                    own = {group: Known(phase, {thread: time})}
                    told = _joined(self._knowledge_of(thread), own)
                    knowledge = _joined(knowledge, told)
                made[key] = len(self._released)
                self._released.append(knowledge)
            numbers[unit] = made[key]
        if len(self._released) > self._most_released:
            self._drop_overwritten()

    def _drop_overwritten(self) -> None:
        """Forgets what was released where something else was written since."""
        arrays = [numbers for numbers, _ in self._numbers.values()]
        kept = np.unique(np.concatenate([[0], *map(np.unique, arrays)]))
        for numbers in arrays:
            numbers[...] = np.searchsorted(kept, numbers)
        self._released = [self._released[number] for number in kept]
        self._most_released = 2 * len(kept) + _FEW

    def _numbers_of(self, memory: Memory) -> npt.NDArray[np.int32]:
        numbers, unit = self._numbers.get(memory) or (np.zeros(memory.size, np.int32), memory.unit)
        if unit != memory.unit:
            numbers = numbers.repeat(unit // memory.unit)
        self._numbers[memory] = numbers, memory.unit
        return numbers


def _by_unit(units: IntArray, threads: IntArray) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Each unit that is accessed, and the threads that access it."""
    order = np.argsort(units, kind="stable")
    firsts = np.flatnonzero(np.diff(units[order], prepend=-1))
    for unit, who in zip(units[order][firsts], np.split(threads[order], firsts[1:]), strict=True):
        yield int(unit), tuple(int(thread) for thread in np.unique(who))


def _joined(first: Knowledge, second: Knowledge) -> Knowledge:
    """The accesses of both."""
    if not first or not second:
        return first or second
    joined = dict(first)
    for group, known in second.items():
        joined[group] = known.joined(joined[group]) if group in joined else known
    return joined


def _among(knowledge: Knowledge, past: Moments) -> BoolArray:
    """Which accesses somebody knows."""
    result = np.zeros(len(past.group), np.bool_)
    for group in np.unique(past.group):
        known = knowledge.get(int(group))
        if known is None:
            continue
        its = past.group == group
        result |= its & (past.phase < known.phase)
        now = its & (past.phase == known.phase)
        for thread in np.unique(past.thread[now]):
            until = known.until.get(int(thread), -1)
            result |= now & (past.thread == thread) & (past.time <= until)
    return result
