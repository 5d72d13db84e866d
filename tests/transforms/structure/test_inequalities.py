"""Numbers that are proved to be positive are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from numpy.random import Generator
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tests.seeds import fresh_generator
from tests.transforms.structure.pointer_builder import Kernel, Tile
from tests.transforms.structure.test_structure import raised, written
from xtile.arguments.launch_checks import first_failing
from xtile.dialects.core.scattered import ScatterStoreOp
from xtile.transforms.cleanup import clean_up
from xtile.transforms.structure.bounds import Bounds, Needs
from xtile.transforms.structure.inequalities import needs_of_positive
from xtile.transforms.structure.masks import box_of
from xtile.transforms.structure.provenance import Provenance

ROWS, COLUMNS, GROUP = 16, 8, 2
"""Sizes of a tile, and the rows of tiles that are dealt out together."""


@dataclass(frozen=True)
class Number:
    """A number of a kernel, and what it is."""

    tile: Tile
    of: Callable[[int, int, int], int]
    """Its value for `i`, `m` and `n`."""


def _combined(a: Number, operation: str, b: Number) -> Number:
    write, compute = _OPERATIONS[operation]

    def of(i: int, m: int, n: int) -> int:
        return compute(a.of(i, m, n), b.of(i, m, n))

    return Number(write(a.tile, b.tile), of)


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATIONS: dict[str, tuple[Callable[[Tile, Tile], Tile], Callable[[int, int], int]]] = {
    "+": (lambda a, b: a + b, lambda a, b: a + b),
    "-": (lambda a, b: a - b, lambda a, b: a - b),
    "*": (lambda a, b: a * b, lambda a, b: a * b),
    "/": (lambda a, b: a // b, _quotient),
    "%": (lambda a, b: a % b, lambda a, b: a - b * _quotient(a, b)),
    "min": (lambda a, b: a.kernel.binary("min", a, b, " signed"), min),
    "max": (lambda a, b: a.kernel.binary("max", a, b, " signed"), max),
}

Write = Callable[[Kernel, Number, Number, Number], Number]
"""Writes a number of `i`, `m` and `n`."""


def _kernel(write: Write, tiles: Callable[[Kernel, Tile, Tile], Tile]) -> tuple[ModuleOp, Number]:
    """A kernel that computes a number in a loop from the block's index to a number of tiles."""
    made: list[Number] = []

    def body(k: Kernel) -> None:
        (out,) = k.pointers("out", "i32")
        m, n = k.integers("m n")
        with k.loop(k.block(), tiles(k, m, n), 3, []) as each:
            number = write(
                k,
                Number(each.variable, lambda i, m, n: i),
                Number(m, lambda i, m, n: m),
                Number(n, lambda i, m, n: n),
            )
            made.append(number)
            k.store(out, number.tile)

    module = clean_up(raised(written(body)))
    return module, made[0]


def _needs(module: ModuleOp, *, may_wrap: bool = False) -> Needs | None:
    """What a launch must find for the number that a kernel stores to be positive."""
    (stored,) = (each.value for each in module.walk() if isinstance(each, ScatterStoreOp))
    provenance = Provenance(Bounds(may_wrap), box_of)
    assert isinstance(stored, SSAValue)
    return needs_of_positive(provenance.number(stored), provenance)


