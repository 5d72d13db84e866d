"""A block of memory whose elements are the components of a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index
from xtile.translate.core_to_vectors.kinds import has_unit_stride
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.matrix import Place
from xtile.translate.core_to_xegpu.views import view_of


@dataclass(frozen=True)
class Range:
    """The rows or columns of a matrix that are in the memory, from `first` to before `last`.

    Attributes:
        first: The first one.
        last: The one after the last one, or a smaller one than `first`.
        is_whole: Whether all are, or None if they certainly are.
    """

    first: Index
    last: Index
    is_whole: SSAValue | None


class MemoryBlock:
    """A block of memory whose elements are the components of a matrix.

    Args:
        lowering: Where to emit.
        memory: The memref.
        indices: Where the block begins; the last two are the matrix's.
        shape: The rows and columns of the matrix.
        is_transposed: Whether the matrix's rows are the memory's columns.
        checked: Whether rows, and columns, of the matrix may be outside of the memory.

    Attributes:
        shape: The rows and columns of the matrix.
        has_rows: Whether the components of a row are neighbours in the memory.
        has_columns: Whether those of a column are.
        rows: Which rows are in the memory.
        columns: Which columns are.
    """

    def __init__(
        self,
        lowering: Vectors,
        memory: SSAValue,
        indices: Sequence[Index],
        shape: tuple[int, int],
        is_transposed: bool,
        checked: tuple[bool, bool],
    ) -> None:
        self._lowering = lowering
        self._memory = memory
        self._indices = list(indices)
        rank = len(indices)
        self._dimensions = (rank - 1, rank - 2) if is_transposed else (rank - 2, rank - 1)
        self.shape = shape
        has_neighbours = has_unit_stride(memory.type)
        self.has_rows = has_neighbours and not is_transposed
        self.has_columns = has_neighbours and is_transposed
        self.rows, self.columns = (
            self._range(dimension, extent, is_checked)
            for dimension, extent, is_checked in zip(self._dimensions, shape, checked, strict=True)
        )

    def _range(self, dimension: int, extent: int, is_checked: bool) -> Range:
        if not is_checked:
            return Range(0, extent, None)
        lowering = self._lowering
        start = self._indices[dimension]
        left = lowering.subtract(view_of(lowering, self._memory).sizes[dimension], start)
        is_whole = lowering.is_at_least(left, extent)
        last = lowering.smaller(left, extent)
        if lowering.facts.is_not_negative(start):
            return Range(0, last, is_whole)
        is_whole = lowering.both(is_whole, lowering.is_at_least(start, 0))
        return Range(lowering.larger(lowering.subtract(0, start), 0), last, is_whole)

    @property
    def is_whole(self) -> SSAValue | None:
        """Whether the whole block is in the memory; None if it certainly is."""
        return self._lowering.both(self.rows.is_whole, self.columns.is_whole)

    def indices(self, place: Place) -> list[Index]:
        """The indices of the element that is a component."""
        result = list(self._indices)
        for dimension, number in zip(self._dimensions, (place.row, place.column), strict=True):
            result[dimension] = self._lowering.add(result[dimension], number)
        return result

    def load(self, place: Place, width: int, element: Attribute) -> SSAValue:
        """Loads components that are neighbours in the memory."""
        return self._lowering.load(self._memory, self.indices(place), width, element)

    def store(self, value: SSAValue, place: Place) -> None:
        """Stores components as neighbours in the memory."""
        self._lowering.store(value, self._memory, self.indices(place))

    def each(self, width: int, emit: Callable[[Place, int], None]) -> None:
        """Goes through the components in the memory, as many of a row at once as can be.

        Args:
            width: The most components at once.
            emit: Emits the access to so many neighbouring components.
        """
        lowering, columns = self._lowering, self.shape[1]
        with lowering.loop(self.rows.first, self.rows.last, name="row") as row:
            start = lowering.multiply(row, columns)

            def access(column: Index, length: int) -> None:
                emit(Place(lowering.add(start, column), row, column), length)

            def as_vectors() -> None:
                lowering.cover(columns, width, access)

            def one_by_one() -> None:
                with lowering.loop(self.columns.first, self.columns.last, name="column") as column:
                    access(column, 1)

            if self.has_rows and width > 1:
                lowering.either(self.columns.is_whole, as_vectors, one_by_one)
            else:
                one_by_one()
