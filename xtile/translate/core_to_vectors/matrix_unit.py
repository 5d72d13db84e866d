"""Products on the matrix unit of a CPU, whose blocks SPIR-V knows as cooperative matrices.

The factors lie in private memory, B with those elements in one word of 32 bits that follow each
other along the depth. A tile of C stays in the unit while a loop goes over the depth.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr, VectorType, i32
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import ExtUIOp
from xtile.dialects.core.cooperative_matrix import (
    WORD_BITS,
    CooperativeMatrixLoadOp,
    CooperativeMatrixMultiplyAddOp,
    CooperativeMatrixStoreOp,
    CooperativeMatrixType,
    MatrixUse,
)
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.contractions import MATMUL, iteration_maps
from xtile.rewrite.indices import Index
from xtile.targets.lanes import LaneTarget
from xtile.targets.products import BUILTIN_TYPES, unit_for
from xtile.targets.target import MatrixUnit, Number
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.tile import Position, Tile
from xtile.translate.core_to_xegpu.bfloat16 import like
from xtile.translate.core_to_xegpu.views import strided_view

_BLOCKS = 2
"""Matrices along the rows and the columns that are multiplied at once: AMX has 8 registers."""


def unit_of(target: LaneTarget, operation: ContractionOp) -> MatrixUnit | None:
    """The product of the matrix unit that a product is made of; None if there is none."""
    if iteration_maps(operation) != MATMUL:
        return None
    left, right, sums = (
        cast("VectorType[Attribute]", operand.type) for operand in operation.operands
    )
    (rows, depth), columns = left.get_shape(), right.get_shape()[1]
    factors, units = (left.element_type, right.element_type), target.cooperative_matrices
    unit = unit_for(target, units, factors, sums.element_type)
    if isinstance(unit, str) or rows % unit.rows or columns % unit.columns or depth % unit.depth:
        return None
    return unit


def multiply(
    lowering: Vectors,
    unit: MatrixUnit,
    operands: tuple[Tile, Tile, Tile],
    buffer: SSAValue,
) -> None:
    """Stores C + A B in private memory.

    Args:
        lowering: Where to emit.
        unit: The product that the matrix unit has.
        operands: A, B and C.
        buffer: Where the result goes; C may be in it.
    """
    left, right, sums = operands
    (rows, depth), columns = left.shape, right.shape[1]
    lowering.store_tile(sums, buffer)
    words = _packed(lowering, unit, right)
    with lowering.temporary(left) as stored:
        assert stored.buffer is not None
        a = _as_matrix(lowering, stored.buffer, rows, depth)
        b = _as_matrix(lowering, words, depth // _factors(unit), columns)
        c = _as_matrix(lowering, buffer, rows, columns)
        height, width = _most(rows, unit.rows), _most(columns, unit.columns)
        with (
            lowering.loop(0, rows, height, "row") as row,
            lowering.loop(0, columns, width, "column") as column,
        ):
            blocks = _blocks(lowering, (row, column), (height, width), (unit.rows, unit.columns))
            _multiply_blocks(lowering, unit, (a, b, c), blocks, depth)
    lowering.free(words)


def _most(size: int, length: int) -> int:
    """How many rows or columns the matrices have that are multiplied at once."""
    return _BLOCKS * length if size % (_BLOCKS * length) == 0 else length


def _blocks(
    lowering: Vectors, start: tuple[Index, Index], size: tuple[int, int], step: tuple[int, int]
) -> tuple[list[Index], list[Index]]:
    """The first rows and the first columns of matrices next to each other."""
    rows = [lowering.add(start[0], i) for i in range(0, size[0], step[0])]
    return rows, [lowering.add(start[1], i) for i in range(0, size[1], step[1])]


def _multiply_blocks(
    lowering: Vectors,
    unit: MatrixUnit,
    memory: tuple[SSAValue, SSAValue, SSAValue],
    blocks: tuple[list[Index], list[Index]],
    depth: int,
) -> None:
    """Adds up products, each of whose factors is loaded once for several of them."""
    a, b, c = memory
    rows, columns = blocks
    positions = [(row, column) for row in rows for column in columns]
    sums = [
        _load(lowering, c, position, _type(unit, MatrixUse.ACCUMULATOR)) for position in positions
    ]
    with lowering.carrying_loop(0, depth, sums, unit.depth, "depth") as (k, carried, results):
        word = lowering.divide(k, _factors(unit))
        left = [_load(lowering, a, (row, k), _type(unit, MatrixUse.MATRIX_A)) for row in rows]
        right = [
            _load(lowering, b, (word, column), _type(unit, MatrixUse.MATRIX_B))
            for column in columns
        ]
        pairs = [(x, y) for x in left for y in right]
        for (x, y), total in zip(pairs, carried, strict=True):
            product = CooperativeMatrixMultiplyAddOp.build(
                operands=[x, y, total], result_types=[total.type]
            )
            results.append(lowering.emit(product).result)
    for (row, column), total in zip(positions, results, strict=True):
        indices = [lowering.as_value(row), lowering.as_value(column)]
        lowering.emit(CooperativeMatrixStoreOp.build(operands=[total, c, indices]))


def _type(unit: MatrixUnit, use: MatrixUse) -> CooperativeMatrixType:
    shapes: dict[MatrixUse, tuple[int, int, Number]] = {
        MatrixUse.MATRIX_A: (unit.rows, unit.depth, unit.a),
        MatrixUse.MATRIX_B: (unit.depth, unit.columns, unit.b),
        MatrixUse.ACCUMULATOR: (unit.rows, unit.columns, unit.sums),
    }
    rows, columns, component = shapes[use]
    return CooperativeMatrixType.of(rows, columns, BUILTIN_TYPES[component], use)


def _load(
    lowering: Vectors,
    memory: SSAValue,
    position: tuple[Index, Index],
    type_: CooperativeMatrixType,
) -> SSAValue:
    is_packed = type_.use.data == MatrixUse.MATRIX_B
    operation = CooperativeMatrixLoadOp.build(
        operands=[memory, [lowering.as_value(index) for index in position]],
        result_types=[type_],
        properties={"packed": UnitAttr()} if is_packed else {},
    )
    return lowering.emit(operation).result


def _as_matrix(lowering: Vectors, buffer: SSAValue, rows: int, columns: int) -> SSAValue:
    """Private memory with rows and columns."""
    return lowering.shared(
        ("matrix", buffer, rows, columns),
        (buffer,),
        lambda: strided_view(lowering, buffer, 0, (rows, columns), (columns, 1)),
    )


def _factors(unit: MatrixUnit) -> int:
    """The elements in a word of 32 bits."""
    return WORD_BITS // BUILTIN_TYPES[unit.a].bitwidth


def _packed(lowering: Vectors, unit: MatrixUnit, matrix: Tile) -> SSAValue:
    """B as words, in private memory."""
    rows, columns = matrix.shape
    factors = _factors(unit)
    words = lowering.allocate(i32, rows // factors * columns)
    width = lowering.width_of(i32)
    with lowering.loop(0, rows // factors, name="row") as row:
        start = lowering.multiply(row, columns)

        def pack(column: Index, length: int) -> None:
            parts: list[SSAValue] = []
            for i in range(factors):
                part = lowering.add(lowering.multiply(row, factors), i)
                flat = lowering.add(lowering.multiply(part, columns), column)
                parts.append(matrix.piece(Position(flat, (part, column)), length))
            lowering.store(_joined(lowering, parts), words, [lowering.add(start, column)])

        lowering.cover(columns, width, pack)
    return words


def _joined(lowering: Vectors, parts: list[SSAValue]) -> SSAValue:
    """Words whose lowest bits are those of the first part."""
    bits = WORD_BITS // len(parts)
    word = like(parts[0], i32)
    result = lowering.emit(ExtUIOp(parts[0], cast("Any", word))).result
    for i, part in enumerate(parts[1:], 1):
        extended = lowering.emit(ExtUIOp(part, cast("Any", word))).result
        amount = lowering.constant(i * bits, word)
        shifted = lowering.emit(arith.ShLIOp(extended, amount)).result
        result = lowering.emit(arith.OrIOp(result, shifted)).result
    return result
