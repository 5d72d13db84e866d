"""What is known of each element of a buffer: who accessed it last, and whether it has content.

A thread is a work-item of a work-group, or a trip of a foreach. Time is counted in phases: a
barrier of the work-group begins a new phase. Two threads of one work-group conflict if they access
an element in the same phase, at least one writes, and not both are atomic. Accesses of two
work-groups conflict in any phase, unless the later one has learnt of the earlier one from what was
released (`releases.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from xtile.semantics.observer import Access, BoolArray, IntArray
from xtile.semantics.sanitizer.memories import AccessedUnits, Memory
from xtile.semantics.sanitizer.releases import Moments, Releases

NOBODY = -1
MANY = -2
WORK_GROUP = -3
"""The work-group as a whole, in a collective instruction."""


class Actors(NamedTuple):
    """Who accesses elements, and when.

    Attributes:
        threads: The thread of each element.
        group: The number of the work-group.
        phase: The phase.
        releases: What the work-group has learnt of others.
    """

    threads: IntArray
    group: int
    phase: int
    releases: Releases

    def chosen(self, which: IntArray) -> Actors:
        """Those of some elements."""
        return self._replace(threads=self.threads[which])


class _Before(NamedTuple):
    """An access by another work-group before the last access, and those before it."""

    group: int
    phase: int
    rest: int


class Accesses:
    """For each element the last accesses of one sort, reads or writes.

    Attributes:
        group: The work-group that accessed it last; NOBODY, or MANY.
        thread: The thread of that work-group, or MANY in the same phase.
        phase: The phase.
        operation: The number of the last instruction.
        is_atomic: Whether all these accesses were atomic.
        time: How many accesses had released before; None: none.
        before: The number of the accesses of other work-groups before, of which the last work-group
            knew nothing; None: there are none, or they made the group MANY, because nothing was
            released yet.
    """

    def __init__(self, size: int) -> None:
        self.group: npt.NDArray[np.int32] = np.full(size, NOBODY, np.int32)
        self.thread = np.full(size, NOBODY, np.int64)
        self.phase = np.zeros(size, np.int64)
        self.operation: npt.NDArray[np.int32] = np.full(size, -1, np.int32)
        self.is_atomic = np.zeros(size, np.bool_)
        self.time: IntArray | None = None
        self.before: IntArray | None = None
        self._chains: list[_Before | None] = [None]
        self._numbers: dict[_Before, int] = {}

    def split(self, count: int) -> None:
        """Knows of each of `count` parts of an element what was known of the element."""
        self.group = self.group.repeat(count)
        self.thread = self.thread.repeat(count)
        self.phase = self.phase.repeat(count)
        self.operation = self.operation.repeat(count)
        self.is_atomic = self.is_atomic.repeat(count)
        self.time = None if self.time is None else self.time.repeat(count)
        self.before = None if self.before is None else self.before.repeat(count)

    def conflicts(self, elements: IntArray, by: Actors, is_atomic: bool) -> BoolArray:
        """For which elements an access conflicts with one of these."""
        groups = self.group[elements]
        is_other_group = (groups != by.group) & (groups != NOBODY)
        is_now = (groups == by.group) & (self.phase[elements] == by.phase)
        is_other_thread = is_now & (self.thread[elements] != by.threads)
        conflict = is_other_group | is_other_thread
        conflict &= ~self._known(elements, by, conflict)
        if self.before is not None:
            conflict |= ~self._chains_known(elements, by)
        return conflict & ~self.is_atomic[elements] if is_atomic else conflict

    def record(self, elements: IntArray, by: Actors, is_atomic: bool, operation: int) -> None:
        """Remembers accesses; of one element by several threads, too.

        What is known to come before them need not be remembered any more.
        """
        groups = self.group[elements]
        is_now = (groups == by.group) & (self.phase[elements] == by.phase)
        is_shared = is_now & (self.thread[elements] != by.threads)
        is_other = (groups != by.group) & (groups != NOBODY)
        known = self._known(elements, by, is_shared | is_other)
        is_now, is_shared, is_other = is_now & ~known, is_shared & ~known, is_other & ~known
        if self.before is not None:
            numbers = self.before[elements]
            self.before[elements] = np.where(self._chains_known(elements, by), 0, numbers)
        is_many = is_other & (self._push(elements, is_other, by) == 0)
        self.is_atomic[elements] = is_atomic & (self.is_atomic[elements] | ~is_now)
        self.group[elements] = np.where(is_many, MANY, by.group)
        self.thread[elements] = np.where(is_shared, MANY, by.threads)
        self.phase[elements] = by.phase
        self.operation[elements] = operation
        if by.releases.time and self.time is None:
            self.time = np.zeros(len(self.group), np.int64)
        if self.time is not None:
            self.time[elements] = by.releases.time
        repeated, by_many = _repeated(elements, by.threads)
        self.thread[repeated[by_many]] = MANY

    def _known(self, elements: IntArray, by: Actors, which: BoolArray) -> BoolArray:
        """Which of some elements' last accesses come before those of actors."""
        known = np.zeros(len(elements), np.bool_)
        if not by.releases.is_anything_learnt or not which.any():
            return known
        some = np.flatnonzero(which)
        its = elements[some]
        time = np.zeros(len(its), np.int64) if self.time is None else self.time[its]
        past = Moments(self.group[its].astype(np.int64), self.thread[its], self.phase[its], time)
        known[some] = by.releases.known(past, by.threads[some], by.phase)
        return known

    def _chains_known(self, elements: IntArray, by: Actors) -> BoolArray:
        """For which elements all accesses before the last one come before those of actors."""
        assert self.before is not None
        numbers = self.before[elements]
        known = numbers == 0
        if known.all() or not by.releases.is_anything_learnt:
            return known
        pairs = np.stack([numbers, by.threads])[:, ~known]
        for number, thread in np.unique(pairs, axis=1).T:
            chain = self._chain(int(number))
            if by.releases.knows_phases(chain, int(thread), by.phase):
                known |= (numbers == number) & (by.threads == thread)
        return known

    def _chain(self, number: int) -> Iterator[tuple[int, int]]:
        """The work-groups and phases of accesses."""
        access = self._chains[number]
        while access is not None:
            yield access.group, access.phase
            access = self._chains[access.rest]

    def _push(self, elements: IntArray, which: BoolArray, by: Actors) -> IntArray:
        """Remembers the last accesses to some elements beside the ones that follow.

        Returns:
            For each element the number of the accesses before; 0: they are not remembered.
        """
        some = which & (self.group[elements] != MANY)
        if by.releases.time and some.any():
            if self.before is None:
                self.before = np.zeros(len(self.group), np.int64)
            its = elements[some]
            pasts = np.stack([self.group[its], self.phase[its], self.before[its]])
            distinct, where = np.unique(pasts, axis=1, return_inverse=True)
            numbers = [self._number(_Before(*map(int, past))) for past in distinct.T]
            self.before[its] = np.array(numbers)[where.ravel()]
        return np.zeros(len(elements), np.int64) if self.before is None else self.before[elements]

    def _number(self, before: _Before) -> int:
        number = self._numbers.get(before)
        if number is None:
            number = self._numbers[before] = len(self._chains)
            self._chains.append(before)
        return number


