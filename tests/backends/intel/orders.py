"""Finds launches on which devices need not agree, as nothing says in which order things happen.

The sanitizer reports conflicts of accesses of which one is not atomic. Atomic accesses do not
conflict, but their order shows too: where different instructions update one element, or where
work-items store different values to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from typing_extensions import override
from xdsl.ir import Operation

from xtile.dialects.tensorlang.ops.cooperative_matrix import CooperativeMatrixAtomicUpdate
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import Access, AccessKind
from xtile.semantics.sanitizer.report import Kind, Report
from xtile.semantics.sanitizer.sanitizer import Sanitizer

_UNDEFINED = frozenset(
    {
        *(Kind.UNINITIALIZED, Kind.LIFETIME, Kind.CONFLICT, Kind.BARRIER, Kind.NOT_UNIFORM),
        Kind.BROKEN_PROMISE,
    }
)
"""Mistakes after which devices need not agree."""

_NOBODY, _MANY, _ALL = -1, -2, -3
"""Stand for threads: none, several one after another, and the work-group as one."""


@dataclass
class _Last:
    """The last atomic read of or write to each element: its number, and who made it."""

    numbers: npt.NDArray[np.int64]
    threads: npt.NDArray[np.int64]

    @staticmethod
    def of(buffer: Buffer) -> _Last:
        """Nobody has accessed a buffer yet."""
        return _Last(np.full(buffer.size, _NOBODY), np.full(buffer.size, _NOBODY))

    def is_others(
        self, elements: npt.NDArray[np.int64], threads: npt.NDArray[np.int64], first: int
    ) -> bool:
        """Whether, from the access with number `first` on, another thread accessed an element."""
        is_recent = self.numbers[elements] >= first
        is_other = (self.threads[elements] != threads) | (threads == _MANY)
        return bool((is_recent & is_other).any())


class Orders(Sanitizer):
    """Observes a launch, and finds out whether its result depends on an order.

    Attributes:
        has_mixed: Whether atomic accesses of different instructions met.
    """

    def __init__(self) -> None:
        super().__init__()
        self.has_mixed = False
        self._atomic_count = 0
        self._first_of_phase = 0
        self._last_atomics: dict[Buffer, tuple[_Last, _Last]] = {}

    @property
    def is_defined(self) -> bool:
        """Whether all devices must agree on the result."""
        return not self.has_mixed and not any(map(_is_undefined, self.reports))

    @override
    def on_phase(self) -> None:
        """What follows happens after what was."""
        super().on_phase()
        self._first_of_phase = self._atomic_count + 1

    @override
    def on_barrier(
        self,
        operation: Operation,
        active: npt.NDArray[np.bool_],
        global_fence: bool,
        local_fence: bool,
    ) -> None:
        """What follows happens after what was, if the memory is fenced."""
        super().on_barrier(operation, active, global_fence, local_fence)
        if global_fence and local_fence:
            self._first_of_phase = self._atomic_count + 1

    @override
    def on_access(self, access: Access) -> None:
        """Remembers atomic accesses."""
        super().on_access(access)
        if access.kind.is_atomic:
            self._check_order(access)

    def _check_order(self, access: Access) -> None:
        inside = (access.elements >= 0) & (access.elements < access.buffer.size)
        if not inside.any():
            return
        elements = access.elements[inside]
        threads = np.full(elements.size, _ALL) if access.threads is None else access.threads[inside]
        _, first, positions, counts = np.unique(
            elements, return_index=True, return_inverse=True, return_counts=True
        )
        threads = np.where(counts[positions] > 1, _MANY, threads)
        if access.kind is AccessKind.ATOMIC_WRITE and access.values is not None:
            bits = (
                np.ascontiguousarray(access.values[inside])
                .view(np.uint8)
                .reshape(elements.size, -1)
            )
            self.has_mixed |= bool((bits != bits[first][positions]).any())
        reads, writes = self._last_atomics.setdefault(
            access.buffer, (_Last.of(access.buffer), _Last.of(access.buffer))
        )
        others = [reads, writes] if access.kind.writes else [writes]
        if any(last.is_others(elements, threads, self._first_of_phase) for last in others):
            self.has_mixed = True
        self._atomic_count += 1
        last = writes if access.kind.writes else reads
        last.numbers[elements], last.threads[elements] = self._atomic_count, threads


def _is_undefined(report: Report) -> bool:
    # Outside of the shape, several components of a matrix can be one element.
    is_repeated = report.kind is Kind.OUT_OF_BOUNDS and isinstance(
        report.operation, CooperativeMatrixAtomicUpdate
    )
    return is_repeated or report.kind in _UNDEFINED
