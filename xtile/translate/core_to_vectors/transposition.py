"""Transposed accesses of memory, by square tiles that are transposed in registers."""

from __future__ import annotations

from collections.abc import Callable

from xtile.rewrite.indices import Index
from xtile.rewrite.transposition import transposed
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place
from xtile.translate.core_to_vectors.memory_block import MemoryBlock

_TILES = (8, 4)
"""Rows and columns of a tile: larger ones take more code, and are not faster."""


def tile_of(block: MemoryBlock) -> int:
    """The rows of the tiles that a transposed matrix is made of; 1 if it is not."""
    if not block.has_columns:
        return 1
    return next((n for n in _TILES if all(size % n == 0 for size in block.shape)), 1)


def read_transposed(lowering: Vectors, block: MemoryBlock, matrix: Matrix, tile: int) -> None:
    """Reads a whole block into private memory."""
    buffer = matrix.buffer
    assert buffer is not None

    def read(place: Callable[[int, int], Place]) -> None:
        columns = [block.load(place(0, i), tile, matrix.element) for i in range(tile)]
        for i, row in enumerate(transposed(lowering, columns)):
            lowering.store(row, buffer, [place(i, 0).flat])

    _each_tile(lowering, matrix.shape, tile, read)


def write_transposed(lowering: Vectors, block: MemoryBlock, matrix: Matrix, tile: int) -> None:
    """Writes a matrix to a whole block."""

    def write(place: Callable[[int, int], Place]) -> None:
        rows = [matrix.piece(place(i, 0), tile) for i in range(tile)]
        for i, column in enumerate(transposed(lowering, rows)):
            block.store(column, place(0, i))

    _each_tile(lowering, matrix.shape, tile, write)


def _each_tile(
    lowering: Vectors,
    shape: tuple[int, int],
    tile: int,
    emit: Callable[[Callable[[int, int], Place]], None],
) -> None:
    """Goes through the tiles; `emit` gets what gives the places in one, from row and column."""
    rows, columns = shape
    with lowering.loop(0, rows, tile, "row") as row:
        start = lowering.multiply(row, columns)
        with lowering.loop(0, columns, tile, "column") as column:
            first: Index = lowering.add(start, column)

            def place(i: int, j: int) -> Place:
                flat = lowering.add(first, i * columns + j)
                return Place(flat, lowering.add(row, i), lowering.add(column, j))

            emit(place)
