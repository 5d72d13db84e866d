"""Scans along a dimension of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.reductions import ScanOp
from xtile.dialects.vector.reductions import ScanOp as VectorScanOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.reductions import (
    Combination,
    Components,
    combination_of_body,
    combination_of_kind,
)
from xtile.translate.core_to_vectors.tile import Tile


def _scan(operation: ScanOp, lowering: Vectors) -> None:
    tiles = [lowering.tile(source) for source in operation.sources]
    how = combination_of_body(lowering, operation)
    axis, is_reversed = operation.axis.value.data, operation.reverse is not None
    scan = _Scan(lowering, tiles, how, axis, is_reversed)
    buffers = [lowering.new_buffer(total) for total in operation.totals]
    scan.store_in(buffers)
    for total, buffer in zip(operation.totals, buffers, strict=True):
        lowering.define_stored(total, buffer)


def _vector_scan(operation: VectorScanOp, lowering: Vectors) -> None:
    """Upstream's, which starts with an initial value and tells what the last step comes to."""
    tile, initial = lowering.tile(operation.source), lowering.tile(operation.initial_value)
    element = cast("VectorType[Attribute]", operation.source.type).element_type
    how = combination_of_kind(lowering, str(operation.kind.data), element)
    axis = operation.reduction_dim.value.data
    is_inclusive = bool(operation.inclusive)
    scan = _Scan(lowering, [tile], how, axis, False, initial, is_inclusive)
    buffer = lowering.new_buffer(operation.dest)
    last = lowering.new_buffer(operation.accumulated_value)
    scan.store_in([buffer], last)
    lowering.define_stored(operation.dest, buffer)
    lowering.define_stored(operation.accumulated_value, last)


class _Scan:
    """Combines components along a dimension with all before them.

    Args:
        lowering: Where to emit.
        tiles: The tiles, of one shape.
        how: How components are combined.
        axis: The dimension.
        is_reversed: Whether it goes from the last component to the first.
        initial: What stands before the first component; None: nothing does.
        is_inclusive: Whether a component takes part in what it becomes.
    """

    def __init__(
        self,
        lowering: Vectors,
        tiles: Sequence[Tile],
        how: Combination,
        axis: int,
        is_reversed: bool,
        initial: Tile | None = None,
        is_inclusive: bool = True,
    ) -> None:
        self._lowering = lowering
        self._tiles = tiles
        self._how = how
        self._axis = axis
        self._is_reversed = is_reversed
        self._initial = initial
        self._is_inclusive = is_inclusive
        self._shape = tiles[0].shape
        self._outer = (*self._shape[:axis], *self._shape[axis + 1 :])

    def store_in(self, buffers: Sequence[SSAValue], last: SSAValue | None = None) -> None:
        """Stores what the components become, and what the last step comes to."""
        lowering, axis = self._lowering, self._axis
        is_last = axis == len(self._shape) - 1
        outer = self._outer if not is_last else (*self._outer, 1)
        can_be_vectors = self._how.takes_vectors and not is_last
        most = min(tile.width for tile in self._tiles) if can_be_vectors else 1
        with lowering.rows(outer) as row:

            def scan(column: Index, width: int) -> None:
                self._scan_line(row if is_last else (*row, column), width, buffers, last)

            lowering.cover(outer[-1], most, scan)

    def _scan_line(
        self,
        outer: tuple[Index, ...],
        width: int,
        buffers: Sequence[SSAValue],
        last: SSAValue | None,
    ) -> None:
        lowering, how = self._lowering, self._how
        if self._initial is None:
            before = self._components(outer, 0, width)
            self._store(outer, 0, before, buffers)
            start = 1
        else:
            position = lowering.position(self._outer, outer)
            before = how.widen([self._initial.piece(position, width)])
            start = 0
        size = self._shape[self._axis]
        with lowering.carrying_loop(start, size, before, name="step") as (step, carried, next_):
            total = how.combine(list(carried), self._components(outer, step, width))
            made = total if self._is_inclusive else list(carried)
            self._store(outer, step, made, buffers)
            next_ += total
        if last is not None:
            position = lowering.position(self._outer, outer)
            lowering.store(how.narrow(list(next_))[0], last, [position.flat])

    def _indices(self, outer: tuple[Index, ...], step: Index) -> tuple[Index, ...]:
        along = step
        if self._is_reversed:
            along = self._lowering.subtract(self._shape[self._axis] - 1, step)
        return (*outer[: self._axis], along, *outer[self._axis :])

    def _components(self, outer: tuple[Index, ...], step: Index, width: int) -> Components:
        position = self._lowering.position(self._shape, self._indices(outer, step))
        return self._how.widen([tile.piece(position, width) for tile in self._tiles])

    def _store(
        self,
        outer: tuple[Index, ...],
        step: Index,
        values: Components,
        buffers: Sequence[SSAValue],
    ) -> None:
        position = self._lowering.position(self._shape, self._indices(outer, step))
        for buffer, value in zip(buffers, self._how.narrow(values), strict=True):
            self._lowering.store(value, buffer, [position.flat])


RULES: dict[str, Rule] = {ScanOp.name: _scan, VectorScanOp.name: _vector_scan}
