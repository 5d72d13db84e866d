"""Reductions and scans along dimensions of tiles.

Source: CUDA Tile IR specification, "reduce", "scan"; docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects import core as core_ops
from xtile.dialects.cuda_tile.ops import control_flow, core
from xtile.dialects.cuda_tile.ops.reductions import ReduceOp, ScanOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.reductions import ScanOp as VectorScanOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.arithmetic import of_integers
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


def reduce(
    lowering: Lowering, kind: str, value: SSAValue, axis: int, identity: Attribute | None = None
) -> SSAValue:
    """Combines the elements along a dimension, and an identity; None: what changes no number."""
    shape = tile_type(value).get_shape()
    if shape[axis] == 1:
        return lowering.reshape(value, (*shape[:axis], *shape[axis + 1 :]))
    if identity is None:
        identity = neutral(lowering, kind, element_type(value))
    body = _body(lowering, kind, value)
    return lowering.emit(ReduceOp([value], axis, [identity], body)).results[0]


def _multi_reduction(operation: MultiDimReductionOp, lowering: Lowering) -> None:
    given, start = lowering.value(operation.source), lowering.value(operation.acc)
    axes = cast("Sequence[int]", operation.reduction_dims.get_values())
    kind, value = _kind(operation), _widened(lowering, given)
    is_zero = _is_sum_from_zero(kind, start)
    identity = _number(0, element_type(value)) if is_zero else None
    for axis in sorted(axes, reverse=True):
        value = reduce(lowering, kind, value, axis, identity)
    if not is_zero:
        value = combine(lowering, kind, _widened(lowering, start), value)
    lowering.define(operation.dest, _narrowed(lowering, value, given))


def _is_sum_from_zero(kind: str, start: SSAValue) -> bool:
    """Whether a start is known to be 0, and to be added: then it is as good an identity as -0."""
    owner = start.owner
    if kind != "add" or not isinstance(owner, core.ConstantOp):
        return False
    numbers = cast("Sequence[float]", cast(Any, owner.value).get_values())
    return not any(number or math.copysign(1, number) < 0 for number in numbers)


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


# --- with a region ---


def _reduce_tuples(operation: core_ops.ReduceOp, lowering: Lowering) -> None:
    # The region of a reduction has the later element of each pair first.
    sources, identities, body = _combination(operation, lowering, earlier=1)
    made = ReduceOp(sources, operation.axis.value.data, identities, body)
    _define_totals(operation, lowering, made)


def _scan_tuples(operation: core_ops.ScanOp, lowering: Lowering) -> None:
    sources, identities, body = _combination(operation, lowering, earlier=0)
    reverse = operation.reverse is not None
    made = ScanOp(sources, operation.axis.value.data, identities, body, reverse=reverse)
    _define_totals(operation, lowering, made)


def _define_totals(
    operation: core_ops.AggregateOperation, lowering: Lowering, made: ReduceOp | ScanOp
) -> None:
    totals = lowering.emit(made).results
    for old, new in zip(operation.totals, totals, strict=False):
        lowering.define(old, new)


def _combination(
    operation: core_ops.AggregateOperation, lowering: Lowering, earlier: int
) -> tuple[list[SSAValue], list[Attribute], Region]:
    """The tiles, their identities and the region of a reduction or scan.

    Where no identities are known, a last tile of truth values says that elements count; its
    identity says that they do not.

    Args:
        operation: The reduction or scan.
        lowering: Where to emit.
        earlier: Which of each pair of the region's arguments is the earlier one.
    """
    sources = lowering.values(operation.sources)
    identities = _identities(operation, lowering, sources)
    is_known = identities is not None
    if identities is None:
        counts = tile_type(sources[0]).with_element_type(i1)
        sources = [*sources, lowering.constant(1, counts)]
        identities = [_number(0, element_type(source)) for source in sources]
    types = [scalar_tile(element_type(source)) for source in sources]
    block = Block(arg_types=[type_ for type_ in types for _ in range(2)])
    pairs = block.args[earlier::2], block.args[1 - earlier :: 2]
    with lowering.in_function(block):
        combined = _combined(operation, lowering, *pairs)
        if not is_known:
            combined = _where_both_count(lowering, *pairs, combined)
        lowering.emit(control_flow.YieldOp(combined))
    return sources, identities, Region(block)


def _combined(
    operation: core_ops.AggregateOperation,
    lowering: Lowering,
    earlier: Sequence[SSAValue],
    later: Sequence[SSAValue],
) -> list[SSAValue]:
    """What the region makes of two tuples, emitted at the end of the current block."""
    old = operation.body.block
    count = len(operation.sources)
    for argument, new in zip(old.args, (*earlier[:count], *later[:count]), strict=True):
        lowering.define(argument, new)
    end = old.last_op
    assert end is not None
    for inner in old.ops:
        if inner is not end:
            lowering.translate(inner)
    return lowering.values(end.operands)


def _where_both_count(
    lowering: Lowering,
    earlier: Sequence[SSAValue],
    later: Sequence[SSAValue],
    combined: Sequence[SSAValue],
) -> list[SSAValue]:
    """The combination of two tuples of which one or both may stand for nothing."""
    counts, other_counts = earlier[-1], later[-1]
    chosen: list[SSAValue] = []
    for a, b, both in zip(earlier, later, combined, strict=False):
        chosen.append(lowering.select(counts, lowering.select(other_counts, both, a), b))
    return [*chosen, of_integers("ori")(lowering, counts, other_counts)]


def _identities(
    operation: core_ops.AggregateOperation, lowering: Lowering, sources: Sequence[SSAValue]
) -> list[Attribute] | None:
    """The identities that an operation names, or those of what its region does; None: unknown."""
    elements = [element_type(source) for source in sources]
    if operation.identities is not None:
        given = [cast(Any, each).value.data for each in operation.identities]
        return [_number(number, type_) for number, type_ in zip(given, elements, strict=True)]
    names = [_name_of_pair(operation, index) for index in range(len(sources))]
    known = [
        neutral(lowering, name, element)
        for name, element in zip(names, elements, strict=True)
        if name is not None
    ]
    return known if len(known) == len(sources) else None


def _name_of_pair(operation: core_ops.AggregateOperation, index: int) -> str | None:
    """What combines the elements of one vector, such as `addf`, if only one operation does."""
    block = operation.body.block
    assert block.last_op is not None
    made = block.last_op.operands[index].owner
    pair = (block.args[index], block.args[index + len(operation.sources)])
    if isinstance(made, Block) or set(made.operands) != set(pair):
        return None
    return made.name.removeprefix("arith.") if made.name in _WITH_NEUTRAL else None


_WITH_NEUTRAL = frozenset(
    f"arith.{name}"
    for name in (
        *("addf", "addi", "andi", "maximumf", "maxnumf", "maxsi", "maxui", "minimumf", "minnumf"),
        *("minsi", "minui", "mulf", "muli", "ori", "xori"),
    )
)
"""The operations that a number is neutral for."""


def _number(number: float, type_: Attribute) -> Attribute:
    if isa(type_, IntegerType):
        return IntegerAttr(int(number), type_)
    return FloatAttr(float(number), cast("AnyFloat", type_))


def holds_anywhere(lowering: Lowering, condition: SSAValue) -> SSAValue:
    """Whether a condition holds for any element of a tile."""
    assert element_type(condition) == i1
    for axis in reversed(range(tile_type(condition).rank)):
        condition = reduce(lowering, "or", condition, axis)
    return condition


RULES: dict[str, Rule] = {
    "core.reduce": _reduce_tuples,
    "core.scan": _scan_tuples,
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
    "vector.scan": _scan,
}
"""The rule of each operation, by name."""
