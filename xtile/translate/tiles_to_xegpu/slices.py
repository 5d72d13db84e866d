"""Parts of vectors at positions that are known."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, i64
from xdsl.ir import SSAValue

from xtile.dialects.vector.slices import ExtractStridedSliceOp, InsertStridedSliceOp
from xtile.rewrite.tile_emitter import TileEmitter, shape_of, with_shape


def part_of(
    emitter: TileEmitter, value: SSAValue, offsets: Sequence[int], sizes: Sequence[int]
) -> SSAValue:
    """So many elements of a vector along each dimension, from an offset on."""
    if tuple(sizes) == shape_of(value.type):
        return value
    properties = {
        "offsets": _numbers(offsets),
        "sizes": _numbers(sizes),
        "strides": _numbers([1] * len(sizes)),
    }
    type_ = with_shape(value.type, sizes)
    return emitter.compute(ExtractStridedSliceOp, [value], type_, properties)


def inserted(
    emitter: TileEmitter, part: SSAValue, whole: SSAValue, offsets: Sequence[int]
) -> SSAValue:
    """A vector with a part replaced, from an offset on along each dimension."""
    ones = [1] * len(shape_of(part.type))
    properties = {"offsets": _numbers(offsets), "strides": _numbers(ones)}
    return emitter.compute(InsertStridedSliceOp, [part, whole], whole.type, properties)


def _numbers(numbers: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr(IntegerAttr(number, i64) for number in numbers)
