"""Contractions of tiles of any number of dimensions, as products of matrices.

Dimensions of both factors that the result has are gone through in a loop; those of one factor
become rows or columns, and those that are added up the depth.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.contractions import MATMUL, Maps, iteration_maps
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.elementwise import on_whole_vectors
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.products import multiply_matrices, product_of_matrices
from xtile.translate.core_to_vectors.shapes import permuted
from xtile.translate.core_to_vectors.tile import Position, Tile, shape_of


@dataclass(frozen=True)
class _Iterations:
    """What the iterations of a contraction are, by their numbers.

    Attributes:
        batch: Those along dimensions of both factors and of the result.
        rows: Those along dimensions of the left factor and of the result.
        columns: Those along dimensions of the right factor and of the result.
        depth: Those that are added up.
    """

    batch: list[int]
    rows: list[int]
    columns: list[int]
    depth: list[int]

    @classmethod
    def of(cls, maps: Maps) -> _Iterations:
        left, right, sums = maps
        return cls(
            [i for i in sums if i in left and i in right],
            [i for i in sums if i in left and i not in right],
            [i for i in sums if i in right and i not in left],
            [i for i in left if i not in sums],
        )


def _contract(operation: ContractionOp, lowering: Vectors) -> None:
    maps = iteration_maps(operation)
    if maps == MATMUL:
        product_of_matrices(operation, lowering)
        return
    its = _Iterations.of(maps)
    left_map, right_map, sums_map = maps
    if sorted(its.depth) != sorted(i for i in right_map if i not in sums_map):
        # What is added up of one factor alone is no product of matrices.
        on_whole_vectors(operation, lowering)
        return
    result = operation.result
    left = _ordered(lowering, operation.lhs, left_map, (its.batch, its.rows, its.depth))
    right = _ordered(lowering, operation.rhs, right_map, (its.batch, its.depth, its.columns))
    order = (its.batch, its.rows, its.columns)
    sums = _ordered(lowering, operation.acc, sums_map, order)
    buffer = lowering.allocate(lowering.component_type(result.type), sums.count)
    with lowering.rows((sums.shape[0], 1)) as (batch,):
        parts = (
            _matrix(lowering, left, batch),
            _matrix(lowering, right, batch),
            _matrix(lowering, sums, batch),
        )
        start = lowering.multiply(batch, math.prod(sums.shape[1:]))
        multiply_matrices(operation, lowering, parts, buffer, start)
    _define(lowering, result, lowering.stored(buffer, sums.shape, sums.element), sums_map, order)


def _ordered(
    lowering: Vectors, old: SSAValue, map_: Sequence[int], groups: Sequence[Sequence[int]]
) -> Tile:
    """A tile of three dimensions, each of which is made of several iterations."""
    is_number = as_vector(old.type) is None
    tile = lowering.splat(lowering.value(old), ()) if is_number else lowering.tile(old)
    sizes = dict(zip(map_, tile.shape, strict=True))
    order = [map_.index(i) for group in groups for i in group]
    if order != sorted(order):
        tile = permuted(lowering, tile, order)
    shape = tuple(math.prod(sizes[i] for i in group) for group in groups)
    return lowering.reshaped(tile, shape)


def _matrix(lowering: Vectors, tile: Tile, batch: Index) -> Tile:
    """One of the matrices that a tile consists of."""
    if tile.scalar is not None:
        return lowering.splat(tile.scalar, tile.shape[1:])

    def piece(position: Position, width: int) -> SSAValue:
        return tile.piece(lowering.position(tile.shape, (batch, *position.indices)), width)

    return Tile(
        tile.shape[1:],
        tile.element,
        piece,
        is_flat=False,
        aligned=frozenset(),
        others=tile.reads,
        width=tile.width,
        cost=tile.cost,
    )


def _define(
    lowering: Vectors,
    result: SSAValue,
    made: Tile,
    map_: Sequence[int],
    groups: Sequence[Sequence[int]],
) -> None:
    """Defines the result, whose dimensions may have another order: a tile or a number."""
    if as_vector(result.type) is None:
        lowering.define(result, made.piece(Position(0, (0, 0, 0)), 1))
        return
    order = [i for group in groups for i in group]
    sizes = dict(zip(map_, shape_of(result.type), strict=True))
    tile = lowering.reshaped(made, tuple(sizes[i] for i in order))
    back = [order.index(i) for i in map_]
    if back != sorted(back):
        tile = permuted(lowering, tile, back)
    lowering.define_tile(result, tile)


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
