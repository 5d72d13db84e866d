"""Which elements of an operation's result each work-item computes.

Lanes lie along the innermost dimension, which is contiguous, and subgroups along both of the last
two. Work-items have the elements to themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xtile.rewrite.indices import Index
from xtile.transforms.distribute.kernel import Kernel

_UNKNOWN_TILES = 2**20
"""For a number of tiles that is known only at run time."""


@dataclass(frozen=True)
class SubgroupGrid:
    """The subgroups as rows and columns of a grid, and where this one stands in it."""

    rows: int
    columns: int
    row: Index
    column: Index


def subgroup_grid(kernel: Kernel, row_tiles: Index, column_tiles: Index) -> SubgroupGrid:
    """The grid in which the subgroups need the fewest rounds for a grid of tiles."""
    total = kernel.subgroups
    tiles = [
        tile if isinstance(tile, int) else _UNKNOWN_TILES for tile in (row_tiles, column_tiles)
    ]

    def cost(columns: int) -> tuple[int, int]:
        rows = total // columns
        return -(-tiles[0] // rows) * -(-tiles[1] // columns), abs(rows - columns)

    columns = min((n for n in range(1, total + 1) if total % n == 0), key=cost)
    if columns == total:
        return SubgroupGrid(1, columns, 0, kernel.subgroup)
    row, column = (
        kernel.divide(kernel.subgroup, columns),
        kernel.remainder(kernel.subgroup, columns),
    )
    return SubgroupGrid(total // columns, columns, row, column)


def tiles_of(size: Index, tile: int) -> Index:
    """The number of tiles that cover a size, if it is known."""
    return -(-size // tile) if isinstance(size, int) else size


def for_each_element(
    kernel: Kernel, shape: Sequence[Index], body: Callable[[list[Index]], None]
) -> None:
    """Runs the body for each element of an array that is this work-item's."""
    if not shape:
        with kernel.when(kernel.is_first):
            body([])
        return
    *outer, rows, columns = (1, *shape) if len(shape) == 1 else shape
    grid = subgroup_grid(kernel, rows, tiles_of(columns, kernel.subgroup_size))

    def inside(prefix: list[Index]) -> None:
        with (
            kernel.spread(grid.row, rows, grid.rows, "row") as row,
            columns_of(kernel, grid, columns) as column,
        ):
            body([*prefix, row, column][-len(shape) :])

    nested(kernel, outer, inside)


@contextmanager
def columns_of(kernel: Kernel, grid: SubgroupGrid, columns: Index) -> Generator[Index]:
    """The columns of this work-item, among all that its column of subgroups covers."""
    first = kernel.add(kernel.multiply(grid.column, kernel.subgroup_size), kernel.lane)
    with kernel.spread(first, columns, grid.columns * kernel.subgroup_size, "column") as column:
        yield column


def for_each_line(
    kernel: Kernel, shape: Sequence[Index], body: Callable[[list[Index]], None]
) -> None:
    """Runs the body for each element of an array that is this subgroup's, with all its lanes."""
    if not shape:
        if kernel.subgroups == 1:
            body([])
            return
        with kernel.when(kernel.compare("eq", kernel.subgroup, 0)):
            body([])
        return
    *outer, lines = shape

    def inside(prefix: list[Index]) -> None:
        with kernel.spread(kernel.subgroup, lines, kernel.subgroups, "line") as line:
            body([*prefix, line])

    nested(kernel, outer, inside)


def nested(
    kernel: Kernel,
    shape: Sequence[Index],
    body: Callable[[list[Index]], None],
    prefix: Sequence[Index] = (),
    name: str = "i",
) -> None:
    """Runs the body for each element of an array, one after the other."""
    if not shape:
        body([*prefix])
        return
    with kernel.loop(0, shape[0], name=name) as loop:
        nested(kernel, shape[1:], body, [*prefix, loop.index], name)
