"""Transposed accesses of memory, by squares that are transposed in registers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack

from xtile.rewrite.indices import Index
from xtile.rewrite.transposition import interleaved
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.memory_block import MemoryBlock
from xtile.translate.core_to_vectors.tile import Position, Tile

_SQUARES = (8, 4)
"""Rows and columns of a square: larger ones take more code, and are not faster."""


def square_of(shape: Sequence[int], column: int) -> int:
    """The size of the squares that two dimensions of a tile are cut into, the last and another.

    It is 1 where they do not divide into squares.
    """
    sizes = (shape[column], shape[-1])
    return next((n for n in _SQUARES if all(size % n == 0 for size in sizes)), 1)


def read_transposed(lowering: Vectors, block: MemoryBlock, tile: Tile, square: int) -> None:
    """Reads a whole block, whose columns are neighbours in memory, into private memory."""
    buffer = tile.buffer
    assert buffer is not None

    def read(position: Callable[[int, int], Position]) -> None:
        columns = [block.load(position(0, i), square, tile.element) for i in range(square)]
        for i, row in enumerate(interleaved(lowering, columns)):
            lowering.store(row, buffer, [position(i, 0).flat])

    each_square(lowering, tile.shape, block.column, square, read)


def write_transposed(lowering: Vectors, block: MemoryBlock, tile: Tile, square: int) -> None:
    """Writes a tile to a whole block, whose columns are neighbours in memory."""

    def write(position: Callable[[int, int], Position]) -> None:
        rows = [tile.piece(position(i, 0), square) for i in range(square)]
        for i, column in enumerate(interleaved(lowering, rows)):
            block.store(column, position(0, i))

    each_square(lowering, tile.shape, block.column, square, write)


def each_square(
    lowering: Vectors,
    shape: Sequence[int],
    column: int,
    square: int,
    emit: Callable[[Callable[[int, int], Position]], None],
) -> None:
    """Goes through the squares along a dimension and the last one.

    Args:
        lowering: Where to emit.
        shape: The sizes of the tile.
        column: The other dimension.
        square: The size of a square.
        emit: Gets what gives the position of a component in the square, from its index along that
            dimension and the one along the last.
    """
    steps = [1] * len(shape)
    steps[column] = steps[-1] = square
    with ExitStack() as loops:
        first = [
            loops.enter_context(lowering.loop(0, size, step, "row"))
            for size, step in zip(shape, steps, strict=True)
        ]

        def position(i: int, j: int) -> Position:
            indices: list[Index] = list(first)
            indices[column] = lowering.add(indices[column], i)
            indices[-1] = lowering.add(indices[-1], j)
            return lowering.position(shape, indices)

        emit(position)