def _count(k: Kernel, m: Tile, n: Tile) -> Tile:
    return ((m + (ROWS - 1)) // ROWS) * ((n + (COLUMNS - 1)) // COLUMNS)


def _constant(k: Kernel, number: int) -> Number:
    return Number(k.constant(number), lambda i, m, n: number)


def _text(k: Kernel, text: str, **names: Number) -> Number:
    """A number of names and numbers with operations between them, from left to right."""
    first, *rest = text.split()
    result = names.get(first) or _constant(k, int(first))
    for operation, operand in zip(rest[::2], rest[1::2], strict=True):
        result = _combined(result, operation, names.get(operand) or _constant(k, int(operand)))
    return result


def _row(k: Kernel, i: Number, m: Number, n: Number) -> Number:
    columns = _text(k, f"n + {COLUMNS - 1} / {COLUMNS}", n=n)
    row = _text(k, f"i / columns * {ROWS}", i=i, columns=columns)
    return _text(k, "m - row", m=m, row=row)


def _column(k: Kernel, i: Number, m: Number, n: Number) -> Number:
    columns = _text(k, f"n + {COLUMNS - 1} / {COLUMNS}", n=n)
    column = _text(k, f"i % columns * {COLUMNS}", i=i, columns=columns)
    return _text(k, "n - column", n=n, column=column)


def _group(k: Kernel, i: Number, m: Number, n: Number) -> tuple[Number, Number, Number]:
    """The first row of tiles of a group, how many it has, and the number of the tile in it."""
    rows = _text(k, f"m + {ROWS - 1} / {ROWS}", m=m)
    columns = _text(k, f"n + {COLUMNS - 1} / {COLUMNS}", n=n)
    of_group = _text(k, f"columns * {GROUP}", columns=columns)
    first = _text(k, f"i / of_group * {GROUP}", i=i, of_group=of_group)
    height = _text(k, f"rows - first min {GROUP}", rows=rows, first=first)
    return first, height, _text(k, "i % of_group", i=i, of_group=of_group)


def _grouped_row(k: Kernel, i: Number, m: Number, n: Number) -> Number:
    first, height, _ = _group(k, i, m, n)
    row = _text(k, f"i % height + first * {ROWS}", i=i, height=height, first=first)
    return _text(k, "m - row", m=m, row=row)


def _grouped_column(k: Kernel, i: Number, m: Number, n: Number) -> Number:
    _, height, number = _group(k, i, m, n)
    column = _text(k, f"number / height * {COLUMNS}", number=number, height=height)
    return _text(k, "n - column", n=n, column=column)


def _launches() -> Iterator[tuple[int, int, int]]:
    """Some `m`, `n` and blocks."""
    rng = fresh_generator()
    for _ in range(40):
        m, n = (int(each) for each in rng.integers(-3, 90, 2))
        yield m, n, int(rng.integers(1, 5))


def _least_of(number: Number, m: int, n: int, blocks: int, tiles: int) -> int | None:
    """The least that a number is in a launch; None if it is never computed."""
    indices = (i for block in range(blocks) for i in range(block, tiles, 3))
    return min((number.of(i, m, n) for i in indices), default=None)


@pytest.mark.parametrize("write", [_row, _column, _grouped_row, _grouped_column])
def test_tiles_that_are_dealt_out_begin_inside(write: Write) -> None:
    module, number = _kernel(write, _count)
    needs = _needs(module)
    assert needs is not None
    for m, n, blocks in _launches():
        tiles = -(-m // ROWS) * -(-n // COLUMNS)
        if first_failing(list(needs), (None, m, n), (blocks, 1, 1)) is None:
            assert (_least_of(number, m, n, blocks, tiles) or 1) > 0
        else:
            assert m <= 0 or n <= 0


@pytest.mark.parametrize(
    "text",
    [
        "n - i",
        "m - i",
        "i / m * 2 - n",
        "m * n - i - 1",
        "i % n + 1 - m",
    ],
)
def test_what_may_not_be_positive(text: str) -> None:
    module, _ = _kernel(lambda k, i, m, n: _text(k, text, i=i, m=m, n=n), lambda k, m, n: m * n)
    assert _needs(module) is None


def test_a_proof_without_launches() -> None:
    """Where nobody checks whether a product wraps around, nothing is known of quotients."""
    module, _ = _kernel(_row, _count)
    assert _needs(module, may_wrap=True) is None


def _random(k: Kernel, rng: Generator, names: list[Number], depth: int) -> Number:
    if depth == 0:
        chosen = int(rng.integers(len(names) + 1))
        return names[chosen] if chosen < len(names) else _constant(k, int(rng.integers(1, 5)))
    a, b = (_random(k, rng, names, int(rng.integers(depth))) for _ in range(2))
    return _combined(a, str(rng.choice(list(_OPERATIONS))), b)


@pytest.mark.slow
def test_random_numbers() -> None:
    rng = fresh_generator()
    proved = 0
    for _ in range(60):

        def write(k: Kernel, i: Number, m: Number, n: Number) -> Number:
            number = _random(k, rng, [i, i, m, n], int(rng.integers(1, 4)))
            end = _random(k, rng, [m, n], int(rng.integers(3)))
            # Of those that are cut off at the end something can be proved.
            operation = str(rng.choice(["%", "min", ""]))
            return _combined(end, "-", _combined(number, operation, end) if operation else number)

        module, number = _kernel(write, lambda k, m, n: m * n)
        needs = _needs(module)
        for m, n in ((m, n) for m in range(-2, 5) for n in range(-2, 5)):
            if needs is None or first_failing(list(needs), (None, m, n), (2, 1, 1)) is not None:
                continue
            try:
                least = _least_of(number, m, n, 2, m * n)
            except ZeroDivisionError:
                continue  # Nothing is said of a kernel that divides by 0.
            proved += least is not None
            assert least is None or least > 0, number.tile.kernel.text()
    assert proved
