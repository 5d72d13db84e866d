"""Reductions and scans along dimensions of tiles.

Source: CUDA Tile IR specification, "reduce", "scan"; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.cuda_tile.ops import control_flow, core
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp, ScanOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.reductions import ScanOp as VectorScanOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.combining import combine, neutral, wide_type
from xtile.translate.core_to_cuda_tile.elementwise import converted
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.types import element_type, scalar_tile, tile_type


def _kind(operation: Operation) -> str:
    """How an operation combines, such as `add`."""
    return str(cast(Any, operation.properties["kind"]).data)


def _widened(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Floats in the type in which they are combined."""
    wide = wide_type(element_type(value))
    return value if wide == element_type(value) else converted(lowering, value, wide)


def _narrowed(lowering: Lowering, value: SSAValue, like: SSAValue) -> SSAValue:
    """Floats in the type that another tile has."""
    element = element_type(like)
    return value if element == element_type(value) else converted(lowering, value, element)


def _body(lowering: Lowering, kind: str, value: SSAValue) -> Region:
    """The region that combines two numbers."""
    type_ = scalar_tile(element_type(value))
    block = Block(arg_types=[type_, type_])
    with lowering.at_end_of(block):
        made = combine(lowering, kind, block.args[0], block.args[1])
        lowering.emit(control_flow.YieldOp([made]))
    return Region(block)


def reduce(lowering: Lowering, kind: str, value: SSAValue, axis: int) -> SSAValue:
    """Combines the elements along a dimension."""
    shape = tile_type(value).get_shape()
    if shape[axis] == 1:
        return lowering.reshape(value, (*shape[:axis], *shape[axis + 1 :]))
    identity = neutral(lowering, kind, element_type(value))
    body = _body(lowering, kind, value)
    return lowering.emit(ReduceOp([value], axis, [identity], body)).results[0]


def _multi_reduction(operation: MultiDimReductionOp, lowering: Lowering) -> None:
    given, start = lowering.value(operation.source), lowering.value(operation.acc)
    axes = cast("Sequence[int]", operation.reduction_dims.get_values())
    kind, value = _kind(operation), _widened(lowering, given)
    for axis in sorted(axes, reverse=True):
        value = reduce(lowering, kind, value, axis)
    if not _is_neutral(lowering, kind, start):
        value = combine(lowering, kind, _widened(lowering, start), value)
    lowering.define(operation.dest, _narrowed(lowering, value, given))


def _is_neutral(lowering: Lowering, kind: str, start: SSAValue) -> bool:
    """Whether a start is known to be 0, and to be added."""
    owner = start.owner
    if kind != "add" or not isinstance(owner, core.ConstantOp):
        return False
    numbers = cast("Sequence[float]", cast(Any, owner.value).get_values())
    return not any(numbers)


def _reduction(operation: Operation, lowering: Lowering) -> None:
    """Combines a vector of one dimension, and an optional number."""
    given, *start = lowering.values(operation.operands)
    kind = _kind(operation)
    value = _widened(lowering, given)
    if tile_type(value).rank:
        value = reduce(lowering, kind, value, 0)
    for number in start:
        value = combine(lowering, kind, _widened(lowering, number), value)
    lowering.define(operation.results[0], _narrowed(lowering, value, given))


def _scan(operation: VectorScanOp, lowering: Lowering) -> None:
    if not operation.inclusive.value.data:
        raise lowering.error(f"an exclusive scan cannot be translated to {TARGET}")
    given = lowering.value(operation.source)
    kind, axis = _kind(operation), operation.reduction_dim.value.data
    value = _widened(lowering, given)
    identity = neutral(lowering, kind, element_type(value))
    body = _body(lowering, kind, value)
    value = lowering.emit(ScanOp([value], axis, [identity], body)).results[0]
    value = _narrowed(lowering, value, given)
    lowering.define(operation.dest, value)
    lowering.define(operation.accumulated_value, _last(lowering, value, axis))


def _last(lowering: Lowering, value: SSAValue, axis: int) -> SSAValue:
    """The last elements along a dimension."""
    from xdsl.dialects.builtin import i32

    shape = tile_type(value).get_shape()
    indices = [lowering.integer(size - 1 if i == axis else 0, i32) for i, size in enumerate(shape)]
    line = tuple(1 if i == axis else size for i, size in enumerate(shape))
    rest = (*shape[:axis], *shape[axis + 1 :])
    if line == shape:
        return lowering.reshape(value, rest)
    return lowering.reshape(lowering.compute(core.ExtractOp, value, indices, line), rest)


def holds_anywhere(lowering: Lowering, condition: SSAValue) -> SSAValue:
    """Whether a condition holds for any element of a tile."""
    assert element_type(condition) == i1
    for axis in reversed(range(tile_type(condition).rank)):
        condition = reduce(lowering, "or", condition, axis)
    return condition


RULES: dict[str, Rule] = {
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
    "vector.scan": _scan,
}
"""The rule of each operation, by name."""
