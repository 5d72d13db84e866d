"""Products of matrices, C := A B + C.

A block of C stays in registers while a loop goes over the depth: each iteration adds the product
of a piece of a column of A and a piece of a row of B. The elements of A are read one by one and
broadcast, those of B are read as vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, MemRefType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.construction import made
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.indices import Index
from xtile.translate.core_to_vectors.emitting import rests
from xtile.translate.core_to_vectors.kinds import is_outer_product
from xtile.translate.core_to_vectors.lowering import CHEAP, Vectors
from xtile.translate.core_to_vectors.matrix_unit import multiply, unit_of
from xtile.translate.core_to_vectors.tile import Position, Tile
from xtile.translate.core_to_xegpu.bfloat16 import element_of
from xtile.translate.core_to_xegpu.subgroup import combiner
from xtile.translate.core_to_xegpu.widening import rounded, wide_type, widened

_GAIN_WITH_REST = 0.7
"""What blocks are worth that leave a rest of rows, which needs code of its own, .."""

_GAIN_OF_MANY = 0.95
""".. and where there are many of them."""

_MANY = 4
"""Blocks below each other that make code for a rest worthwhile, .."""

_DEEP = 64
""".. and the depth of a product that does."""


@dataclass(frozen=True)
class Block:
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


RowsOfRight = Callable[[Block, Index, tuple[Index, int]], SSAValue]
"""Emits a vector of a row of B, for a block, which begins at a sum of columns."""


@dataclass(frozen=True)
class Factors:
    """What is multiplied.

    Attributes:
        left: A, which may have more columns than are multiplied.
        right: B.
        depth: How many columns of A and rows of B are multiplied.
    """

    left: Tile
    right: RowsOfRight
    depth: Index


def product_of_matrices(operation: ContractionOp, lowering: Vectors) -> None:
    """Defines the result of C := A B + C."""
    left, right, sums = (lowering.tile(operand) for operand in operation.operands)
    if unit_of(lowering.target, operation) is None and is_outer_product(operation):
        arithmetic = Arithmetic.of(lowering, operation)
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
    arithmetic = Arithmetic.of(lowering, operation)
    left = arithmetic.converted(left, operation.lhs)
    right = arithmetic.converted(right, operation.rhs)
    sums = arithmetic.converted(sums, operation.acc)
    blocks = blocks_of(lowering, sums.shape, sums.width, left.shape[1])
    target = Target(buffer, start, arithmetic)
    is_repeated = any(block.rows > 2 * block.height for block in blocks)
    depth = left.shape[1]
    with lowering.temporary(left) if left.scalar is None else _as_it_is(left) as a:
        if right.buffer is None and right.cost > (1 if is_repeated else CHEAP):
            panels = Panels(lowering, blocks, lowering.allocate(right.element, right.count), depth)
            panels.fill(right)
            multiply_blocks(lowering, blocks, Factors(a, panels.part, depth), sums, target)
            lowering.free(panels.buffer)
        else:
            multiply_blocks(
                lowering, blocks, Factors(a, _in_rows(lowering, right), depth), sums, target
            )


@dataclass(frozen=True)
class Arithmetic:
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
    def of(cls, lowering: Vectors, operation: ContractionOp) -> Arithmetic:
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
class Target:
    """Where the result of a product goes.

    Attributes:
        buffer: The private memory.
        start: The number of the component that its first one becomes.
        arithmetic: How the products are added up.
    """

    buffer: SSAValue
    start: Index
    arithmetic: Arithmetic

    def store(self, lowering: Vectors, sums: SSAValue, position: Position) -> None:
        """Stores a part of a row."""
        at = lowering.add(self.start, position.flat)
        lowering.store(rounded(lowering, sums, self.arithmetic.result), self.buffer, [at])


@contextmanager
def _as_it_is(matrix: Tile) -> Generator[Tile]:
    yield matrix


# --- a column and a row ---


def _outer_product(
    lowering: Vectors, arithmetic: Arithmetic, operands: tuple[Tile, Tile, Tile]
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


def _in_rows(lowering: Vectors, matrix: Tile) -> RowsOfRight:
    """B as it is."""
    return lambda block, row, column: matrix.piece(
        _position(lowering, matrix, (row, 0), column), block.width
    )


@dataclass(frozen=True)
class Panels:
    """Rows of B in private memory: the columns of a block of C side by side, row by row.

    Such a panel stays in the first cache while all rows of A go by; rows of a large matrix, which
    are powers of 2 apart, would displace each other there.

    Attributes:
        lowering: Where to emit.
        blocks: The parts of C.
        buffer: The private memory.
        depth: How many rows there is memory for.
        start: The number of the element there that is the first one.
    """

    lowering: Vectors
    blocks: Sequence[Block]
    buffer: SSAValue
    depth: int
    start: Index = 0

    def fill(self, matrix: Tile, first: Index = 0) -> None:
        """Copies rows, which become those from `first` on."""
        self.lowering.guarded(matrix, lambda: self._fill(matrix, first))

    def _fill(self, matrix: Tile, first: Index) -> None:
        lowering = self.lowering
        with lowering.loop(0, matrix.shape[0], name="row") as row:
            to = lowering.add(row, first)
            for block in self.blocks:
                if block.row > 0:
                    continue
                with _columns_of(lowering, block) as column:
                    for v in range(block.count):
                        place = (column, v * block.width)
                        position = _position(lowering, matrix, (row, 0), place)
                        piece = matrix.piece(position, block.width)
                        lowering.store(piece, self.buffer, [self._at(block, to, place)])

    def part(self, block: Block, row: Index, column: tuple[Index, int]) -> SSAValue:
        """A vector of a row, for a block, which begins at a sum of columns."""
        element = cast("MemRefType[Attribute]", self.buffer.type).element_type
        at = self._at(block, row, column)
        return self.lowering.load(self.buffer, [at], block.width, element)

    def _at(self, block: Block, row: Index, column: tuple[Index, int]) -> Index:
        lowering = self.lowering
        panel = lowering.add(self.start, lowering.multiply(column[0], self.depth))
        return lowering.add(lowering.add(panel, lowering.multiply(row, block.step)), column[1])


# --- blocks ---


def blocks_of(lowering: Vectors, shape: tuple[int, ...], width: int, depth: int) -> list[Block]:
    """Cuts C into parts with blocks whose sums fit the registers.

    Args:
        lowering: Where to emit.
        shape: The rows and columns of C.
        width: How many of its components a register holds.
        depth: The columns of A, or the most if it has less in the end.
    """
    rows, columns = shape
    whole = columns - columns % width
    parts = [(0, whole, width)] if whole else []
    parts += [(start, length, length) for start, length in rests(whole, columns, width)]
    registers = lowering.vector_unit.registers
    blocks: list[Block] = []
    for column, length, width in parts:
        height, count = _block_size(rows, length // width, depth, registers)
        row = rows - rows % height
        blocks.append(Block(0, row, height, column, length, width, count))
        if row < rows:
            blocks.append(Block(row, rows - row, rows - row, column, length, width, count))
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


def multiply_blocks(
    lowering: Vectors,
    blocks: Sequence[Block],
    factors: Factors,
    sums: Tile,
    target: Target,
) -> None:
    """Stores C + A B in private memory."""
    for block in blocks:
        with (
            _columns_of(lowering, block) as column,
            lowering.loop(block.row, block.row + block.rows, block.height, name="row") as row,
        ):
            _multiply_block(lowering, block, (row, column), factors, sums, target)


def _columns_of(lowering: Vectors, block: Block) -> AbstractContextManager[Index]:
    """A loop over the first columns of blocks."""
    return lowering.loop(block.column, block.column + block.columns, block.step, name="column")


def _multiply_block(
    lowering: Vectors,
    block: Block,
    start: tuple[Index, Index],
    factors: Factors,
    c: Tile,
    target: Target,
) -> None:
    a = factors.left
    first, left = start
    positions = [
        [_position(lowering, c, (first, r), (left, v * block.width)) for v in range(block.count)]
        for r in range(block.height)
    ]
    width = block.width
    sums = [c.piece(position, width) for row in positions for position in row]
    with lowering.carrying_loop(0, factors.depth, sums, name="depth") as (depth, carried, results):
        right = [factors.right(block, depth, (left, v * width)) for v in range(block.count)]
        for r in range(block.height):
            scalar = a.piece(_position(lowering, a, (first, r), (depth, 0)), 1)
            factor = lowering.broadcast(scalar, width)
            for v, row in enumerate(right):
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


def matrix_of(lowering: Vectors, tile: Tile, batch: Index) -> Tile:
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
        guards=tile.guards,
    )
