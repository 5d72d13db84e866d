"""Products of matrices, C := A B + C.

A block of C stays in registers while a loop goes over the depth: each iteration adds the product
of a piece of a column of A and a piece of a row of B. The elements of A are read one by one and
broadcast, those of B are read as vectors.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, BFloat16Type, VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import ExtFOp, ExtSIOp
from xtile.dialects.vector import ContractionOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.elementwise import piece_type
from xtile.translate.core_to_vectors.emitting import rests
from xtile.translate.core_to_vectors.kinds import is_outer_product
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place
from xtile.translate.core_to_vectors.matrix_unit import multiply, unit_of
from xtile.translate.core_to_xegpu.bfloat16 import element_of, widen

_REGISTERS_FOR_FACTORS = 8
"""Registers that the accumulators leave for a row of B, an element of A and addresses."""

_CHEAP = 2
"""The most operations that a part of B may cost to be computed again for a second block of rows."""

_GAIN_WITH_REST = 0.7
"""What blocks are worth that leave a rest of rows, which needs code of its own."""


@dataclass(frozen=True)
class _Block:
    """A part of C whose blocks are of the same size.

    Attributes:
        row: Its first row.
        rows: The number of its rows, a multiple of `height`.
        height: The rows of one block.
        column: Its first column.
        columns: The number of its columns, a multiple of `width` times `count`.
        width: The columns of one vector.
        count: The vectors side by side in one block.
    """

    row: int
    rows: int
    height: int
    column: int
    columns: int
    width: int
    count: int


def _contract(operation: ContractionOp, lowering: Vectors) -> None:
    left, right, sums = (lowering.matrix(operand) for operand in operation.operands)
    unit = unit_of(lowering, operation)
    if unit is not None:
        buffer = lowering.new_buffer(operation.result)
        multiply(lowering, unit, (left, right, sums), buffer)
        lowering.define(operation.result, lowering.stored(buffer, sums.shape, sums.element))
        return
    left = _widened(lowering, left, operation.lhs, operation.result)
    right = _widened(lowering, right, operation.rhs, operation.result)
    if is_outer_product(operation):
        lowering.define_matrix(operation.result, _outer_product(lowering, left, right, sums))
        return
    buffer = lowering.new_buffer(operation.result)
    blocks = _blocks(lowering, sums)
    is_repeated = any(block.rows > 2 * block.height for block in blocks)
    with lowering.temporary(left) if left.scalar is None else _as_it_is(left) as a:
        if right.cost > (1 if is_repeated else _CHEAP):
            with lowering.temporary(right) as b:
                _multiply(lowering, blocks, (a, b, sums), buffer)
        else:
            _multiply(lowering, blocks, (a, right, sums), buffer)
    lowering.define(operation.result, lowering.stored(buffer, sums.shape, sums.element))


def _widened(lowering: Vectors, matrix: Matrix, old: SSAValue, sums: SSAValue) -> Matrix:
    """A factor in the type of the sums."""
    element = lowering.component_type(sums.type)
    source = cast("VectorType[Attribute]", old.type).element_type
    if source == element:
        return matrix

    def convert(piece: SSAValue) -> SSAValue:
        type_ = piece_type(element, _length(piece))
        if isinstance(source, BFloat16Type):
            piece = widen(lowering, piece)
        if element_of(piece) == element:
            return piece
        kind = ExtFOp if isinstance(element, AnyFloat) else ExtSIOp
        return lowering.emit(kind(piece, cast("Any", type_))).result

    if matrix.scalar is not None:
        return lowering.splat(convert(matrix.scalar), matrix.shape)
    return lowering.computed([matrix], element, lambda place, width, pieces: convert(pieces[0]))


def _length(value: SSAValue) -> int:
    type_ = value.type
    return (
        cast("VectorType[Attribute]", type_).get_shape()[0] if isinstance(type_, VectorType) else 1
    )


@contextmanager
def _as_it_is(matrix: Matrix) -> Generator[Matrix]:
    yield matrix


# --- a column and a row ---


def _outer_product(lowering: Vectors, left: Matrix, right: Matrix, sums: Matrix) -> Matrix:
    """The product of a column and a row, added to a matrix, for each component on its own."""
    column = left if left.scalar is not None else lowering.in_memory(left)
    row = right if right.scalar is not None else lowering.in_memory(right)

    def compute(place: Place, width: int, pieces: list[SSAValue]) -> SSAValue:
        a = column.piece(Place(place.row, place.row, 0), 1)
        b = row.piece(Place(place.column, 0, place.column), width)
        return _multiply_add(lowering, lowering.broadcast(a, width), b, pieces[0])

    product = lowering.computed([sums], sums.element, compute, is_flat=False)
    return replace(
        product,
        others=product.others | column.reads | row.reads,
        cost=product.cost + column.cost + row.cost,
    )


def _multiply_add(lowering: Vectors, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    if isinstance(element_of(c), AnyFloat):
        return lowering.emit(math.FmaOp(a, b, c)).result
    product = lowering.emit(arith.MuliOp(a, b)).result
    return lowering.emit(arith.AddiOp(product, c)).result


# --- blocks ---


def _blocks(lowering: Vectors, sums: Matrix) -> list[_Block]:
    """Cuts C into parts with blocks whose sums fit the registers."""
    rows, columns = sums.shape
    width = sums.width
    whole = columns - columns % width
    parts = [(0, whole, width)] if whole else []
    parts += [(start, length, length) for start, length in rests(whole, columns, width)]
    most = lowering.vector_unit.registers - _REGISTERS_FOR_FACTORS
    blocks: list[_Block] = []
    for column, length, width in parts:
        height, count = _block_size(rows, length // width, most)
        row = rows - rows % height
        blocks.append(_Block(0, row, height, column, length, width, count))
        if row < rows:
            blocks.append(_Block(row, rows - row, rows - row, column, length, width, count))
    return blocks


def _block_size(rows: int, vectors: int, most: int) -> tuple[int, int]:
    """The rows of a block, and the vectors of each: those with the fewest loads for each sum."""

    def gain(size: tuple[int, int]) -> float:
        height, count = size
        is_divisor = rows % height == 0
        return height * count / (height + count) * (1 if is_divisor else _GAIN_WITH_REST)

    return max(
        (
            (height, count)
            for height in range(1, min(rows, most) + 1)
            for count in range(1, most // height + 1)
            if vectors % count == 0
        ),
        key=gain,
    )


def _multiply(
    lowering: Vectors,
    blocks: Sequence[_Block],
    operands: tuple[Matrix, Matrix, Matrix],
    buffer: SSAValue,
) -> None:
    """Stores C + A B in private memory."""
    for block in blocks:
        rows = lowering.loop(block.row, block.row + block.rows, block.height, name="row")
        step = block.width * block.count
        with rows as row:
            columns = lowering.loop(block.column, block.column + block.columns, step, name="column")
            with columns as column:
                _multiply_block(lowering, block, (row, column), operands, buffer)


def _multiply_block(
    lowering: Vectors,
    block: _Block,
    start: tuple[Index, Index],
    operands: tuple[Matrix, Matrix, Matrix],
    buffer: SSAValue,
) -> None:
    a, b, c = operands
    first, left = start
    places = [
        [_place(lowering, c, (first, r), (left, v * block.width)) for v in range(block.count)]
        for r in range(block.height)
    ]
    width = block.width
    sums = [c.piece(place, width) for row in places for place in row]
    with lowering.carrying_loop(0, a.shape[1], sums, name="depth") as (depth, carried, results):
        factors = [
            b.piece(_place(lowering, b, (depth, 0), (left, v * width)), width)
            for v in range(block.count)
        ]
        for r in range(block.height):
            scalar = a.piece(_place(lowering, a, (first, r), (depth, 0)), 1)
            factor = lowering.broadcast(scalar, width)
            for v, row in enumerate(factors):
                total = carried[r * block.count + v]
                results.append(_multiply_add(lowering, factor, row, total))
    for place, total in zip((place for row in places for place in row), results, strict=True):
        lowering.store(total, buffer, [place.flat])


def _place(
    lowering: Vectors, matrix: Matrix, row: tuple[Index, int], column: tuple[Index, int]
) -> Place:
    """A place whose row and column are sums of a number and a constant, which is added last."""
    columns = matrix.shape[1]
    start = lowering.add(lowering.multiply(row[0], columns), column[0])
    flat = lowering.add(start, row[1] * columns + column[1])
    return Place(flat, lowering.add(*row), lowering.add(*column))


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
