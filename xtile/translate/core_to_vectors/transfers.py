"""Matrices in memory: reads, writes, and atomic updates.

Where a matrix may reach beyond the memory, only those rows and columns are accessed that are
inside, in loops whose bounds are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, MemRefType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core import AtomicUpdateOp, PrefetchOp
from xtile.dialects.memref.access import AtomicRMWOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.translate.core_to_vectors import kinds
from xtile.translate.core_to_vectors.lanes import repetitions
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place, shape_of
from xtile.translate.core_to_xegpu import atomics, memory
from xtile.translate.core_to_xegpu.lowering import Number
from xtile.translate.core_to_xegpu.memory import update
from xtile.translate.core_to_xegpu.views import view_of
from xtile.translate.rule import Rule


@dataclass(frozen=True)
class _Range:
    """The rows or columns of a matrix that are in the memory, from `first` to before `last`.

    Attributes:
        first: The first one.
        last: The one after the last one, or a smaller one than `first`.
        is_whole: Whether all are, or None if they certainly are.
    """

    first: Number
    last: Number
    is_whole: SSAValue | None


class _Access:
    """A block of memory whose elements are the components of a matrix.

    Args:
        lowering: Where to emit.
        memory: The memref.
        indices: Where the block begins; the last two are the matrix's.
        shape: The rows and columns of the matrix.
        is_transposed: Whether the matrix's rows are the memory's columns.
        checked: Whether rows, and columns, of the matrix may be outside of the memory.
    """

    def __init__(
        self,
        lowering: Vectors,
        memory: SSAValue,
        indices: Sequence[Number],
        shape: tuple[int, int],
        is_transposed: bool,
        checked: tuple[bool, bool],
    ) -> None:
        self._lowering = lowering
        self._memory = memory
        self._indices = list(indices)
        rank = len(indices)
        self._dimensions = (rank - 1, rank - 2) if is_transposed else (rank - 2, rank - 1)
        self._shape = shape
        self.has_vectors = not is_transposed and kinds.has_unit_stride(memory.type)
        self.rows, self.columns = (
            self._range(dimension, extent, is_checked)
            for dimension, extent, is_checked in zip(self._dimensions, shape, checked, strict=True)
        )

    def _range(self, dimension: int, extent: int, is_checked: bool) -> _Range:
        if not is_checked:
            return _Range(0, extent, None)
        lowering = self._lowering
        start = self._indices[dimension]
        left = lowering.subtract(view_of(lowering, self._memory).sizes[dimension], start)
        is_whole = lowering.is_at_least(left, extent)
        last = lowering.smaller(left, extent)
        if lowering.facts.is_not_negative(start):
            return _Range(0, last, is_whole)
        is_whole = lowering.both(is_whole, lowering.is_at_least(start, 0))
        return _Range(lowering.larger(lowering.subtract(0, start), 0), last, is_whole)

    @property
    def is_whole(self) -> SSAValue | None:
        """Whether the whole block is in the memory; None if it certainly is."""
        return self._lowering.both(self.rows.is_whole, self.columns.is_whole)

    def indices(self, place: Place) -> list[Number]:
        """The indices of the element that is a component."""
        result = list(self._indices)
        for dimension, number in zip(self._dimensions, (place.row, place.column), strict=True):
            result[dimension] = self._lowering.add(result[dimension], number)
        return result

    def load(self, place: Place, width: int, element: Attribute) -> SSAValue:
        """Loads neighbouring components of a row."""
        return self._lowering.load(self._memory, self.indices(place), width, element)

    def store(self, value: SSAValue, place: Place) -> None:
        """Stores neighbouring components of a row."""
        self._lowering.store(value, self._memory, self.indices(place))

    def each(self, width: int, emit: Callable[[Place, int], None]) -> None:
        """Goes through the components in the memory, as many of a row at once as can be.

        Args:
            width: The most components at once.
            emit: Emits the access to so many neighbouring components.
        """
        lowering, columns = self._lowering, self._shape[1]
        with lowering.loop(self.rows.first, self.rows.last, name="row") as row:
            start = lowering.multiply(row, columns)

            def access(column: Number, length: int) -> None:
                emit(Place(lowering.add(start, column), row, column), length)

            def as_vectors() -> None:
                lowering.cover(columns, width, access)

            def one_by_one() -> None:
                with lowering.loop(self.columns.first, self.columns.last, name="column") as column:
                    access(column, 1)

            if self.has_vectors and width > 1:
                lowering.either(self.columns.is_whole, as_vectors, one_by_one)
            else:
                one_by_one()


def _access(operation: Operation, lowering: Vectors, matrix: SSAValue) -> _Access:
    """The block of memory that a transfer accesses."""
    memory = kinds.memory_of(operation)
    rank = cast("MemRefType[Attribute]", memory.type).get_num_dims()
    first = list(operation.operands).index(memory) + 1
    in_bounds = cast("ArrayAttr[BoolAttr]", operation.properties["in_bounds"])
    rows, columns = (not bool(flag) for flag in in_bounds)
    return _Access(
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
    buffer = lowering.new_buffer(result)
    matrix = lowering.stored(buffer, shape, element)
    _fill_outside(lowering, block, lowering.value(operation.padding), matrix)
    block.each(
        matrix.width,
        lambda place, width: lowering.store(
            block.load(place, width, element), buffer, [place.flat]
        ),
    )
    lowering.define(result, matrix)


def _in_memory(
    lowering: Vectors, block: _Access, shape: tuple[int, int], element: Attribute
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


def _fill_outside(lowering: Vectors, block: _Access, padding: SSAValue, matrix: Matrix) -> None:
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
    is_checked = block.columns.is_whole is not None
    if is_checked and matrix.buffer is None and matrix.scalar is None:
        # What the components are computed from would be emitted twice.
        with lowering.temporary(matrix) as stored:
            _write_pieces(block, stored)
    else:
        _write_pieces(block, matrix)


def _write_pieces(block: _Access, matrix: Matrix) -> None:
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
    block = _Access(lowering, memory, indices, shape, is_transposed, inside)
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
