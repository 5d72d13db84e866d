"""What is known of each element of a buffer: who accessed it last, and whether it has content.

A thread is a work-item of a work-group, or a trip of a foreach. Time is counted in phases: a
barrier of the work-group begins a new phase. Two threads of one work-group conflict if they access
an element in the same phase, at least one writes, and not both are atomic. Nothing separates
work-groups, so their accesses conflict in any phase.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from xtile.semantics.observer import Access, BoolArray, IntArray
from xtile.semantics.sanitizer.memories import AccessedUnits, Memory

NOBODY = -1
MANY = -2
WORK_GROUP = -3
"""The work-group as a whole, in a collective instruction."""


class Accesses:
    """For each element the last accesses of one sort, reads or writes.

    Attributes:
        group: The work-group that accessed it; NOBODY, or MANY.
        thread: The thread of that work-group, or MANY in the same phase.
        phase: The phase.
        operation: The number of the last instruction.
        is_atomic: Whether all these accesses were atomic.
    """

    def __init__(self, size: int) -> None:
        self.group: npt.NDArray[np.int32] = np.full(size, NOBODY, np.int32)
        self.thread = np.full(size, NOBODY, np.int64)
        self.phase = np.zeros(size, np.int64)
        self.operation: npt.NDArray[np.int32] = np.full(size, -1, np.int32)
        self.is_atomic = np.zeros(size, np.bool_)

    def split(self, count: int) -> None:
        """Knows of each of `count` parts of an element what was known of the element."""
        self.group = self.group.repeat(count)
        self.thread = self.thread.repeat(count)
        self.phase = self.phase.repeat(count)
        self.operation = self.operation.repeat(count)
        self.is_atomic = self.is_atomic.repeat(count)

    def conflicts(
        self, elements: IntArray, threads: IntArray, group: int, phase: int, is_atomic: bool
    ) -> BoolArray:
        """For which elements an access conflicts with one of these."""
        groups = self.group[elements]
        is_other_group = (groups != group) & (groups != NOBODY)
        is_now = (groups == group) & (self.phase[elements] == phase)
        is_other_thread = is_now & (self.thread[elements] != threads)
        conflict = is_other_group | is_other_thread
        return conflict & ~self.is_atomic[elements] if is_atomic else conflict

    def record(
        self,
        elements: IntArray,
        threads: IntArray,
        group: int,
        phase: int,
        is_atomic: bool,
        operation: int,
    ) -> None:
        """Remembers accesses; of one element by several threads, too."""
        groups = self.group[elements]
        is_now = (groups == group) & (self.phase[elements] == phase)
        is_shared = is_now & (self.thread[elements] != threads)
        self.is_atomic[elements] = is_atomic & (self.is_atomic[elements] | ~is_now)
        self.group[elements] = np.where((groups == group) | (groups == NOBODY), group, MANY)
        self.thread[elements] = np.where(is_shared, MANY, threads)
        self.phase[elements] = phase
        self.operation[elements] = operation
        repeated, by_many = _repeated(elements, threads)
        self.thread[repeated[by_many]] = MANY


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
        self, access: Access, accessed: AccessedUnits, threads: IntArray, group: int, phase: int
    ) -> tuple[int, int] | None:
        """The position in the access of a conflict, and the number of the other instruction.

        Args:
            access: The access.
            accessed: The units of the elements that lie in the memory.
            threads: The thread of each position.
            group: The number of the work-group.
            phase: The phase.
        """
        elements, who = accessed.units, threads[accessed.positions]
        is_atomic = access.kind.is_atomic
        pasts = (self.writes, self.reads) if access.kind.writes else (self.writes,)
        for past in pasts:
            conflict = past.conflicts(elements, who, group, phase, is_atomic)
            if past is self.writes and conflict.any():
                conflict &= ~self._repeats_value(access, accessed.positions)
            if conflict.any():
                first = int(np.argmax(conflict))
                return int(accessed.positions[first]), int(past.operation[elements[first]])
        if access.kind.writes and not is_atomic:
            return self._conflict_within(access, accessed, who)
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
        threads: IntArray,
        group: int,
        phase: int,
        operation: int,
    ) -> None:
        """Remembers an access."""
        elements, who = accessed.units, threads[accessed.positions]
        if access.kind.writes:
            self.has_content[elements] = True
        past = self.writes if access.kind.writes else self.reads
        past.record(elements, who, group, phase, access.kind.is_atomic, operation)


def same_numbers(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> BoolArray:
    """Where two arrays of one type hold the same number; a NaN is the same as itself."""
    unequal: Callable[..., BoolArray] = np.not_equal
    return ~(unequal(a, b) & ~(unequal(a, a) & unequal(b, b)))
