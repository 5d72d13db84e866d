"""Matrices in memory: reads, writes, and atomic updates.

Where a matrix may reach beyond the memory, only those rows and columns are accessed that are
inside, in loops whose bounds are computed.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, MemRefType, VectorType
from xdsl.dialects.memref import AtomicRMWOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core import AtomicUpdateOp, PrefetchOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors import kinds
from xtile.translate.core_to_vectors.lanes import repetitions
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place, shape_of
from xtile.translate.core_to_vectors.memory_block import MemoryBlock
from xtile.translate.core_to_vectors.transposition import (
    read_transposed,
    tile_of,
    write_transposed,
)
from xtile.translate.core_to_xegpu import atomics, memory
from xtile.translate.core_to_xegpu.memory import update


def _access(operation: Operation, lowering: Vectors, matrix: SSAValue) -> MemoryBlock:
    """The block of memory that a transfer accesses."""
    memory = kinds.memory_of(operation)
    rank = cast("MemRefType[Attribute]", memory.type).get_num_dims()
    first = list(operation.operands).index(memory) + 1
    in_bounds = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    rows, columns = (not bool(flag) for flag in in_bounds)
    return MemoryBlock(
        lowering,
        lowering.value(memory),
        lowering.numbers(operation.operands[first : first + rank]),
        shape_of(matrix.type),
        kinds.is_transposed(operation),
        (rows, columns),
    )


# --- reads ---


def _read(operation: TransferReadOp, lowering: Vectors) -> None:
    result = operation.result
    element = lowering.component_type(result.type)
    block = _access(operation, lowering, result)
    shape = shape_of(result.type)
    if kinds.is_plain_transfer(operation):
        lowering.define_matrix(result, _in_memory(lowering, block, shape, element))
        return
    matrix = lowering.stored(lowering.new_buffer(result), shape, element)
    tile = tile_of(block)

    def by_tiles() -> None:
        read_transposed(lowering, block, matrix, tile)

    def by_rows() -> None:
        _read_rows(lowering, block, lowering.value(operation.padding), matrix)

    if tile > 1:
        lowering.either(block.is_whole, by_tiles, by_rows)
    else:
        by_rows()
    lowering.define(result, matrix)


def _read_rows(lowering: Vectors, block: MemoryBlock, padding: SSAValue, matrix: Matrix) -> None:
    """Reads what is inside, and makes everything else the padding."""
    buffer = matrix.buffer
    assert buffer is not None
    _fill_outside(lowering, block, padding, matrix)

    def copy(place: Place, width: int) -> None:
        lowering.store(block.load(place, width, matrix.element), buffer, [place.flat])

    block.each(matrix.width, copy)


def _in_memory(
    lowering: Vectors, block: MemoryBlock, shape: tuple[int, int], element: Attribute
) -> Matrix:
    """The matrix that is in a block of memory as a whole, row by row."""
    return Matrix(
        shape,
        element,
        lambda place, width: block.load(place, width, element),
        is_flat=False,
        aligned=frozenset(),
        others=frozenset(),
        width=lowering.width_of(element),
    )


def _fill_outside(lowering: Vectors, block: MemoryBlock, padding: SSAValue, matrix: Matrix) -> None:
    """Makes all components the padding, if some are outside of the memory."""
    assert matrix.buffer is not None
    if block.is_whole is None:
        return
    is_cut = lowering.emit(arith.XOrIOp(block.is_whole, lowering.true())).result
    with lowering.when(is_cut):
        lowering.store_matrix(lowering.splat(padding, matrix.shape), matrix.buffer)


# --- writes ---


def _write(operation: TransferWriteOp, lowering: Vectors) -> None:
    matrix = lowering.matrix(operation.vector)
    block = _access(operation, lowering, operation.vector)
    tile = tile_of(block)
    is_checked = block.columns.is_whole is not None
    if (tile == 1 and not is_checked) or matrix.scalar is not None:
        _write_rows(block, matrix)
        return
    # What the components are computed from would be emitted twice.
    with lowering.temporary(matrix) as stored:

        def by_tiles() -> None:
            write_transposed(lowering, block, stored, tile)

        def by_rows() -> None:
            _write_rows(block, stored)

        if tile > 1:
            lowering.either(block.is_whole, by_tiles, by_rows)
        else:
            by_rows()


def _write_rows(block: MemoryBlock, matrix: Matrix) -> None:
    block.each(matrix.width, lambda place, width: block.store(matrix.piece(place, width), place))


# --- atomic updates ---


def _atomic_update(operation: AtomicUpdateOp, lowering: Vectors) -> None:
    """Updates elements one after the other; those outside were 0."""
    type_ = operation.value.type
    if not isa(type_, VectorType):
        _update_scalar(operation, lowering)
        return
    is_transposed = operation.transpose is not None
    checked = operation.checked.get_values()
    rank = len(operation.indices)
    row, column = (rank - 1, rank - 2) if is_transposed else (rank - 2, rank - 1)
    memory = lowering.value(operation.memory)
    indices = lowering.numbers(operation.indices)
    shape = shape_of(type_)
    inside = (row in checked, column in checked)
    block = MemoryBlock(lowering, memory, indices, shape, is_transposed, inside)
    element = type_.element_type
    kind = str(operation.kind.data)
    old = lowering.new_buffer(operation.result) if operation.result.uses else None
    carried = lowering.component_type(type_)
    if old is not None:
        before = lowering.stored(old, shape, carried)
        _fill_outside(lowering, block, lowering.constant(0, carried), before)
        lowering.define(operation.result, before)
    with lowering.temporary(lowering.matrix(operation.value)) as values:

        def update_one(place: Place, width: int) -> None:
            places = [lowering.as_value(index) for index in block.indices(place)]
            value = values.piece(place, width)
            found = update(lowering, kind, value, memory, places, element)
            if old is not None:
                lowering.store(found, old, [place.flat])

        block.each(1, update_one)


def _update_scalar(operation: AtomicRMWOp | AtomicUpdateOp, lowering: Vectors) -> None:
    """Updates one element, as often as the lanes of the subgroup do."""
    times = repetitions(operation, lowering.subgroup_size) if lowering.plan.matrices else 1
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
    TransferReadOp.name: _read,
    TransferWriteOp.name: _write,
}
