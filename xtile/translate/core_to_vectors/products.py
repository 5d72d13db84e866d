"""Products of matrices, C := A B + C.

A block of C stays in registers while a loop goes over the depth: each iteration adds the product
of a piece of a column of A and a piece of a row of B. The elements of A are read one by one and
broadcast, those of B are read as vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from math import prod

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.contractions import iteration_maps
from xtile.rewrite.indices import Index
from xtile.targets.lanes import LaneTarget
from xtile.transforms.distribute.local_memory import size_in_bytes
from xtile.translate.core_to_vectors.emitting import rests
from xtile.translate.core_to_vectors.kinds import is_outer_product
from xtile.translate.core_to_vectors.lowering import CHEAP, Vectors
from xtile.translate.core_to_vectors.matrix_unit import multiply, unit_of
from xtile.translate.core_to_vectors.tile import Position, Tile, shape_of
from xtile.translate.core_to_xegpu.bfloat16 import element_of
from xtile.translate.core_to_xegpu.subgroup import combiner
from xtile.translate.core_to_xegpu.widening import rounded, wide_type, widened

_CACHED_FACTORS = 256 * 1024
"""Bytes of A and B that are multiplied at once: they stay in the second cache."""

_DEEPEST = 256
"""The depth of a product that leaves nothing to gain."""

_SMALLEST = 256
"""The elements of a result that a deeper product is worth."""

_GAIN_WITH_REST = 0.7
"""What blocks are worth that leave a rest of rows, which needs code of its own, .."""

_GAIN_OF_MANY = 0.95
""".. and where there are many of them."""

_MANY = 4
"""Blocks below each other that make code for a rest worthwhile, .."""

_DEEP = 64
""".. and the depth of a product that does."""


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

    @property
    def step(self) -> int:
        """The columns of one block."""
        return self.width * self.count


_Right = Callable[[_Block, Index, tuple[Index, int]], SSAValue]
"""Emits a vector of a row of B, for a block, which begins at a sum of columns."""


def depth_of(operation: ContractionOp, target: LaneTarget) -> int:
    """The depth that a product in a loop should have; 0 if it should stay as it is.

    The sums are read and written once for each iteration, so it should be a large one.
    """
    left, right, sums = iteration_maps(operation)
    added_up = {each for each in (*left, *right) if each not in sums}
    element, shape = value_type(operation.result.type), shape_of(operation.acc.type)
    if len(added_up) != 1 or not added_up.issubset(left) or not added_up.issubset(right):
        return 0
    is_rounded_each_time = wide_type(element) != element
    is_of_unit = unit_of(target, operation) is not None
    if is_rounded_each_time or is_of_unit or prod(shape) < _SMALLEST:
        return 0
    factors = ((operation.lhs, left), (operation.rhs, right))
    row = sum(prod(_without(shape_of(each.type), map_.index(*added_up))) for each, map_ in factors)
    return min(_DEEPEST, _CACHED_FACTORS // (size_in_bytes(element) * row))


def _without(shape: tuple[int, ...], dimension: int) -> tuple[int, ...]:
    return shape[:dimension] + shape[dimension + 1 :]


def product_of_matrices(operation: ContractionOp, lowering: Vectors) -> None:
    """Defines the result of C := A B + C."""
    left, right, sums = (lowering.tile(operand) for operand in operation.operands)
    if unit_of(lowering.target, operation) is None and is_outer_product(operation):
        arithmetic = _Arithmetic.of(lowering, operation)
        left = arithmetic.converted(left, operation.lhs)
        right = arithmetic.converted(right, operation.rhs)
        product = _outer_product(lowering, arithmetic, (left, right, sums))
        lowering.define_tile(operation.result, product)
        return
    buffer = lowering.new_buffer(operation.result)
    multiply_matrices(operation, lowering, (left, right, sums), buffer)
    lowering.define_stored(operation.result, buffer)


def multiply_matrices(
    operation: ContractionOp,
    lowering: Vectors,
    operands: tuple[Tile, Tile, Tile],
    buffer: SSAValue,
    start: Index = 0,
) -> None:
    """Stores C + A B in private memory.

    Args:
        operation: The contraction that it is, or is a part of.
        lowering: Where to emit.
        operands: A, B and C; C may be where the result goes.
        buffer: Where the result goes.
        start: The number of the component there that its first one becomes.
    """
    left, right, sums = operands
    unit = unit_of(lowering.target, operation)
    if unit is not None:
        multiply(lowering, unit, operands, buffer)
        return
    arithmetic = _Arithmetic.of(lowering, operation)
    left = arithmetic.converted(left, operation.lhs)
    right = arithmetic.converted(right, operation.rhs)
    sums = arithmetic.converted(sums, operation.acc)
    blocks = _blocks(lowering, sums, left.shape[1])
    target = _Target(buffer, start, arithmetic)
    is_repeated = any(block.rows > 2 * block.height for block in blocks)
    with lowering.temporary(left) if left.scalar is None else _as_it_is(left) as a:
        if right.buffer is None and right.cost > (1 if is_repeated else CHEAP):
            with _in_panels(lowering, blocks, right) as b:
                _multiply(lowering, blocks, (a, sums), b, target)
        else:
            _multiply(lowering, blocks, (a, sums), _in_rows(lowering, right), target)


@dataclass(frozen=True)
class _Arithmetic:
    """How products are added up.

    Attributes:
        lowering: Where to emit.
        kind: The kind of `vector.contract`.
        element: The type of the sums as they are added up: f32 for those of 16 bits.
        result: The type of the result in the source.
    """

    lowering: Vectors
    kind: str
    element: Attribute
    result: Attribute

    @classmethod
    def of(cls, lowering: Vectors, operation: ContractionOp) -> _Arithmetic:
        """That of a contraction."""
        result = value_type(operation.result.type)
        return cls(lowering, str(operation.kind.data), wide_type(result), result)

    def converted(self, tile: Tile, old: SSAValue) -> Tile:
        """A factor or the sums in the type of the sums."""
        source = value_type(old.type)
        if tile.element == self.element:
            return tile
        if tile.scalar is not None:
            scalar = widened(self.lowering, tile.scalar, source, self.element)
            return self.lowering.splat(scalar, tile.shape)
        return self.lowering.computed(
            [tile],
            self.element,
            lambda at, width, pieces: widened(self.lowering, pieces[0], source, self.element),
        )

    def multiply_add(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """The product of two factors, combined with a sum."""
        emit, is_float = self.lowering.emit, isinstance(element_of(c), AnyFloat)
        if self.kind == "add" and is_float:
            return emit(made(math.FmaOp, (a, b, c), (a.type,))).result
        kind = arith.MulfOp if is_float else arith.MuliOp
        product = emit(made(kind, (a, b), (a.type,))).results[0]
        return combiner(self.lowering, self.kind, element_of(c))(c, product)


@dataclass(frozen=True)
class _Target:
    """Where the result of a product goes.

    Attributes:
        buffer: The private memory.
        start: The number of the component that its first one becomes.
        arithmetic: How the products are added up.
    """

    buffer: SSAValue
    start: Index
    arithmetic: _Arithmetic

    def store(self, lowering: Vectors, sums: SSAValue, position: Position) -> None:
        """Stores a part of a row."""
        at = lowering.add(self.start, position.flat)
        lowering.store(rounded(lowering, sums, self.arithmetic.result), self.buffer, [at])


@contextmanager
def _as_it_is(matrix: Tile) -> Generator[Tile]:
    yield matrix


# --- a column and a row ---


def _outer_product(
    lowering: Vectors, arithmetic: _Arithmetic, operands: tuple[Tile, Tile, Tile]
) -> Tile:
    """The product of a column and a row, added to a matrix, for each component on its own."""
    left, right, sums = operands
    column = left if left.scalar is not None else lowering.in_memory(left)
    row = right if right.scalar is not None else lowering.in_memory(right)

    def compute(position: Position, width: int, pieces: list[SSAValue]) -> SSAValue:
        a = column.piece(Position(position.row, (position.row, 0)), 1)
        b = row.piece(Position(position.column, (0, position.column)), width)
        return arithmetic.multiply_add(lowering.broadcast(a, width), b, pieces[0])

    product = lowering.computed([sums], sums.element, compute, is_flat=False)
    return replace(
        product,
        others=product.others | column.reads | row.reads,
        cost=product.cost + column.cost + row.cost,
    )


# --- the right factor ---


def _in_rows(lowering: Vectors, matrix: Tile) -> _Right:
    """B as it is."""
    return lambda block, row, column: matrix.piece(
        _position(lowering, matrix, (row, 0), column), block.width
    )


@contextmanager
def _in_panels(lowering: Vectors, blocks: Sequence[_Block], matrix: Tile) -> Generator[_Right]:
    """B in private memory: the columns of a block of C side by side, row by row.

    Such a panel stays in the first cache while all rows of A go by; rows of a large matrix, which
    are powers of 2 apart, would displace each other there.
    """
    depth = matrix.shape[0]
    buffer = lowering.allocate(matrix.element, matrix.count)

    def at(block: _Block, row: Index, column: tuple[Index, int]) -> Index:
        start = lowering.add(
            lowering.multiply(column[0], depth), lowering.multiply(row, block.step)
        )
        return lowering.add(start, column[1])

    def fill() -> None:
        with lowering.loop(0, depth, name="row") as row:
            for block in blocks:
                if block.row > 0:
                    continue
                with _columns_of(lowering, block) as column:
                    for v in range(block.count):
                        place = (column, v * block.width)
                        position = _position(lowering, matrix, (row, 0), place)
                        lowering.store(
                            matrix.piece(position, block.width), buffer, [at(block, row, place)]
                        )

    lowering.guarded(matrix, fill)
    yield lambda block, row, column: lowering.load(
        buffer, [at(block, row, column)], block.width, matrix.element
    )
    lowering.free(buffer)


# --- blocks ---


def _blocks(lowering: Vectors, sums: Tile, depth: int) -> list[_Block]:
    """Cuts C into parts with blocks whose sums fit the registers."""
    rows, columns = sums.shape
    width = sums.width
    whole = columns - columns % width
    parts = [(0, whole, width)] if whole else []
    parts += [(start, length, length) for start, length in rests(whole, columns, width)]
    registers = lowering.vector_unit.registers
    blocks: list[_Block] = []
    for column, length, width in parts:
        height, count = _block_size(rows, length // width, depth, registers)
        row = rows - rows % height
        blocks.append(_Block(0, row, height, column, length, width, count))
        if row < rows:
            blocks.append(_Block(row, rows - row, rows - row, column, length, width, count))
    return blocks


def _block_size(rows: int, vectors: int, depth: int, registers: int) -> tuple[int, int]:
    """The rows of a block, and the vectors of each: those with the fewest loads for each sum.

    Registers hold the sums, a part of a row of B and an element of A.
    """

    def gain(size: tuple[int, int]) -> float:
        height, count = size
        is_worth_it = depth >= _DEEP and rows >= _MANY * height
        with_rest = _GAIN_OF_MANY if is_worth_it else _GAIN_WITH_REST
        return height * count / (height + count) * (with_rest if rows % height else 1)

    return max(
        (
            (height, count)
            for height in range(1, min(rows, registers) + 1)
            for count in range(1, vectors + 1)
            if vectors % count == 0 and height * count + count < registers
        ),
        key=gain,
    )


def _multiply(
    lowering: Vectors,
    blocks: Sequence[_Block],
    operands: tuple[Tile, Tile],
    right: _Right,
    target: _Target,
) -> None:
    """Stores C + A B in private memory, from a component on; the operands are A and C."""
    for block in blocks:
        with (
            _columns_of(lowering, block) as column,
            lowering.loop(block.row, block.row + block.rows, block.height, name="row") as row,
        ):
            _multiply_block(lowering, block, (row, column), operands, right, target)


def _columns_of(lowering: Vectors, block: _Block) -> AbstractContextManager[Index]:
    """A loop over the first columns of blocks."""
    return lowering.loop(block.column, block.column + block.columns, block.step, name="column")


def _multiply_block(
    lowering: Vectors,
    block: _Block,
    start: tuple[Index, Index],
    operands: tuple[Tile, Tile],
    right: _Right,
    target: _Target,
) -> None:
    a, c = operands
    first, left = start
    positions = [
        [_position(lowering, c, (first, r), (left, v * block.width)) for v in range(block.count)]
        for r in range(block.height)
    ]
    width = block.width
    sums = [c.piece(position, width) for row in positions for position in row]
    with lowering.carrying_loop(0, a.shape[1], sums, name="depth") as (depth, carried, results):
        factors = [right(block, depth, (left, v * width)) for v in range(block.count)]
        for r in range(block.height):
            scalar = a.piece(_position(lowering, a, (first, r), (depth, 0)), 1)
            factor = lowering.broadcast(scalar, width)
            for v, row in enumerate(factors):
                total = carried[r * block.count + v]
                results.append(target.arithmetic.multiply_add(factor, row, total))
    for position, total in zip(
        (position for row in positions for position in row), results, strict=True
    ):
        target.store(lowering, total, position)


def _position(
    lowering: Vectors, matrix: Tile, row: tuple[Index, int], column: tuple[Index, int]
) -> Position:
    """A position whose row and column are sums of a number and a constant, which is added last."""
    columns = matrix.shape[1]
    start = lowering.add(lowering.multiply(row[0], columns), column[0])
    flat = lowering.add(start, row[1] * columns + column[1])
    return Position(flat, (lowering.add(*row), lowering.add(*column)))
