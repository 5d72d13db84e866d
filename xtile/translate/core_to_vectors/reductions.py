"""Reductions of the rows or the columns of a matrix."""

from __future__ import annotations

from functools import reduce
from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import BFloat16Type, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.vector import MultiDimReductionOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.emitting import rests
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Matrix, Place
from xtile.translate.core_to_xegpu.bfloat16 import element_of, narrow, widen
from xtile.translate.core_to_xegpu.pieces import length_of, slice_of
from xtile.translate.core_to_xegpu.subgroup import combiner

_SIDE_BY_SIDE = 4
"""Vectors of a row that others are combined with side by side, so that none waits for the last."""


def _multi_reduction(operation: MultiDimReductionOp, lowering: Vectors) -> None:
    source, accumulator = operation.operands
    result = operation.results[0]
    (dimension,) = cast("tuple[int]", operation.reduction_dims.get_values())
    reduction = _Reduction(lowering, operation, lowering.matrix(accumulator))
    buffer = lowering.new_buffer(result)
    if dimension == 0:
        reduction.combine_rows(lowering.matrix(source), buffer)
    else:
        reduction.combine_columns(lowering.matrix(source), buffer)
    element = lowering.component_type(result.type)
    count = cast("VectorType[Attribute]", result.type).get_shape()[0]
    lowering.define(result, lowering.stored(buffer, (count, 1), element))


class _Reduction:
    """How a reduction combines components; those of bf16 in f32.

    Args:
        lowering: Where to emit.
        operation: The reduction.
        start: What the results are combined with.
    """

    def __init__(self, lowering: Vectors, operation: MultiDimReductionOp, start: Matrix) -> None:
        self._lowering = lowering
        self._start = start
        type_ = cast("VectorType[Attribute]", operation.operands[0].type)
        self._is_bfloat16 = isinstance(type_.element_type, BFloat16Type)
        self._kind = str(operation.kind.data)

    def combine_rows(self, matrix: Matrix, buffer: SSAValue) -> None:
        """Combines the components of each column, for as many columns at once as there can be."""
        rows, columns = matrix.shape
        lowering = self._lowering

        def combine(column: Index, width: int) -> None:
            first = self._wide(self._start.piece(Place(column, column, 0), width))
            with lowering.carrying_loop(0, rows, [first], name="row") as (row, carried, next_):
                flat = lowering.add(lowering.multiply(row, columns), column)
                piece = self._wide(matrix.piece(Place(flat, row, column), width))
                next_.append(self._combine(carried[0], piece))
            lowering.store(self._rounded(next_[0]), buffer, [column])

        lowering.cover(columns, matrix.width, combine)

    def combine_columns(self, matrix: Matrix, buffer: SSAValue) -> None:
        """Combines the components of each row: vectors, and then the parts of the last one."""
        rows, columns = matrix.shape
        lowering = self._lowering
        with lowering.loop(0, rows, name="row") as row:
            total = self._wide(self._start.piece(Place(row, row, 0), 1))
            for part in self._parts_of_row(matrix, row, columns):
                total = self._combine(total, self._folded(part))
            lowering.store(self._rounded(total), buffer, [row])

    def _parts_of_row(self, matrix: Matrix, row: Index, columns: int) -> list[SSAValue]:
        """A vector that all whole vectors of a row are combined to, and what is left of it."""
        lowering, width = self._lowering, matrix.width
        start = lowering.multiply(row, columns)

        def piece(column: Index, length: int) -> SSAValue:
            place = Place(lowering.add(start, column), row, column)
            return self._wide(matrix.piece(place, length))

        def vectors(column: Index, count: int) -> list[SSAValue]:
            return [piece(lowering.add(column, i * width), width) for i in range(count)]

        whole = columns - columns % width
        count = min(_SIDE_BY_SIDE, whole // width)
        step = count * width
        even = whole - whole % step if step else 0
        parts = vectors(0, count)
        if even > step:
            with lowering.carrying_loop(step, even, parts, step, "column") as loop:
                column, carried, next_ = loop
                pairs = zip(carried, vectors(column, count), strict=True)
                next_ += [self._combine(before, part) for before, part in pairs]
            parts = next_
        parts = [*parts, *vectors(even, (whole - even) // width)]
        total = [reduce(self._combine, parts)] if parts else []
        return total + [piece(column, length) for column, length in rests(whole, columns, width)]

    def _folded(self, value: SSAValue) -> SSAValue:
        """The elements of a vector combined, half with half."""
        if not isa(value.type, VectorType):
            return value
        while (half := length_of(value) // 2) > 1:
            low = slice_of(self._lowering, value, 0, half)
            value = self._combine(low, slice_of(self._lowering, value, half, half))
        element = element_of(value)
        first, second = (
            self._lowering.emit(vector.ExtractOp(value, [i], element)).result for i in range(2)
        )
        return self._combine(first, second)

    def _combine(self, a: SSAValue, b: SSAValue) -> SSAValue:
        return combiner(self._lowering, self._kind, element_of(a))(a, b)

    def _wide(self, value: SSAValue) -> SSAValue:
        return widen(self._lowering, value) if self._is_bfloat16 else value

    def _rounded(self, value: SSAValue) -> SSAValue:
        return narrow(self._lowering, value) if self._is_bfloat16 else value


RULES: dict[str, Rule] = {MultiDimReductionOp.name: _multi_reduction}
