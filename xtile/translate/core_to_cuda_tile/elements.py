"""Elements of tiles chosen or counted by integers, composed of comparisons.

CUDA Tile IR has neither, so that a gather takes as many steps as there are positions, and a
histogram compares each element with each bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.dialects.cuda_tile.enumerations import ComparisonPredicate
from xtile.dialects.cuda_tile.ops import bitwise, core, integer
from xtile.dialects.cuda_tile.types import TileType
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_of
from xtile.translate.tiles.reductions import reduce
from xtile.translate.tiles.types import shape_of

_COMPARED_AT_ONCE = 4096
"""Pairs of a bin and an element that one step of a histogram compares, unless there are more bins.
"""


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    """Takes the elements of one position along the axis after the other."""
    source, positions = lowering.values((operation.source, operation.positions))
    shape, axis = shape_of(operation.result.type), operation.axis.value.data
    size = shape_of(operation.source.type)[axis]
    # A position that fits is below 2^24, whatever the width.
    positions = lowering.resize(positions, i32)
    line = tuple(1 if dimension == axis else own for dimension, own in enumerate(shape))

    def at(position: SSAValue) -> SSAValue:
        zero = lowering.integer(0, i32)
        indices = [position if dimension == axis else zero for dimension in range(len(shape))]
        part = lowering.compute(core.ExtractOp, source, indices, line)
        return lowering.compute(core.BroadcastOp, part, shape) if line != shape else part

    def step(position: SSAValue, handed: Sequence[SSAValue]) -> Sequence[SSAValue]:
        wanted = lowering.spread(position, shape)
        is_it = lowering.compare(ComparisonPredicate.EQUAL, positions, wanted)
        return [lowering.select(is_it, at(position), handed[0])]

    # What is not at another position is at the first one.
    start = at(lowering.integer(0, i32))
    made = lowering.counted(range(1, size), [start], step) if size > 1 else [start]
    lowering.define(operation.result, made[0])


def _histogram(operation: HistogramOp, lowering: Lowering) -> None:
    """Compares parts of the tile with all bins, and counts in the end."""
    count = prod(shape_of(operation.source.type))
    (bins,) = shape_of(operation.result.type)
    length = min(count, max(1, _COMPARED_AT_ONCE // bins))
    shape = (bins, length)
    # An element that counts is below the number of bins, whatever the width.
    source = lowering.resize(lowering.value(operation.source), i32, is_signed=False)
    source = lowering.reshape(source, (count,))
    mask = None
    if operation.mask is not None:
        mask = lowering.reshape(lowering.value(operation.mask), (count,))
    numbers = lowering.along(lowering.iota(bins, i32), 0, shape)
    zeros, ones = (lowering.constant(number, TileType(shape, i32)) for number in (0, 1))

    def step(part: SSAValue, counts: Sequence[SSAValue]) -> Sequence[SSAValue]:
        elements = _part(lowering, source, part, shape)
        counted = lowering.compare(ComparisonPredicate.EQUAL, elements, numbers)
        if mask is not None:
            chosen = _part(lowering, mask, part, shape)
            counted = lowering.compute(bitwise.AndIOp, counted, chosen)
        more = lowering.select(counted, ones, zeros)
        return [lowering.compute(integer.AddIOp, counts[0], more)]

    (counts,) = lowering.counted(range(count // length), [zeros], step)
    totals = reduce(lowering, "add", counts, 1)
    element = element_of(operation.result.type)
    lowering.define(operation.result, lowering.resize(totals, element, is_signed=False))


def _part(lowering: Lowering, line: SSAValue, number: SSAValue, shape: Sequence[int]) -> SSAValue:
    """A part of a tile of one dimension, repeated for each bin."""
    part = lowering.compute(core.ExtractOp, line, [number], (shape[1],))
    row = lowering.compute(core.ReshapeOp, part, (1, shape[1]))
    return lowering.compute(core.BroadcastOp, row, tuple(shape)) if shape[0] > 1 else row


RULES: dict[str, Rule] = {
    "core.gather": _gather,
    "core.histogram": _histogram,
}
"""The rule of each operation, by name."""
