"""Tiles of memory as tiles of pointers, which can say any access."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index
from xtile.translate.tiles.accesses import Access
from xtile.translate.tiles.lowering import TileLowering

_LARGEST = 2**31
"""Offsets below it are computed in 32 bits."""


def pointers(lowering: TileLowering, access: Access) -> SSAValue:
    """Points to each element of a tile."""
    memory = access.memory
    offset = lowering.add(memory.offset, lowering.sum_of_products(access.starts, memory.strides))
    first = memory.pointer
    if offset != 0:
        first = lowering.pure_offset(first, lowering.as_value(offset))
    strides = [memory.strides[dimension] for dimension in access.axes]
    offsets = _offsets(lowering, access.shape, strides)
    first = lowering.spread(first, access.shape)
    return first if offsets is None else lowering.pure_offset(first, offsets)


def _offsets(
    lowering: TileLowering, shape: Sequence[int], strides: Sequence[Index]
) -> SSAValue | None:
    """The offset of each element from the first one; None for a single element."""
    element = _offset_type(shape, strides)
    total: SSAValue | None = None
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        if size == 1 or stride == 0:
            continue
        line = lowering.iota(size, element)
        if stride != 1:
            factor = _factor(lowering, stride, element)
            line = lowering.pure_arith("muli", line, lowering.spread(factor, (size,)))
        part = lowering.along(line, axis, shape)
        total = part if total is None else lowering.pure_arith("addi", total, part)
    return total


def _offset_type(shape: Sequence[int], strides: Sequence[Index]) -> Attribute:
    """The narrowest type that holds all offsets."""
    last = 0
    for size, stride in zip(shape, strides, strict=True):
        if not isinstance(stride, int):
            return i64
        last += (size - 1) * abs(stride)
    return i32 if last < _LARGEST else i64


def _factor(lowering: TileLowering, stride: Index, element: Attribute) -> SSAValue:
    if isinstance(stride, int):
        return lowering.integer(stride, element)
    return stride


def is_inside(lowering: TileLowering, access: Access) -> SSAValue | None:
    """Which elements of a tile the memref has; None if it has all."""
    mask: SSAValue | None = None
    for axis, (dimension, inside) in enumerate(zip(access.axes, access.inside, strict=True)):
        if not inside:
            start, size = access.starts[dimension], access.memory.sizes[dimension]
            line = is_inside_along(lowering, start, access.shape[axis], size)
            if line is not None:
                mask = lowering.both(mask, lowering.along(line, axis, access.shape))
    return mask


def is_inside_along(
    lowering: TileLowering, start: Index, length: int, size: Index
) -> SSAValue | None:
    """Which of the indices from `start` on a dimension has; None if it has all."""
    if isinstance(start, int) and isinstance(size, int) and 0 <= start <= size - length:
        return None
    index = lowering.iota(length)
    if start != 0:
        first = lowering.spread(lowering.as_value(start), (length,))
        index = lowering.pure_arith("addi", index, first)
    limit = lowering.spread(lowering.as_value(size), (length,))
    below = lowering.cmpi("slt", index, limit)
    if lowering.facts.is_not_negative(start):
        return below
    from_0 = lowering.cmpi("sge", index, lowering.like(0, index))
    return lowering.both(from_0, below)
