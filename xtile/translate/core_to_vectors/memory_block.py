"""A block of memory whose elements are the components of a tile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index
from xtile.translate.core_to_vectors.kinds import has_unit_stride
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.streaming import (
    ALIGNMENT,
    STREAMED,
    is_streamed,
    size_of_piece,
)
from xtile.translate.core_to_vectors.tile import Position
from xtile.translate.core_to_xegpu.views import view_of


@dataclass(frozen=True)
class Range:
    """The indices of one dimension that are in the memory, from `first` to before `last`.

    Attributes:
        first: The first one.
        last: The one after the last one, or a smaller one than `first`.
        is_whole: Whether all are, or None if they certainly are.
    """

    first: Index
    last: Index
    is_whole: SSAValue | None


class MemoryBlock:
    """A block of memory whose elements are the components of a tile.

    Args:
        lowering: Where to emit.
        memory: The memref.
        indices: Where the block begins.
        shape: The sizes of the tile.
        dimensions: The dimension of the memory that each dimension of the tile lies along; None
            for one along which the same elements are repeated.
        checked: Which dimensions of the tile may reach beyond the memory.

    Attributes:
        shape: The sizes of the tile.
        has_rows: Whether neighbours along the tile's last dimension are neighbours in the memory.
        has_columns: Whether those along another dimension are.
        column: That dimension.
        ranges: What is in the memory along each dimension.
    """

    def __init__(
        self,
        lowering: Vectors,
        memory: SSAValue,
        indices: Sequence[Index],
        shape: Sequence[int],
        dimensions: Sequence[int | None],
        checked: Sequence[bool],
    ) -> None:
        self._lowering = lowering
        self._memory = memory
        self._indices = list(indices)
        self._dimensions = tuple(dimensions)
        self.shape = tuple(shape)
        last = len(indices) - 1
        neighbours = has_unit_stride(memory.type) and last in self._dimensions
        self.column = self._dimensions.index(last) if neighbours else -1
        self.has_rows = neighbours and self.column == len(self.shape) - 1
        self.has_columns = neighbours and not self.has_rows
        self.ranges = [
            self._range(dimension, extent, is_checked)
            for dimension, extent, is_checked in zip(dimensions, shape, checked, strict=True)
        ]

    def _range(self, dimension: int | None, extent: int, is_checked: bool) -> Range:
        if not is_checked or dimension is None:
            return Range(0, extent, None)
        lowering = self._lowering
        start = self._indices[dimension]
        left = lowering.subtract(view_of(lowering, self._memory).sizes[dimension], start)
        if isinstance(start, int) and isinstance(left, int) and start >= 0 and left >= extent:
            return Range(0, extent, None)
        is_whole = lowering.is_at_least(left, extent)
        last = lowering.smaller(left, extent)
        if lowering.facts.is_not_negative(start):
            return Range(0, last, is_whole)
        is_whole = lowering.both(is_whole, lowering.is_at_least(start, 0))
        return Range(lowering.larger(lowering.subtract(0, start), 0), last, is_whole)

    @property
    def is_whole(self) -> SSAValue | None:
        """Whether the whole block is in the memory; None if it certainly is."""
        result: SSAValue | None = None
        for range_ in self.ranges:
            result = self._lowering.both(result, range_.is_whole)
        return result

    def inside(self) -> MemoryBlock:
        """The same block where it is known to be in the memory as a whole."""
        unchecked = [False] * len(self.shape)
        return MemoryBlock(
            self._lowering, self._memory, self._indices, self.shape, self._dimensions, unchecked
        )

    def indices(self, position: Position) -> list[Index]:
        """The indices of the element that is a component."""
        result = list(self._indices)
        for dimension, number in zip(self._dimensions, position.indices, strict=True):
            if dimension is not None:
                result[dimension] = self._lowering.add(result[dimension], number)
        return result

    def load(self, position: Position, width: int, element: Attribute) -> SSAValue:
        """Loads components that are neighbours in the memory."""
        return self._lowering.load(self._memory, self.indices(position), width, element)

    def load_checked(
        self, position: Position, width: int, element: Attribute, padding: SSAValue
    ) -> SSAValue:
        """Loads what of some neighbours is in the memory; the padding stands for what is not."""
        lowering, last = self._lowering, self.ranges[-1]
        column = position.column
        row: SSAValue | None = None
        for index, range_ in zip(position.indices[:-1], self.ranges[:-1], strict=True):
            row = lowering.both(row, self._is_inside(index, 1, range_))

        def cut() -> SSAValue:
            if width == 1:
                return padding
            buffer = lowering.allocate(element, width)
            lowering.store(lowering.broadcast(padding, width), buffer, [0])
            first = lowering.larger(lowering.subtract(last.first, column), 0)
            end = lowering.smaller(lowering.subtract(last.last, column), width)
            with lowering.when(row), lowering.loop(first, end, name="column") as i:
                one = self.load(lowering.moved(position, i), 1, element)
                lowering.store(one, buffer, [i])
            lowering.free(buffer)
            return lowering.load(buffer, [0], width, element)

        is_inside = lowering.both(row, self._is_inside(column, width, last))
        if is_inside is None:
            return self.load(position, width, element)
        return lowering.choose(is_inside, lambda: self.load(position, width, element), cut)

    def _is_inside(self, index: Index, width: int, range_: Range) -> SSAValue | None:
        """Whether some neighbours along a dimension are in the memory; None if they are."""
        lowering = self._lowering
        if range_.is_whole is None:
            return None
        inside = lowering.is_at_least(range_.last, lowering.add(index, width))
        if range_.first == 0:
            return inside
        return lowering.both(inside, lowering.is_at_least(index, range_.first))

    def store(self, value: SSAValue, position: Position, is_streamed: bool = False) -> None:
        """Stores components as neighbours in the memory, past the caches if that is asked for."""
        hint = STREAMED if is_streamed and size_of_piece(value) % ALIGNMENT == 0 else None
        self._lowering.store(value, self._memory, self.indices(position), hint)

    def is_streamed(self) -> SSAValue | None:
        """Whether rows should be stored past the caches; None if they should not."""
        if not self.has_rows or self._lowering.plan.tells_others:
            return None
        return is_streamed(self._lowering, self._memory, self._indices)

    def each(self, width: int, emit: Callable[[Position, int], None]) -> None:
        """Goes through the components in the memory, as many of a row at once as can be.

        Args:
            width: The most components at once.
            emit: Emits the access to so many neighbouring components.
        """
        lowering, columns, range_ = self._lowering, self.shape[-1], self.ranges[-1]
        with self._rows() as row:

            def access(column: Index, length: int) -> None:
                emit(lowering.position(self.shape, (*row, column)), length)

            def as_vectors() -> None:
                lowering.cover(columns, width, access)

            def one_by_one() -> None:
                with lowering.loop(range_.first, range_.last, name="column") as column:
                    access(column, 1)

            if self.has_rows and width > 1:
                lowering.either(range_.is_whole, as_vectors, one_by_one)
            else:
                one_by_one()

    @contextmanager
    def _rows(self) -> Generator[tuple[Index, ...]]:
        """Goes through the rows that are in the memory."""
        with ExitStack() as loops:
            yield tuple(
                loops.enter_context(self._lowering.loop(range_.first, range_.last, name="row"))
                for range_ in self.ranges[:-1]
            )
