"""Elements of tensors that integers choose, or that are counted.

Source: Triton 3.9, `TritonOps.td`, `tt.gather` and `tt.histogram`.
"""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import i32

from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.dialects.triton.tt import ops as tt
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_triton.lowering import Lowering
from xtile.translate.tiles.types import shape_of


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    source, positions = lowering.values((operation.source, operation.positions))
    axis, shape = operation.axis.value.data, list(shape_of(operation.result.type))
    # Where there are fewer positions than elements along another dimension, they are of the first.
    shape[axis] = lowering.shape(source)[axis]
    source = lowering.extract(source, [0] * len(shape), shape)
    made = tt.GatherOp(source, lowering.resize(positions, i32), axis)
    lowering.define(operation.result, lowering.emit(made).results[0])


def _histogram(operation: HistogramOp, lowering: Lowering) -> None:
    count = (prod(shape_of(operation.source.type)),)
    # A number that counts is below the number of bins, whatever the width.
    source = lowering.resize(lowering.value(operation.source), i32, is_signed=False)
    mask = lowering.optional_value(operation.mask)
    type_ = lowering.tile(i32, shape_of(operation.result.type))
    if mask is not None:
        mask = lowering.reshape(mask, count)
    made = tt.HistogramOp(lowering.reshape(source, count), type_, mask)
    element = lowering.element_of(operation.result.type)
    result = lowering.resize(lowering.emit(made).results[0], element, is_signed=False)
    lowering.define(operation.result, result)


RULES: dict[str, Rule] = {"core.gather": _gather, "core.histogram": _histogram}
"""The rule of each operation, by name."""
