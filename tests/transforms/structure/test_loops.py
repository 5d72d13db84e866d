"""Tiles that go on evenly in a loop are tiles of one view, which is made before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from tests.seeds import fresh_generator
from tests.transforms.structure.pointer_builder import Kernel, Tile
from tests.transforms.structure.pointer_kernels import CASES, Launch
from tests.transforms.structure.test_structure import arrays_after, raised, structured, written
from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE
from xtile.dialects.core.views import ViewOp
from xtile.dialects.vector.transfers import TransferReadOp
from xtile.transforms.structure import structure

SIZE = 16


def _views_in_loops(module: ModuleOp) -> int:
    return sum(
        isinstance(each, ViewOp) and isinstance(each.parent_op(), scf.ForOp)
        for each in module.walk()
    )


def _reads(module: ModuleOp) -> list[TransferReadOp]:
    return [each for each in module.walk() if isinstance(each, TransferReadOp)]


@pytest.mark.parametrize("name", ["matmul_advancing", "matmul_from_offsets", "matmul_wrapping"])
def test_products_have_their_views_before_the_loop(name: str) -> None:
    module = structure(raised(CASES[name].text()))
    assert _views_in_loops(module) == 0
    assert [BEGINS_INSIDE_ATTRIBUTE in each.attributes for each in _reads(module)] == [True, True]


# --- sums of tiles that a loop goes through ---


Body: TypeAlias = Callable[[Kernel, Tile, Tile, Tile], "tuple[Tile, Tile | None]"]
"""Pointers and a mask, of a kernel, a pointer, the variable of a loop and a size."""

Bound: TypeAlias = "int | Callable[[Tile], Tile]"
"""A number, or what it is for a size."""


def _sums(body: Body, start: Bound, stop: Bound, step: Bound) -> str:
    """Adds the tiles that a loop loads, of `x` with `n` numbers."""

    def write(k: Kernel) -> None:
        x, out = k.pointers("x out")
        (n,) = k.integers("n")
        a, b, c = (given(n) if callable(given) else given for given in (start, stop, step))
        zero = k.constant(0, (SIZE,), "f32")
        with k.loop(a, b, c, [zero]) as each:
            pointers, mask = body(k, x, each.variable, n)
            loaded = k.load(pointers) if mask is None else k.load(pointers, mask, 0)
            each.carry(each.carried[0] + loaded)
        k.store(out + k.arange(SIZE), each.results[0])

    return written(write)


def _blocks_of(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    at = i * SIZE + k.arange(SIZE)
    return x + at, at < n


def _all_blocks(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    return x + (i * SIZE + k.arange(SIZE)), None


def _from(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    at = i + k.arange(SIZE)
    return x + at, at < n


def _rows(k: Kernel, x: Tile, i: Tile, n: Tile) -> tuple[Tile, Tile | None]:
    return x + (i * 2 * SIZE + k.arange(SIZE) * 2), None


def _blocks(n: Tile) -> Tile:
    return (n + (SIZE - 1)) // SIZE


SHARED: dict[str, str] = {
    "blocks": _sums(_blocks_of, start=0, stop=_blocks, step=1),
    "without masks": _sums(_all_blocks, start=0, stop=lambda n: n // SIZE, step=1),
    "from and to": _sums(_from, start=0, stop=lambda n: n, step=SIZE),
    "from the second block": _sums(_from, start=SIZE, stop=lambda n: n, step=SIZE),
    "every second block": _sums(_from, start=0, stop=lambda n: n, step=2 * SIZE),
    "every second number": _sums(_rows, start=0, stop=lambda n: n // (2 * SIZE), step=1),
}
"""Loops whose tiles are those of one view."""

OWN: dict[str, str] = {
    "less than a block further": _sums(_from, start=0, stop=lambda n: n, step=SIZE // 2),
    "as often as it may": _sums(_blocks_of, start=0, stop=5, step=1),
    "one block too many": _sums(_blocks_of, start=0, stop=lambda n: _blocks(n) + 1, step=1),
    "blocks of another size": _sums(
        _blocks_of, start=0, stop=lambda n: (n + (SIZE // 2 - 1)) // (SIZE // 2), step=1
    ),
    "a step that is not known": _sums(_from, start=0, stop=lambda n: n, step=lambda n: n // 3 + 1),
    "backwards": _sums(
        lambda k, x, i, n: (x + ((n - SIZE) - i * SIZE + k.arange(SIZE)), None),
        start=0,
        stop=lambda n: n // SIZE,
        step=1,
    ),
    "squares": _sums(
        lambda k, x, i, n: (x + (i * i * SIZE + k.arange(SIZE)), i * i * SIZE + k.arange(SIZE) < n),
        start=0,
        stop=4,
        step=1,
    ),
}
"""Loops each of whose iterations has a view of its own."""


def _check_values(text: str) -> None:
    before = raised(text)
    after = structured(before)
    for n in (0, 1, 16, 17, 63, 64, 200):
        x = fresh_generator().standard_normal(256).astype(np.float32)
        launch: Launch = ([x, np.full(SIZE, np.nan, np.float32), n], (1, 1, 1))
        wanted, found = (arrays_after(module, launch)[1] for module in (before, after))
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", SHARED)
def test_a_view_before_the_loop(name: str) -> None:
    assert _views_in_loops(structure(raised(SHARED[name]))) == 0
    _check_values(SHARED[name])


@pytest.mark.parametrize("name", OWN)
def test_a_view_in_each_iteration(name: str) -> None:
    assert _views_in_loops(structure(raised(OWN[name]))) == 1
    _check_values(OWN[name])
