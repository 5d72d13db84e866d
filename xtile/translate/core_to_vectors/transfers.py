"""Tiles in memory: reads, writes, and atomic updates.

Where a tile may reach beyond the memory, only those rows and columns are accessed that are
inside, in loops whose bounds are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, VectorType
from xdsl.dialects.memref import AtomicRMWOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import AtomicUpdateOp, PrefetchOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.shapes import dimensions_of
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors import kinds
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.lanes import repetitions
from xtile.translate.core_to_vectors.lowering import CHEAP_IN_TWO_LOOPS, Vectors
from xtile.translate.core_to_vectors.memory_block import MemoryBlock
from xtile.translate.core_to_vectors.tile import Position, Tile, shape_of
from xtile.translate.core_to_vectors.transposition import (
    read_transposed,
    square_of,
    write_transposed,
)
from xtile.translate.core_to_xegpu import atomics, memory
from xtile.translate.core_to_xegpu.memory import update

_COST_OF_CHECKS = 4
"""That of a part of a tile whose bounds are checked, in operations."""


@dataclass(frozen=True)
class _Access:
    """An access of a block of memory.

    Attributes:
        block: The block.
        mask: Which components are accessed, in the order of the memory's dimensions; None: all.
        order: The dimensions of the tile in that order.
        is_plain: Whether it stays inside, and reaches rows of the tile as neighbours in memory.
    """

    block: MemoryBlock
    mask: Tile | None
    order: Sequence[int]
    is_plain: bool

    @property
    def square(self) -> int:
        """The size of the squares that a transposed tile is accessed by; 1 for others."""
        if not self.block.has_columns or self.mask is not None:
            return 1
        return square_of(self.block.shape, self.block.column)

    def each(self, lowering: Vectors, width: int, emit: Callable[[Position, int], None]) -> None:
        """Goes through the components that are accessed, as many of a row at once as can be."""
        mask = self.mask
        if mask is None:
            self.block.each(width, emit)
            return

        def emit_masked(position: Position, count: int) -> None:
            at = lowering.position(mask.shape, [position.indices[i] for i in self.order])
            lowering.each_masked(mask, at, position, count, emit)

        is_in_order = list(self.order) == sorted(self.order)
        self.block.each(width if is_in_order else 1, emit_masked)


def _transfer(
    operation: TransferReadOp | TransferWriteOp, lowering: Vectors, tile: SSAValue
) -> _Access:
    """The block of memory that a transfer accesses."""
    in_bounds = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    dimensions = dimensions_of(operation.permutation_map)
    block = MemoryBlock(
        lowering,
        lowering.value(operation.source),
        lowering.numbers(operation.indices),
        shape_of(tile.type),
        dimensions,
        [not bool(flag) for flag in in_bounds],
    )
    mask = None if operation.mask is None else lowering.kept(operation.mask)
    pairs = sorted((along, i) for i, along in enumerate(dimensions) if along is not None)
    return _Access(block, mask, [i for _, i in pairs], kinds.is_plain_access(operation))


def _slice(operation: vector.LoadOp | vector.StoreOp, lowering: Vectors, tile: SSAValue) -> _Access:
    """A block along the last dimensions of a memory, as a whole inside."""
    shape, rank = shape_of(tile.type), len(operation.indices)
    dimensions = range(rank - len(shape), rank)
    memory, indices = lowering.value(operation.base), lowering.numbers(operation.indices)
    block = MemoryBlock(lowering, memory, indices, shape, dimensions, [False] * len(shape))
    return _Access(block, None, (), kinds.is_plain_access(operation))


# --- reads ---


def _read(operation: TransferReadOp, lowering: Vectors) -> None:
    access = _transfer(operation, lowering, operation.result)
    _read_tile(lowering, operation.result, access, operation.padding)


def _load(operation: vector.LoadOp, lowering: Vectors) -> None:
    if lowering.is_tile(operation.result):
        access = _slice(operation, lowering, operation.result)
        _read_tile(lowering, operation.result, access, None)
    else:
        copy_or_compute(operation, lowering)


def _read_tile(
    lowering: Vectors, result: SSAValue, access: _Access, padding: SSAValue | None
) -> None:
    element = lowering.component_type(result.type)
    block, square = access.block, access.square
    shape = shape_of(result.type)
    if access.is_plain:
        lowering.define_tile(result, _in_memory(lowering, block, shape, element))
        return
    if padding is not None and block.has_rows and access.mask is None:
        value = lowering.value(padding)
        lowering.define_tile(result, _checked(lowering, block, shape, element, value))
        return
    tile = lowering.stored(lowering.new_buffer(result), shape, element)

    def by_squares() -> None:
        read_transposed(lowering, block, tile, square)

    def by_rows() -> None:
        if padding is not None:
            _fill(lowering, access, lowering.splat(lowering.value(padding), shape), tile)
        _read_rows(lowering, access, tile)

    if square > 1:
        lowering.either(block.is_whole, by_squares, by_rows)
    else:
        by_rows()
    lowering.define(result, tile)


def _fill(lowering: Vectors, access: _Access, padding: Tile, tile: Tile) -> None:
    """Makes a tile the padding where not all of it is read."""
    assert tile.buffer is not None
    if access.mask is not None:
        lowering.store_tile(padding, tile.buffer)
    else:
        _fill_outside(lowering, access.block, padding, tile.buffer)


def _read_rows(lowering: Vectors, access: _Access, tile: Tile) -> None:
    """Reads what is inside and not masked."""
    buffer = tile.buffer
    assert buffer is not None

    def copy(position: Position, width: int) -> None:
        value = access.block.load(position, width, tile.element)
        lowering.store(value, buffer, [position.flat])

    access.each(lowering, tile.width, copy)


def _in_memory(
    lowering: Vectors, block: MemoryBlock, shape: tuple[int, ...], element: Attribute
) -> Tile:
    """The tile that is in a block of memory as a whole, row by row."""
    return Tile(
        shape,
        element,
        lambda position, width: block.load(_in_row(shape, position), width, element),
        is_flat=_is_row(shape),
        aligned=frozenset(),
        others=frozenset(),
        width=lowering.width_of(element),
    )


def _is_row(shape: Sequence[int]) -> bool:
    """Whether a tile has no more than one row, so that the numbers of its components say all."""
    return all(size == 1 for size in shape[:-1])


def _in_row(shape: Sequence[int], position: Position) -> Position:
    """A position in a tile that may have got another shape since, if it is one row."""
    if not _is_row(shape):
        return position
    return Position(position.flat, (*(0 for _ in shape[:-1]), position.flat))


def _checked(
    lowering: Vectors,
    block: MemoryBlock,
    shape: tuple[int, ...],
    element: Attribute,
    padding: SSAValue,
) -> Tile:
    """The tile that is in a block of memory as far as that goes, row by row."""
    tile = _in_memory(lowering, block, shape, element)
    guards = tuple(range_.is_whole for range_ in block.ranges if range_.is_whole is not None)

    def piece(position: Position, width: int) -> SSAValue:
        if lowering.assumed.issuperset(guards):
            return tile.piece(position, width)
        return block.load_checked(_in_row(shape, position), width, element, padding)

    return replace(tile, piece=piece, guards=guards, cost=_COST_OF_CHECKS)


def _fill_outside(lowering: Vectors, block: MemoryBlock, padding: Tile, buffer: SSAValue) -> None:
    """Makes all components the padding, if some are outside of the memory."""
    if block.is_whole is None:
        return
    is_cut = lowering.emit(arith.XOrIOp(block.is_whole, lowering.true())).result
    with lowering.when(is_cut):
        lowering.store_tile(padding, buffer)


# --- writes ---


def _write(operation: TransferWriteOp, lowering: Vectors) -> None:
    access = _transfer(operation, lowering, operation.vector)
    _write_tile(lowering, lowering.tile(operation.vector), access)


def _store(operation: vector.StoreOp, lowering: Vectors) -> None:
    if lowering.is_tile(operation.vector):
        access = _slice(operation, lowering, operation.vector)
        _write_tile(lowering, lowering.tile(operation.vector), access)
    else:
        copy_or_compute(operation, lowering)


def _write_tile(lowering: Vectors, tile: Tile, access: _Access) -> None:
    is_checked = access.block.ranges[-1].is_whole is not None or access.mask is not None
    if (access.square == 1 and not is_checked) or tile.scalar is not None:
        _write_rows(lowering, access, tile)
    elif access.square > 1 or access.mask is not None or tile.cost > CHEAP_IN_TWO_LOOPS:
        _write_stored(lowering, access, tile)
    else:
        inside = replace(access, block=access.block.inside())

        def write() -> None:
            with lowering.assuming(tile.guards):
                is_streamed = inside.block.is_streamed()
                if is_streamed is None:
                    _write_rows(lowering, inside, tile)
                    return
                lowering.either(
                    is_streamed,
                    lambda: _write_rows(lowering, inside, tile, is_streamed=True),
                    lambda: _write_rows(lowering, inside, tile),
                )

        is_whole = lowering.both(access.block.is_whole, lowering.guard_of(tile))
        lowering.either(is_whole, write, lambda: _write_stored(lowering, access, tile))


def _write_stored(lowering: Vectors, access: _Access, tile: Tile) -> None:
    """Writes a tile from private memory, so that what computes it is emitted once."""
    block, square = access.block, access.square
    with lowering.temporary(tile) as stored:

        def by_squares() -> None:
            write_transposed(lowering, block, stored, square)

        def by_rows() -> None:
            _write_rows(lowering, access, stored)

        if square > 1:
            lowering.either(block.is_whole, by_squares, by_rows)
        else:
            by_rows()


def _write_rows(
    lowering: Vectors, access: _Access, tile: Tile, *, is_streamed: bool = False
) -> None:
    def store(position: Position, width: int) -> None:
        access.block.store(tile.piece(position, width), position, is_streamed)

    access.each(lowering, tile.width, store)


# --- atomic updates ---


def _atomic_update(operation: AtomicUpdateOp, lowering: Vectors) -> None:
    """Updates elements one after the other; those outside were 0."""
    type_ = operation.value.type
    if not isa(type_, VectorType):
        _update_scalar(operation, lowering)
        return
    shape, rank = shape_of(type_), len(operation.indices)
    dimensions = list(range(rank - len(shape), rank))
    if operation.transpose is not None:
        dimensions.reverse()
    checked = [dimension in operation.checked.get_values() for dimension in dimensions]
    memory = lowering.value(operation.memory)
    indices = lowering.numbers(operation.indices)
    block = MemoryBlock(lowering, memory, indices, shape, dimensions, checked)
    element = type_.element_type
    kind, ordering = str(operation.kind.data), ordering_of(operation)
    old = lowering.new_buffer(operation.result) if operation.result.uses else None
    carried = lowering.component_type(type_)
    if old is not None:
        before = lowering.stored(old, shape, carried)
        zeros = lowering.splat(lowering.constant(0, carried), shape)
        _fill_outside(lowering, block, zeros, old)
        lowering.define(operation.result, before)
    with lowering.temporary(lowering.tile(operation.value)) as values:

        def update_one(position: Position, width: int) -> None:
            positions = [lowering.as_value(index) for index in block.indices(position)]
            value = values.piece(position, width)
            found = update(lowering, kind, value, memory, positions, element, ordering)
            if old is not None:
                lowering.store(found, old, [position.flat])

        block.each(1, update_one)


def _update_scalar(operation: AtomicRMWOp | AtomicUpdateOp, lowering: Vectors) -> None:
    """Updates one element, as often as the lanes of the subgroup do."""
    is_of_lane = lowering.has_lanes or lowering.lanes == 1
    times = 1 if is_of_lane else repetitions(operation, lowering.lanes)
    assert times is not None
    rule = {**atomics.RULES, **memory.RULES}[operation.name]
    with lowering.loop(0, times, name="lane"):
        rule(operation, lowering)


def _prefetch(operation: PrefetchOp, lowering: Vectors) -> None:
    """CPUs prefetch on their own."""


RULES: dict[str, Rule] = {
    AtomicRMWOp.name: _update_scalar,
    AtomicUpdateOp.name: _atomic_update,
    PrefetchOp.name: _prefetch,
    vector.LoadOp.name: _load,
    vector.StoreOp.name: _store,
    TransferReadOp.name: _read,
    TransferWriteOp.name: _write,
}
