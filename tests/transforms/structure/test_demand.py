"""Accesses that are boxes as far as their elements matter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.transforms.structure.pointer_builder import Kernel, Tile
from tests.transforms.structure.pointer_kernels import Launch
from tests.transforms.structure.test_structure import (
    arrays_after,
    raised,
    remarks_of,
    scattered,
    structured,
    written,
)
from xtile.arguments.errors import ArgumentError

SIZE, WIDTH = 16, 8

Limit: TypeAlias = Callable[[Kernel, Tile, Tile], Tile]
"""What a kernel makes of the numbers of rows, and how many rows there are."""


@dataclass
class Loaded:
    """A kernel that has loaded rows.

    Attributes:
        k: The kernel.
        out: Where its results go.
        tile: What it has loaded.
        rows: The numbers of the rows.
        m: How many there are.
    """

    k: Kernel
    out: Tile
    tile: Tile
    rows: Tile
    m: Tile

    def store(self, value: Tile, more: int = 0) -> None:
        """Writes the rows below `m`, and some more."""
        columns = self.k.arange(value.shape[1])
        at = self.out + (self.rows[:, None] * value.shape[1] + columns[None, :])
        self.k.store(at, value, self.rows[:, None] < self.m + more)


Use: TypeAlias = Callable[[Loaded], None]

LIMITS: dict[str, Limit] = {
    "remainder": lambda k, rows, m: rows % m,
    "select": lambda k, rows, m: k.select(rows < m, rows, 0),
    "minimum": lambda k, rows, m: k.binary("min", rows, m - 1, " signed"),
    "maximum": lambda k, rows, m: (m - 1) - k.binary("max", (m - 1) - rows, 0, " signed"),
}
"""Rows that stay what they are as long as they are below `m`."""


def _kernel(use: Use, limit: Limit) -> str:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (m,) = k.integers("m")
        rows, columns = k.block() * SIZE + k.arange(SIZE), k.arange(WIDTH)
        at = x + (limit(k, rows, m)[:, None] * WIDTH + columns[None, :])
        use(Loaded(k, out, k.load(at), rows, m))

    return written(write)


def _store_sums(given: Loaded) -> None:
    sums = given.k.reduce("addf", given.tile, 1)
    given.k.store(given.out + given.rows, sums, given.rows < given.m)


def _store_product(given: Loaded) -> None:
    k, i = given.k, given.k.arange(WIDTH)
    square = k.cast("itof", i[:, None] - i[None, :], "f32")
    given.store(k.dot(given.tile, square, given.tile))


def _store_transposed(given: Loaded) -> None:
    k = given.k
    at = given.out + (k.arange(WIDTH)[:, None] * 100 + given.rows[None, :])
    k.store(at, k.transpose(given.tile * given.tile), given.rows[None, :] < given.m)


def _store_after_loop(given: Loaded) -> None:
    with given.k.loop(0, 3, 1, [given.tile]) as loop:
        loop.carry(loop.carried[0] * 2 + given.tile)
    given.store(loop.results[0])


def _store_reshaped(given: Loaded) -> None:
    thin = given.k.reshape(given.tile, (SIZE, 1, WIDTH))
    given.store(given.k.reshape(thin, (SIZE, WIDTH)))


def _store_twice(given: Loaded) -> None:
    k, columns = given.k, given.k.arange(WIDTH)
    at = given.out + (500 + given.rows[:, None] * WIDTH + columns[None, :])
    k.store(at, given.tile, (given.rows[:, None] < given.m) & (columns[None, :] < 4))
    given.store(given.tile + given.tile)


HIDDEN: dict[str, Use] = {
    "store": lambda given: given.store(given.tile),
    "sums of rows": _store_sums,
    "product": _store_product,
    "transpose": _store_transposed,
    "loop": _store_after_loop,
    "reshape": _store_reshaped,
    "two stores": _store_twice,
}
"""Uses to which rows from `m` on do not matter."""


def _check_values(text: str) -> None:
    before = raised(text)
    after = structured(before)
    x = fresh_generator().standard_normal((48, WIDTH)).astype(np.float32)
    x[:, 0] = np.abs(x[:, 0])  # Each kernel writes something, those that write where x > 0, too.
    for m in (1, 15, 16, 40):
        launch: Launch = ([x, np.full(1000, np.nan, np.float32), m], (-(-m // SIZE), 1, 1))
        wanted, found = (arrays_after(module, launch)[1] for module in (before, after))
        assert np.isfinite(wanted).any()
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("use", HIDDEN)
def test_rows_that_do_not_matter_are_beyond_the_end(use: str) -> None:
    text = _kernel(HIDDEN[use], LIMITS["remainder"])
    assert scattered(raised(text)) >= 2
    assert scattered(structured(raised(text))) == 0
    _check_values(text)


@pytest.mark.slow
@pytest.mark.parametrize("limit", LIMITS)
def test_limits_of_rows_that_do_not_matter_change_nothing(limit: str) -> None:
    text = _kernel(HIDDEN["store"], LIMITS[limit])
    assert scattered(structured(raised(text))) == 0
    _check_values(text)


def _store_all(given: Loaded) -> None:
    at = given.out + (given.k.arange(SIZE)[:, None] * WIDTH + given.k.arange(WIDTH)[None, :])
    given.k.store(at, given.tile)


def _store_sum_of_columns(given: Loaded) -> None:
    given.k.store(given.out + given.k.arange(WIDTH), given.k.reduce("addf", given.tile, 0))


def _store_outer_product(given: Loaded) -> None:
    k = given.k
    start = k.constant(0, (WIDTH, WIDTH), "f32")
    product = k.dot(k.transpose(given.tile), given.tile, start)
    at = k.arange(WIDTH)
    k.store(given.out + (at[:, None] * WIDTH + at[None, :]), product, at[:, None] < given.m)


def _store_rows_that_shift(given: Loaded) -> None:
    with given.k.loop(0, 3, 1, [given.tile]) as loop:
        given.k.store(
            given.out + (given.rows[:, None] * WIDTH + given.k.arange(WIDTH)[None, :]),
            loop.carried[0],
            given.rows[:, None] < given.m + loop.variable,
        )
        loop.carry(loop.carried[0] + 1)


def _store_condition(given: Loaded) -> None:
    k = given.k
    at = given.out + (given.rows[:, None] * WIDTH + k.arange(WIDTH)[None, :])
    k.store(at, k.constant(1, (SIZE, WIDTH), "f32"), given.tile > 0)


def _store_below_other_end(given: Loaded) -> None:
    at = given.out + (given.rows[:, None] * WIDTH + given.k.arange(WIDTH)[None, :])
    given.k.store(at, given.tile, given.k.arange(WIDTH)[None, :] < given.m)


SEEN: dict[str, Use] = {
    "store without a mask": _store_all,
    "store of one more row": lambda given: given.store(given.tile, 1),
    "sum of columns": _store_sum_of_columns,
    "product along rows": _store_outer_product,
    "mask that changes in a loop": _store_rows_that_shift,
    "condition": _store_condition,
    "mask of columns": _store_below_other_end,
}
"""Uses to which rows from `m` on matter."""


@pytest.mark.slow
@pytest.mark.parametrize("use", SEEN)
def test_rows_that_matter_begin_again(use: str) -> None:
    text = _kernel(SEEN[use], LIMITS["remainder"])
    (remark, *_) = (each for each in remarks_of(text) if "gather_load" in each)
    assert remark == (
        "core.gather_load stays: its offsets are affine for some of its elements only, and others "
        "matter, too"
    )
    _check_values(text)


def test_what_is_written_does_not_begin_again() -> None:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (m,) = k.integers("m")
        rows = k.arange(SIZE)
        k.store(out + rows % m, k.load(x + rows), rows < m)

    (remark,) = remarks_of(written(write))
    assert remark.startswith("core.scatter_store stays: its offsets are affine for some")


def test_a_mask_of_remainders_is_no_box() -> None:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (m,) = k.integers("m")
        rows = k.arange(SIZE)
        k.store(out + rows, k.load(x + rows, rows % m < 3, 0), rows < m)

    assert "core.gather_load stays: its mask compares remainders" in remarks_of(written(write))


def test_remainders_of_numbers_that_may_be_negative_are_checked_at_a_launch() -> None:
    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        m, first = k.integers("m first")
        rows = first + k.arange(SIZE)
        k.store(out + rows, k.load(x + rows % m), rows < m)

    text = written(write)
    after = structured(raised(text))
    assert scattered(after) == 0
    blank = np.full(SIZE, np.nan, np.float32)
    with pytest.raises(ArgumentError, match=r"launches in which .*argument 3.* is from 0 to"):
        xtile.run(after, [np.zeros(SIZE, np.float32), blank, 8, -1])
