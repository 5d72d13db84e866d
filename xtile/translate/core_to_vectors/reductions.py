"""Reductions along dimensions of tiles."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.reductions import AggregateOperation, ReduceOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.bodies import combined
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.emitting import rests
from xtile.translate.core_to_vectors.kinds import is_long, is_plain_body, is_view
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.shapes import permuted
from xtile.translate.core_to_vectors.tile import Position, Tile
from xtile.translate.core_to_xegpu.bfloat16 import element_of
from xtile.translate.core_to_xegpu.pieces import length_of, slice_of
from xtile.translate.core_to_xegpu.subgroup import combiner
from xtile.translate.core_to_xegpu.widening import rounded, widened

_SIDE_BY_SIDE = 4
"""Vectors of a row that others are combined with side by side, so that none waits for the last."""

Components = list[SSAValue]
"""A component of each tile that is reduced, or a vector of each."""


@dataclass(frozen=True)
class Combination:
    """How components are combined.

    Attributes:
        combine: Emits the combination of earlier and later components.
        widen: Makes components what is combined.
        narrow: Makes components of what is combined.
        takes_vectors: Whether it takes vectors as well as numbers.
    """

    combine: Callable[[Components, Components], Components]
    widen: Callable[[Components], Components] = list
    narrow: Callable[[Components], Components] = list
    takes_vectors: bool = True


def combination_of_kind(lowering: Vectors, kind: str, type_: Attribute) -> Combination:
    """That of one of `vector`'s kinds, in f32 for narrower floats."""

    def combine(first: Components, second: Components) -> Components:
        (a,), (b,) = first, second
        return [combiner(lowering, kind, element_of(a))(a, b)]

    return Combination(
        combine,
        lambda values: [widened(lowering, value, type_) for value in values],
        lambda values: [rounded(lowering, value, type_) for value in values],
    )


def _width(value: SSAValue) -> int:
    return length_of(value) if isinstance(value.type, VectorType) else 1


def combination_of_body(lowering: Vectors, operation: AggregateOperation) -> Combination:
    """That of a region."""
    body = operation.body.block
    return Combination(
        lambda first, second: combined(lowering, body, first, second),
        takes_vectors=is_plain_body(body),
    )


