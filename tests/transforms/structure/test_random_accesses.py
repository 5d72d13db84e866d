"""Random affine accesses compute the same after they became transfers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator, share_of
from tests.transforms.structure.pointer_builder import Kernel, Tile
from tests.transforms.structure.test_structure import arrays_after, raised, structured

MIDDLE = 8000
"""Where pointers begin in memory, so that offsets of any sign are inside."""

ROUNDS = 6


class _Writer:
    """Writes one random kernel: it copies a box, and leaves out what a mask says."""

    def __init__(self, generator: np.random.Generator) -> None:
        self._random = generator
        self.kernel = Kernel()
        x, self.out, places = self.kernel.pointers("x out places")
        self.x, self.places = x + MIDDLE, places + MIDDLE
        self.integers = self.kernel.integers("a b c")

    def write(self) -> str:
        """The kernel as text."""
        k, rank = self.kernel, self._number(1, 3)
        sizes = [int(self._random.choice([1, 2, 4, 8])) for _ in range(rank)]
        self.axes = [self._axis(size, i, rank) for i, size in enumerate(sizes)]
        everywhere = self.axes[0] * 0
        for axis in self.axes[1:]:
            everywhere = everywhere + axis * 0
        self.shape = everywhere.shape
        if self._chance(0.5):
            self._copy(everywhere, self._integer())
            return k.text()
        stop = 3 if self._chance(0.5) else self.integers[2] - 3
        step = self._number(1, 3)
        with k.loop(0, stop, step, [self.x + (everywhere + self._offset())]) as loop:
            pointers = loop.carried[0]
            value = k.load(pointers, self._mask(loop.variable), 7)
            k.store(self.out + (everywhere + self._number(0, 4)) + loop.variable * 300, value)
            loop.carry(pointers + self._integer())
        value = k.load(loop.results[0], self._mask(self._integer()), 7)
        k.store(self.places + self._distinct(), value)
        return k.text()

    def _copy(self, everywhere: Tile, more: Tile | int) -> None:
        k, mask, offset = self.kernel, self._mask(more), everywhere + self._offset()
        value = k.load(self.x + offset, mask, 7)
        k.store(self.out + self._distinct(), value)
        # What is written says where, so that it does not matter which of several stays.
        written = k.cast("itof", offset, "f32")
        k.store(self.places + offset, written, self._mask(more))

    def _distinct(self) -> Tile:
        """Offsets that are all different."""
        total, step = self.axes[0] * 1000, 100
        for axis in self.axes[1:]:
            total, step = total + axis * step, step // 10
        return total

    def _axis(self, size: int, dimension: int, rank: int) -> Tile:
        index: Any = tuple(slice(None) if i == dimension else None for i in range(rank))
        return self.kernel.arange(size)[index]

    def _offset(self) -> Tile | int:
        total: Any = self._integer()
        for axis in self.axes:
            if self._chance(0.8):
                total = axis * self._integer() + total
        return total

    def _mask(self, more: Tile | int) -> Tile:
        """Some comparisons, of which all must hold."""
        mask = self._comparison(more)
        for _ in range(self._number(0, 3)):
            mask = mask & self._comparison(more)
        return mask

    def _comparison(self, more: Tile | int) -> Tile:
        axis = self.axes[self._number(0, len(self.axes))]
        left: Tile = axis * int(self._random.choice([1, 1, 1, -1, 2, -3, 0])) + self._integer()
        if self._chance(0.3):
            left = left + more
        right = self._integer()
        predicates = ["less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"]
        predicate = str(self._random.choice([*predicates, *predicates, "equal"]))
        if self._chance(0.3):
            return self.kernel.compare(predicate, right, left)
        return self.kernel.compare(predicate, left, right)

    def _integer(self) -> Tile | int:
        """A parameter or a small number."""
        if self._chance(0.4):
            return self.integers[self._number(0, 3)]
        return self._number(-4, 9)

    def _number(self, low: int, high: int) -> int:
        return int(self._random.integers(low, high))

    def _chance(self, likely: float) -> bool:
        return bool(self._random.random() < likely)


@pytest.mark.parametrize("number", range(2))
def test_random_accesses(number: int) -> None:
    generator = fresh_generator()
    transfers, rounds = 0, share_of(ROUNDS)
    for _ in range(rounds):
        text = _Writer(generator).write()
        before = raised(text)
        after = structured(before)
        transfers += _transfers(after)
        for _ in range(3):
            x = generator.standard_normal(2 * MIDDLE).astype(np.float32)
            blank = [np.full(2 * MIDDLE, np.nan, np.float32) for _ in range(2)]
            # Strides are at least 1.
            numbers = [int(each) for each in generator.integers(1, 9, 3)]
            arguments = [x, *blank, *numbers]
            launch = arguments, (1, 1, 1)
            pairs = zip(arrays_after(before, launch), arrays_after(after, launch), strict=True)
            for wanted, found in pairs:
                np.testing.assert_array_equal(found, wanted, text)
    assert transfers >= rounds


def _transfers(module: Any) -> int:
    return sum(each.name.startswith("vector.transfer_") for each in module.walk())
