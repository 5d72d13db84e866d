"""Elements of vectors by position, and how often each number is among them."""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, VectorType
from xdsl.ir import Attribute

from xtile.dialects.arith.casts import ExtUIOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.tiles_to_xegpu.lowering import Lowering
from xtile.translate.tiles_to_xegpu.reductions import reduce_kind


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    """A loop over the positions along the axis, each step of which compares and selects."""
    axis = operation.axis.value.data
    positions = lowering.as_index(lowering.value(operation.positions))
    shape = shape_of(positions.type)
    source = lowering.value(operation.source)
    sizes = [size if i != axis else shape_of(source.type)[axis] for i, size in enumerate(shape)]
    source = lowering.slice(source, [0] * len(sizes), sizes)
    others = [i for i in range(len(shape)) if i != axis]
    lines = lowering.transposed(source, [axis, *others])
    one = [1 if i == axis else size for i, size in enumerate(shape)]
    start = lowering.constant(0, operation.result.type)
    with lowering.loop(0, sizes[axis], initial=[start], name="position") as loop:
        line = lowering.part(lines, [loop.index])
        elements = lowering.spread(lowering.reshape(line, one), shape)
        index = lowering.spread(lowering.as_value(loop.index), shape)
        is_it = lowering.compare("eq", positions, index)
        loop.results = [lowering.emit(SelectOp(is_it, elements, loop.carried[0])).result]
    lowering.define(operation.result, loop.results[0])


def _histogram(operation: HistogramOp, lowering: Lowering) -> None:
    """A loop over the bins, each step of which counts the elements that are that number."""
    source = lowering.as_index(lowering.value(operation.source))
    shape = shape_of(source.type)
    result = cast("VectorType[Attribute]", operation.result.type)
    count = cast("IntegerType", result.element_type)
    with lowering.loop(
        0, result.get_shape()[0], initial=[lowering.constant(0, result)], name="bin"
    ) as loop:
        number = lowering.spread(lowering.as_value(loop.index), shape)
        counts = lowering.compare("eq", source, number)
        if operation.mask is not None:
            counts = lowering.emit(arith.AndIOp(counts, lowering.value(operation.mask))).result
        ones = lowering.compute(ExtUIOp, [counts], VectorType(count, shape))
        total = reduce_kind(lowering, ones, "add", range(len(shape)))
        loop.results = [lowering.with_part(loop.carried[0], total, [loop.index])]
    lowering.define(operation.result, loop.results[0])


RULES: dict[str, Rule] = {"core.gather": _gather, "core.histogram": _histogram}
"""The rule of each operation, by name."""
