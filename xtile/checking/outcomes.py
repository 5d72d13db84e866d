"""What memory may hold after a launch, by what it held after runs with allowed errors."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Memory: TypeAlias = "npt.NDArray[Any]"

_SAFETY = 2.0
"""How much more than in the runs errors may grow to; these are only a sample."""


class Outcomes:
    """What each element of a memory may be.

    A number may be as far from the reference device's as `safety` times the farthest of the runs.
    If a run gives inf, -inf or NaN where another one does not, all three are allowed. Complex
    numbers are then not specified at all (docs/semantics.md, 2.2). Where none of the runs has a
    finite complex number, any that is not finite is allowed (`are_same`).

    Args:
        expected: What the reference device gives.
        has_orders: Whether the kernel shows an order that nothing specifies; a memory that differs
            between runs is then not compared.
        safety: How much farther than in the runs numbers may be; these are only a sample.

    Attributes:
        is_undetermined: Which elements may be anything.
    """

    def __init__(self, expected: Memory, has_orders: bool, safety: float = _SAFETY) -> None:
        self._expected = expected
        self._safety = safety
        self._has_orders = has_orders
        self._near = _wide(expected)
        self._distance = np.zeros(expected.shape)
        self._may_overflow = np.zeros(expected.shape, np.bool_)
        self.is_undetermined = np.zeros(expected.shape, np.bool_)

    def add(self, found: Memory) -> None:
        """Allows what a run gave."""
        differs = ~are_same(self._expected, found)
        finite = np.isfinite(found)
        self._may_overflow |= differs & ~(finite & np.isfinite(self._expected))
        # Where the reference device's number is none, others are compared with a run's.
        self._near = np.where(~np.isfinite(self._near) & finite, _wide(found), self._near)
        np.maximum(self._distance, self._distances(found), out=self._distance)
        if self._has_orders and differs.any():
            # Any element may be what some other one was in this run.
            self.is_undetermined[...] = True
        elif found.dtype.kind == "c":
            self.is_undetermined |= self._may_overflow

    def allows(self, found: Memory, slack: float = 1.0) -> npt.NDArray[np.bool_]:
        """Which elements of a memory may be what they are, with so many times the distance."""
        finite = np.isfinite(found) & np.isfinite(self._near)
        is_near = finite & (self._distances(found) <= self.limits(slack))
        has_overflowed = self._may_overflow & ~np.isfinite(found)
        return are_same(self._expected, found) | is_near | has_overflowed | self.is_undetermined

    def allow(self, distance: Memory) -> None:
        """Allows every number a distance, before the factor for safety."""
        np.maximum(self._distance, distance, out=self._distance)

    def allow_any_overflow(self) -> None:
        """Allows inf, -inf and NaN for each other, which no input was."""
        self._may_overflow |= ~np.isfinite(self._expected)

    def farthest(self) -> npt.NDArray[np.float64]:
        """How far each number was in the farthest run."""
        return self._distance

    def limits(self, slack: float = 1.0) -> npt.NDArray[np.float64]:
        """How far each number may be, so many times."""
        return slack * self._safety * self._distance

    def errors(self, found: Memory) -> npt.NDArray[np.float64]:
        """How far numbers are; infinitely far where what is none should be one, or the reverse."""
        is_wrong = ~self.allows(found) & ~(np.isfinite(found) & np.isfinite(self._near))
        return np.where(is_wrong, np.inf, self._distances(found))

    def text(self, position: np.intp) -> str:
        """What an element must be, in words."""
        number, limit = self._expected[position], self.limits()[position]
        if self._may_overflow[position]:
            near = f" or {self._near[position]!r}" if np.isfinite(self._near[position]) else ""
            return f"inf, -inf, NaN{near}, may be off by {limit}"
        return f"{number!r}, may be off by {limit}"

    def _distances(self, found: Memory) -> npt.NDArray[np.float64]:
        """How far numbers are from those that they are compared with; 0 if they are not finite."""
        with np.errstate(all="ignore"):
            distance = np.abs(_wide(found) - self._near)
        # Large integers that differ may be one number in f64.
        if found.dtype.kind in "iu":
            return np.where(are_same(self._expected, found), 0.0, np.maximum(distance, 1.0))
        return np.where(np.isfinite(distance), distance, 0.0)


def are_same(first: Memory, second: Memory) -> npt.NDArray[np.bool_]:
    """Where numbers are equal, both NaN, or both complex and not finite.

    Languages do not agree on what the other part is where one part of a complex number is infinite
    or NaN: C's Annex G recovers infinities that the plain formula of a product makes NaN.
    """
    same = (first == second) | ((first != first) & (second != second))
    if first.dtype.kind != "c":
        return same
    return same | (~np.isfinite(first) & ~np.isfinite(second))


def _wide(memory: Memory) -> Memory:
    return memory.astype(np.complex128 if memory.dtype.kind == "c" else np.float64)
