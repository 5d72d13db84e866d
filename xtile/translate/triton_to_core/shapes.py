"""Tensors that are made, and tensors in another shape.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.dialects.triton.tt.ops import (
    CatOp,
    JoinOp,
    MakeRangeOp,
    SplitOp,
    TransOp,
)
from xtile.dialects.triton.tt.ops import (
    GatherOp as TritonGatherOp,
)
from xtile.dialects.triton.tt.ops import (
    HistogramOp as TritonHistogramOp,
)
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.triton_to_core.raising import Raising


def _make_range(operation: MakeRangeOp, raising: Raising) -> None:
    type_ = raising.type(operation.result.type)
    numbers = raising.from_index(raising.step(shape_of(type_)[0]), type_)
    start = operation.start.value.data
    if start:
        numbers = raising.compute(arith.AddiOp, [numbers, raising.constant(start, type_)], type_)
    raising.define(operation.result, numbers)


def _spread(operation: Operation, raising: Raising) -> None:
    (source,), (result,) = operation.operands, operation.results
    value = raising.value(source)
    shape = shape_of(raising.type(result.type))
    if operation.name == "tt.splat" and shape_of(value.type):
        value = raising.reshape(value, [1] * len(shape))
    raising.define(result, raising.spread(value, shape))


def _reshape(operation: Operation, raising: Raising) -> None:
    """Where elements may come in any order, they stay in row-major order."""
    (source,), (result,) = operation.operands, operation.results
    shape = shape_of(raising.type(result.type))
    raising.define(result, raising.reshape(raising.value(source), shape))


def _trans(operation: TransOp, raising: Raising) -> None:
    made = raising.transposed(raising.value(operation.src), operation.permutation)
    raising.define(operation.result, made)


def _join(operation: JoinOp, raising: Raising) -> None:
    values = raising.values(operation.operands)
    rank = len(shape_of(values[0].type))
    raising.define(operation.result, raising.joined(values, rank))


def _cat(operation: CatOp, raising: Raising) -> None:
    """The elements may come in any order; they stay in row-major order."""
    made = raising.joined(raising.values(operation.operands), 0)
    shape = shape_of(raising.type(operation.result.type))
    raising.define(operation.result, raising.reshape(made, shape))


def _split(operation: SplitOp, raising: Raising) -> None:
    value = raising.value(operation.src)
    rank = len(shape_of(value.type))
    halves = raising.transposed(value, [rank - 1, *range(rank - 1)])
    for number, result in enumerate(operation.results):
        raising.define(result, raising.part(halves, [number]))


def _gather(operation: TritonGatherOp, raising: Raising) -> None:
    made = raising.compute(
        GatherOp,
        raising.values(operation.operands),
        raising.type(operation.result.type),
        {"axis": IntegerAttr(operation.axis.value.data, i64)},
    )
    raising.define(operation.result, made)


def _histogram(operation: TritonHistogramOp, raising: Raising) -> None:
    source = raising.value(operation.src)
    type_ = raising.type(operation.result.type)
    operands = [source, raising.optional(operation.mask)]
    raising.define(operation.result, raising.compute(HistogramOp, operands, type_))


RULES: dict[str, Rule] = {
    "tt.broadcast": _spread,
    "tt.cat": _cat,
    "tt.expand_dims": _reshape,
    "tt.gather": _gather,
    "tt.histogram": _histogram,
    "tt.join": _join,
    "tt.make_range": _make_range,
    "tt.reshape": _reshape,
    "tt.splat": _spread,
    "tt.split": _split,
    "tt.trans": _trans,
    "tt.unsplat": _reshape,
}
"""The rule of each operation, by name."""
