"""Contractions of tiles of any number of dimensions, as products of matrices.

Dimensions of both factors that the result has are gone through in a loop; those of one factor
become rows or columns, and those that are added up the depth.
"""

from __future__ import annotations

import math
from dataclasses import replace

from xdsl.ir import SSAValue

from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.contractions import MATMUL, Matrices, as_matrices, iteration_maps
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.elementwise import on_whole_vectors
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.products import (
    matrix_of,
    multiply_matrices,
    product_of_matrices,
)
from xtile.translate.core_to_vectors.shapes import permuted
from xtile.translate.core_to_vectors.tile import Position, Tile


def _contract(operation: ContractionOp, lowering: Vectors) -> None:
    if iteration_maps(operation) == MATMUL:
        product_of_matrices(operation, lowering)
        return
    matrices = as_matrices(operation)
    if matrices is None:
        # What is added up of one factor alone is no product of matrices.
        on_whole_vectors(operation, lowering)
        return
    result = operation.result
    left, right, sums = (
        list_of_matrices(lowering, operand, each)
        for operand, each in zip(operation.operands, matrices, strict=True)
    )
    buffer = lowering.allocate(lowering.component_type(result.type), sums.count)
    with lowering.rows((sums.shape[0], 1)) as (number,):
        parts = (
            matrix_of(lowering, left, number),
            matrix_of(lowering, right, number),
            matrix_of(lowering, sums, number),
        )
        start = lowering.multiply(number, math.prod(sums.shape[1:]))
        multiply_matrices(operation, lowering, parts, buffer, start)
    _define(lowering, result, lowering.stored(buffer, sums.shape, sums.element), matrices[2])


def list_of_matrices(lowering: Vectors, old: SSAValue, matrices: Matrices) -> Tile:
    """An operand of a contraction as a tile of three dimensions, the first of which counts."""
    is_number = as_vector(old.type) is None
    tile = lowering.splat(lowering.value(old), ()) if is_number else lowering.tile(old)
    if not matrices.is_in_order:
        tile = permuted(lowering, tile, matrices.order)
    if matrices.shape == (1, *tile.shape):
        return _one_matrix(tile)
    return lowering.reshaped(tile, matrices.shape)


def _one_matrix(tile: Tile) -> Tile:
    """A matrix as the only one of a list."""

    def piece(position: Position, width: int) -> SSAValue:
        return tile.piece(Position(position.flat, position.indices[1:]), width)

    return replace(tile, shape=(1, *tile.shape), piece=piece)


def _define(lowering: Vectors, result: SSAValue, made: Tile, matrices: Matrices) -> None:
    """Defines the result, whose dimensions may have another order: a tile or a number."""
    if as_vector(result.type) is None:
        lowering.define(result, made.piece(Position(0, (0, 0, 0)), 1))
        return
    tile = lowering.reshaped(made, matrices.sizes)
    if not matrices.is_in_order:
        tile = permuted(lowering, tile, matrices.inverse)
    lowering.define_tile(result, tile)


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