class Reduction:
    """Combines tiles along one dimension.

    Args:
        lowering: Where to emit.
        tiles: The tiles, of one shape.
        combination: How components are combined.
        takes_long: Whether computing a vector of them takes longer than combining it.
    """

    def __init__(
        self,
        lowering: Vectors,
        tiles: Sequence[Tile],
        combination: Combination,
        *,
        takes_long: bool,
    ) -> None:
        self._lowering = lowering
        self._takes_long = takes_long
        self.tiles = tiles
        self._how = combination
        self._shape = tiles[0].shape
        width = min(tile.width for tile in tiles)
        self._width_of_pieces = width if combination.takes_vectors else 1

    def along(self, axis: int, store: Callable[[Position, Components], None]) -> None:
        """Combines along a dimension; `store` gets what neighbours of the result come to."""
        if axis == len(self._shape) - 1:
            self._combine_rows(store)
        else:
            self._combine_across(axis, store)

    def _pieces(self, indices: Sequence[Index], width: int) -> Components:
        position = self._lowering.position(self._shape, indices)
        return self._how.widen([tile.piece(position, width) for tile in self.tiles])

    def _combine_across(self, axis: int, store: Callable[[Position, Components], None]) -> None:
        """Combines rows with each other, for as many components at once as there can be."""
        lowering = self._lowering
        shape = (*self._shape[:axis], *self._shape[axis + 1 :])

        with lowering.rows(shape) as row:
            before, after = row[:axis], row[axis:]

            def combine(column: Index, width: int) -> None:
                first = self._pieces((*before, 0, *after, column), width)
                loop = lowering.carrying_loop(1, self._shape[axis], first, name="row")
                with loop as (i, carried, results):
                    piece = self._pieces((*before, i, *after, column), width)
                    results += self._how.combine(list(carried), piece)
                total = results if self._shape[axis] > 1 else first
                position = lowering.position(shape, (*row, column))
                store(position, list(total))

            lowering.cover(shape[-1], self._width_of_pieces, combine)

    def _combine_rows(self, store: Callable[[Position, Components], None]) -> None:
        """Combines the components of each row: vectors, and then the parts of the last one."""
        lowering, outer = self._lowering, self._shape[:-1]
        with lowering.rows(self._shape) as row:
            parts = [self._folded(part) for part in self._parts_of_row(row)]
            total = reduce(self._how.combine, parts)
            store(lowering.position(outer, row), total)

    def _parts_of_row(self, row: tuple[Index, ...]) -> list[Components]:
        """A vector that all whole vectors of a row are combined to, and what is left of it."""
        lowering, width = self._lowering, self._width_of_pieces
        columns = self._shape[-1]

        def vectors(column: Index, count: int) -> list[Components]:
            starts = [lowering.add(column, i * width) for i in range(count)]
            return [self._pieces((*row, start), width) for start in starts]

        whole = columns - columns % width
        # One after the other is less code, and waits for nothing where its vectors take long.
        are_checked = any(not lowering.assumed.issuperset(tile.guards) for tile in self.tiles)
        side_by_side = 1 if are_checked or self._takes_long else _SIDE_BY_SIDE
        count = min(side_by_side, whole // width)
        step = count * width
        even = whole - whole % step if step else 0
        parts = vectors(0, count)
        if even > step:
            flat = [value for part in parts for value in part]
            with lowering.carrying_loop(step, even, flat, step, "column") as loop:
                column, carried, next_ = loop
                pairs = zip(self._grouped(carried), vectors(column, count), strict=True)
                next_ += [x for a, b in pairs for x in self._how.combine(a, b)]
            parts = self._grouped(next_)
        parts = [*parts, *vectors(even, (whole - even) // width)]
        total = [reduce(self._how.combine, parts)] if parts else []
        rest = [
            self._pieces((*row, start), length) for start, length in rests(whole, columns, width)
        ]
        return total + rest

    def _grouped(self, values: Sequence[SSAValue]) -> list[Components]:
        """Values one after the other, as many as there are tiles together."""
        count = len(self.tiles)
        return [list(values[i : i + count]) for i in range(0, len(values), count)]

    def _folded(self, values: Components) -> Components:
        """The elements of vectors combined, half with half."""
        lowering = self._lowering
        while isa(values[0].type, VectorType) and (half := length_of(values[0]) // 2) > 1:
            low = [slice_of(lowering, value, 0, half) for value in values]
            high = [slice_of(lowering, value, half, half) for value in values]
            values = self._how.combine(low, high)
        if not isa(values[0].type, VectorType):
            return values
        ends = [[self._element(value, i) for value in values] for i in range(2)]
        return self._how.combine(*ends)

    def _element(self, value: SSAValue, i: int) -> SSAValue:
        extracted = vector.ExtractOp(value, [i], cast(Any, element_of(value)))
        return self._lowering.emit(extracted).result


def _multi_reduction(operation: MultiDimReductionOp, lowering: Vectors) -> None:
    """Several dimensions become the last one, which is combined."""
    tile = _source(lowering, operation, operation.source)
    (*dimensions,) = operation.reduction_dims.get_values()
    axis = dimensions[0] if len(dimensions) == 1 else len(tile.shape) - len(dimensions)
    if len(dimensions) != 1:
        kept = [i for i in range(len(tile.shape)) if i not in dimensions]
        shape = [tile.shape[i] for i in kept]
        tile = permuted(lowering, tile, [*kept, *sorted(dimensions)])
        tile = lowering.reshaped(tile, (*shape, tile.count // math.prod(shape)))
    element = cast("VectorType[Attribute]", operation.source.type).element_type
    how = combination_of_kind(lowering, str(operation.kind.data), element)
    source = operation.source, tile
    _reduce_to(operation.dest, [operation.acc], source, axis, how, lowering)


def _reduction(operation: vector.ReductionOp, lowering: Vectors) -> None:
    """A tile of one dimension, combined to a number."""
    if not lowering.is_tile(operation.vector):
        copy_or_compute(operation, lowering)
        return
    element = cast("VectorType[Attribute]", operation.vector.type).element_type
    how = combination_of_kind(lowering, str(operation.kind.data), element)
    start = [] if operation.acc is None else [operation.acc]
    tile = _source(lowering, operation, operation.vector)
    _reduce_to(operation.dest, start, (operation.vector, tile), 0, how, lowering)


def _source(lowering: Vectors, operation: Operation, old: SSAValue) -> Tile:
    """The tile that is reduced; what the reduction is to store goes to private memory, too."""
    tile = lowering.tile(old)
    is_stored = tile.buffer is not None or tile.scalar is not None
    if is_stored or lowering.plan.stored_by.get(cast("Operation", old.owner)) is not operation:
        return tile
    buffer = lowering.allocate(tile.element, tile.count)

    def piece(position: Position, width: int) -> SSAValue:
        value = tile.piece(position, width)
        lowering.store(value, buffer, [position.flat])
        return value

    lowering.define_stored(old, buffer)
    return replace(tile, piece=piece)


def _takes_long(lowering: Vectors, old: SSAValue) -> bool:
    """Whether functions are computed for each part of a tile where it is used."""
    owner, plan = old.owner, lowering.plan
    if not isinstance(owner, Operation):
        return False
    is_late = owner in plan.deferred or owner in plan.stored_by or is_view(owner)
    operands = owner.operands if is_late else ()
    return is_late and (is_long(owner) or any(_takes_long(lowering, each) for each in operands))


def _reduce_to(
    result: SSAValue,
    start: Sequence[SSAValue],
    source: tuple[SSAValue, Tile],
    axis: int,
    how: Combination,
    lowering: Vectors,
) -> None:
    """Combines a tile along a dimension, and with what a reduction starts with."""
    old, tile = source

    def total_of(position: Position, values: Components) -> SSAValue:
        if not start:
            return values[0]
        width = _width(values[0])
        first = (
            lowering.tile(start[0]).piece(position, width)
            if isinstance(start[0].type, VectorType)
            else lowering.value(start[0])
        )
        return how.combine(how.widen([first]), values)[0]

    _define(
        lowering,
        [result],
        Reduction(lowering, [tile], how, takes_long=_takes_long(lowering, old)),
        axis,
        lambda at, values: how.narrow([total_of(at, values)]),
    )


def _define(
    lowering: Vectors,
    results: Sequence[SSAValue],
    reduction: Reduction,
    axis: int,
    finish: Callable[[Position, Components], Components],
) -> None:
    """Defines the results of a reduction: tiles in private memory, or numbers."""
    tiles = reduction.tiles
    first = tiles[0]
    if not isinstance(results[0].type, VectorType) and not first.guards:

        def define(position: Position, values: Components) -> None:
            for result, value in zip(results, finish(position, values), strict=True):
                lowering.define(result, value)

        reduction.along(axis, define)
        return
    elements = [lowering.component_type(result.type) for result in results]
    buffers = [_buffer_of(lowering, result) for result in results]

    def store(position: Position, values: Components) -> None:
        for buffer, value in zip(buffers, finish(position, values), strict=True):
            lowering.store(value, buffer, [position.flat])

    if len(tiles) == 1:
        lowering.guarded(first, lambda: reduction.along(axis, store))
    else:
        reduction.along(axis, store)
    for result, buffer, element in zip(results, buffers, elements, strict=True):
        if isinstance(result.type, VectorType):
            lowering.define_stored(result, buffer)
        else:
            lowering.define(result, lowering.load(buffer, [0], 1, element))
            lowering.free(buffer)


def _buffer_of(lowering: Vectors, result: SSAValue) -> SSAValue:
    """Memory for the result of a reduction, which may be a number."""
    if isinstance(result.type, VectorType):
        return lowering.new_buffer(result)
    return lowering.allocate(lowering.component_type(result.type), 1)


def _reduce(operation: ReduceOp, lowering: Vectors) -> None:
    tiles = [_source(lowering, operation, source) for source in operation.sources]
    how = combination_of_body(lowering, operation)
    axis = operation.axis.value.data
    takes_long = any(_takes_long(lowering, source) for source in operation.sources)
    reduction = Reduction(lowering, tiles, how, takes_long=takes_long)
    _define(lowering, operation.totals, reduction, axis, lambda at, values: how.narrow(values))


RULES: dict[str, Rule] = {
    MultiDimReductionOp.name: _multi_reduction,
    ReduceOp.name: _reduce,
    vector.ReductionOp.name: _reduction,
}