def _repeated(elements: IntArray, threads: IntArray) -> tuple[IntArray, BoolArray]:
    """The elements that occur next to themselves in sorted order, and whether threads differ."""
    order = np.argsort(elements, kind="stable")
    same = elements[order[1:]] == elements[order[:-1]]
    differs = threads[order[1:]] != threads[order[:-1]]
    return elements[order[1:]][same], differs[same]


class Shadow:
    """What is known of the units of a piece of memory.

    Attributes:
        has_content: Whether a unit may be read.
        is_alive: Whether the memory may be accessed.
    """

    def __init__(self, memory: Memory) -> None:
        self._unit = memory.unit
        self.has_content = np.zeros(memory.size, np.bool_)
        for start, end in memory.filled:
            first, last = ((position - memory.start) // memory.unit for position in (start, end))
            self.has_content[first:last] = True
        self.is_alive = True

    def split(self, unit: int) -> None:
        """Goes on with smaller units."""
        count = self._unit // unit
        if count == 1:
            return
        self.reads.split(count)
        self.writes.split(count)
        self.has_content = self.has_content.repeat(count)
        self._unit = unit

    @cached_property
    def reads(self) -> Accesses:
        """The last reads."""
        return Accesses(len(self.has_content))

    @cached_property
    def writes(self) -> Accesses:
        """The last writes and updates."""
        return Accesses(len(self.has_content))

    def conflict(
        self, access: Access, accessed: AccessedUnits, by: Actors
    ) -> tuple[int, int] | None:
        """The position in the access of a conflict, and the number of the other instruction.

        Args:
            access: The access.
            accessed: The units of the elements that lie in the memory.
            by: Who accesses the units.
        """
        elements = accessed.units
        is_atomic = access.kind.is_atomic
        pasts = (self.writes, self.reads) if access.kind.writes else (self.writes,)
        for past in pasts:
            conflict = past.conflicts(elements, by, is_atomic)
            if past is self.writes and conflict.any():
                conflict &= ~self._repeats_value(access, accessed.positions)
            if conflict.any():
                first = int(np.argmax(conflict))
                return int(accessed.positions[first]), int(past.operation[elements[first]])
        if access.kind.writes and not is_atomic:
            return self._conflict_within(access, accessed, by.threads)
        return None

    @staticmethod
    def _repeats_value(access: Access, accessed: IntArray) -> BoolArray:
        """Where a write does not change the content: the order of such writes is no matter."""
        if access.values is None or access.kind.is_atomic:
            return np.zeros(len(accessed), np.bool_)
        old = access.buffer.data[access.elements[accessed]]
        return same_numbers(old, access.values[accessed])

    @staticmethod
    def _conflict_within(
        access: Access, accessed: AccessedUnits, who: IntArray
    ) -> tuple[int, int] | None:
        """Two threads that write different values to one element in the same instruction."""
        elements = accessed.units
        order = np.argsort(elements, kind="stable")
        same = elements[order[1:]] == elements[order[:-1]]
        differs = same & (who[order[1:]] != who[order[:-1]])
        if access.values is not None and differs.any():
            values = access.values[accessed.positions][order]
            differs &= ~same_numbers(values[1:], values[:-1])
        if not differs.any():
            return None
        return int(accessed.positions[order[1 + int(np.argmax(differs))]]), -1

    def record(
        self,
        access: Access,
        accessed: AccessedUnits,
        by: Actors,
        operation: int,
    ) -> None:
        """Remembers an access."""
        elements = accessed.units
        if access.kind.writes:
            self.has_content[elements] = True
        past = self.writes if access.kind.writes else self.reads
        past.record(elements, by, access.kind.is_atomic, operation)


def same_numbers(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> BoolArray:
    """Where two arrays of one type hold the same number; a NaN is the same as itself."""
    unequal: Callable[..., BoolArray] = np.not_equal
    return ~(unequal(a, b) & ~(unequal(a, a) & unequal(b, b)))
