"""What is known of emitted integers without running: constants, divisors, signs and bounds."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from math import lcm

from typing_extensions import override
from xdsl.ir import SSAValue

from xtile.rewrite.facts import Facts
from xtile.rewrite.indices import Index


class IndexFacts(Facts):
    """What is known of each integer, if nothing overflows."""

    def __init__(self) -> None:
        super().__init__()
        self._numbers: dict[SSAValue, int] = {}
        self._bounds: dict[SSAValue, Index] = {}

    def learn_number(self, value: SSAValue, number: int) -> None:
        """Records that a value is a constant."""
        self._numbers[value] = number

    def learn_bound(self, value: SSAValue, bound: Index) -> None:
        """Records a number that is greater than a value."""
        self._bounds[value] = bound

    @contextmanager
    def bounded(self, bounds: Mapping[SSAValue, Index]) -> Generator[None]:
        """Knows for a while numbers that are greater than values."""
        before = self._bounds
        self._bounds = {**before, **bounds}
        try:
            yield
        finally:
            self._bounds = before

    def learn_divisor(self, value: SSAValue, divisor: int) -> None:
        """Records that a value is a multiple of a positive number, beside what is known of it."""
        self.assume(value, lcm(self.divisor(value), divisor), self.is_not_negative(value))

    def number(self, value: SSAValue) -> Index:
        """A value, or the number that it is."""
        return self._numbers.get(value, value)

    def bound(self, value: Index) -> Index | None:
        """A number that is greater; None if none is known."""
        return value + 1 if isinstance(value, int) else self._bounds.get(value)

    @override
    def constant(self, value: SSAValue) -> int | None:
        return self._numbers.get(value)
