"""Components of matrices, fetched from the lanes that hold them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    FloatTF32Type,
    IntegerType,
    VectorType,
    f32,
)
from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index
from xtile.translate.core_to_xegpu.bfloat16 import narrow, widen
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.scattered import entries, holder, is_row
from xtile.translate.core_to_xegpu.subgroup import shuffle


def element_of_type(type_: Attribute) -> Attribute:
    """The type of a vector's elements; a number's own."""
    is_vector = isinstance(type_, VectorType)
    return cast("VectorType[Attribute]", type_).element_type if is_vector else type_


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a vector."""
    return tuple(cast("VectorType[Attribute]", value.type).get_shape())


def wide_type(type_: Attribute) -> Attribute:
    """The type in which numbers of a type are added up: f32 for f16, bf16 and tf32."""
    element = element_of_type(type_)
    return f32 if isinstance(element, Float16Type | BFloat16Type | FloatTF32Type) else element


def widened(
    lowering: Lowering, value: SSAValue, type_: Attribute, target: Attribute | None = None
) -> SSAValue:
    """A number as one of a wider type.

    Args:
        lowering: Where to emit.
        value: The number, as it is carried.
        type_: Its type in the source, or that of the vector that it is a component of.
        target: The wider type; None for that in which such numbers are added up.
    """
    wide: Attribute = target or wide_type(type_)
    if isinstance(element_of_type(type_), BFloat16Type):
        value = widen(lowering, value)
    if value.type == wide:
        return value
    conversion = arith.ExtSIOp if isinstance(value.type, IntegerType) else arith.ExtFOp
    return lowering.emit(conversion.build(operands=[value], result_types=[wide])).results[0]


def rounded(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """What was added up, as a number of the type that it belongs to."""
    element = element_of_type(type_)
    if isinstance(element, BFloat16Type):
        return narrow(lowering, value)
    if isinstance(element, Float16Type):
        return lowering.emit(arith.TruncFOp(value, element)).result
    return value


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
            return (0, indices[0]) if is_row(self._layout) else (indices[0], 0)
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
