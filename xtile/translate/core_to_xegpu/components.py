"""Components of matrices, fetched from the lanes that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.scattered import entries, holder
from xtile.translate.core_to_xegpu.subgroup import shuffle
from xtile.translate.core_to_xegpu.widening import widened


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a vector."""
    return tuple(cast("VectorType[Attribute]", value.type).get_shape())


class Components:
    """The components of a vector that a subgroup holds.

    Args:
        lowering: Where to emit.
        old: The vector in the source.
        target: The type that they are converted to; None if they stay what they are.
    """

    def __init__(self, lowering: Lowering, old: SSAValue, target: Attribute | None = None) -> None:
        self._lowering = lowering
        fragment = lowering.fragment(old)
        self._layout = fragment.layout
        self._rank = len(shape_of(old))
        self._scalars = {
            (w, i): value if target is None else widened(lowering, value, old.type, target)
            for w, i, value in entries(lowering, fragment)
        }
        self._fetched: dict[tuple[Index, ...], SSAValue] = {}

    def at(self, indices: Sequence[Index]) -> SSAValue:
        """The component at some indices, which may differ between lanes."""
        key = tuple(indices)
        if key not in self._fetched:
            self._fetched[key] = self._fetch(*self._location(key))
        return self._fetched[key]

    def _location(self, indices: Sequence[Index]) -> tuple[Index, Index]:
        """The row and the column of a component."""
        if self._rank == 1:
            return indices[0], 0
        row, column = indices
        return row, column

    def _fetch(self, row: Index, column: Index) -> SSAValue:
        lowering, source = self._lowering, self._layout
        lane = holder(lowering, source, row, column)
        entry = lowering.divide(row, source.row_step)
        block = lowering.divide(column, source.width)
        result: SSAValue | None = None
        for (w, i), value in self._candidates(block, entry).items():
            fetched = shuffle(lowering, value, lane)
            if result is None:
                result = fetched
                continue
            here = None if isinstance(block, int) else lowering.is_equal(block, w)
            if not isinstance(entry, int):
                here = lowering.both(here, lowering.is_equal(entry, i))
            result = fetched if here is None else lowering.select(here, fetched, result)
        assert result is not None
        return result

    def _candidates(self, block: Index, entry: Index) -> dict[tuple[int, int], SSAValue]:
        """The entries of a lane that may be the component."""
        return {
            (w, i): value
            for (w, i), value in self._scalars.items()
            if (not isinstance(block, int) or w == block)
            and (not isinstance(entry, int) or i == entry)
        }
