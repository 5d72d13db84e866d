"""Reductions and scans along dimensions of tiles.

Source: docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.core import reductions
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.reductions import ScanOp as VectorScanOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.combining import combine, neutral, wide_type
from xtile.translate.tiles.lowering import Combine, TileLowering
from xtile.translate.tiles.types import number_attribute


def _kind(operation: Operation) -> str:
    """How an operation combines, such as `add`."""
    return str(cast(Any, operation.properties["kind"]).data)


def _widened(lowering: TileLowering, value: SSAValue) -> SSAValue:
    """Floats in the type in which they are combined."""
    wide = wide_type(lowering.element(value))
    return value if wide == lowering.element(value) else lowering.converted(value, wide)


def _narrowed(lowering: TileLowering, value: SSAValue, like: SSAValue) -> SSAValue:
    """Floats in the type that another tile has."""
    element = lowering.element(like)
    return value if element == lowering.element(value) else lowering.converted(value, element)


def _combining(lowering: TileLowering, kind: str) -> Combine:
    """How two numbers are combined."""

    def both(earlier: Sequence[SSAValue], later: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [combine(lowering, kind, earlier[0], later[0])]

    return both


def reduce(
    lowering: TileLowering, kind: str, value: SSAValue, axis: int, identity: Attribute | None = None
) -> SSAValue:
    """Combines the elements along a dimension, and an identity; None: what changes no number."""
    shape = lowering.shape(value)
    if shape[axis] == 1:
        return lowering.reshape(value, (*shape[:axis], *shape[axis + 1 :]))
    if identity is None:
        identity = neutral(lowering, kind, lowering.element(value))
    return lowering.reduced([value], axis, [identity], _combining(lowering, kind))[0]


def _multi_reduction(operation: MultiDimReductionOp, lowering: TileLowering) -> None:
    given, start = lowering.value(operation.source), lowering.value(operation.acc)
    axes = cast("Sequence[int]", operation.reduction_dims.get_values())
    kind, value = _kind(operation), _widened(lowering, given)
    is_zero = _is_sum_from_zero(lowering, kind, start)
    identity = number_attribute(0, lowering.element(value)) if is_zero else None
    for axis in sorted(axes, reverse=True):
        value = reduce(lowering, kind, value, axis, identity)
    if not is_zero:
        value = combine(lowering, kind, _widened(lowering, start), value)
    lowering.define(operation.dest, _narrowed(lowering, value, given))


def _is_sum_from_zero(lowering: TileLowering, kind: str, start: SSAValue) -> bool:
    """Whether a start is known to be 0, and to be added: then it is as good an identity as -0."""
    number = lowering.number_of(start) if kind == "add" else None
    return number is not None and number == 0 and math.copysign(1, number) > 0


def _reduction(operation: Operation, lowering: TileLowering) -> None:
    """Combines a vector of one dimension, and an optional number."""
    given, *start = lowering.values(operation.operands)
    kind = _kind(operation)
    value = _widened(lowering, given)
    if lowering.shape(value):
        value = reduce(lowering, kind, value, 0)
    for number in start:
        value = combine(lowering, kind, _widened(lowering, number), value)
    lowering.define(operation.results[0], _narrowed(lowering, value, given))


def _scan(operation: VectorScanOp, lowering: TileLowering) -> None:
    if not operation.inclusive.value.data:
        raise lowering.error(f"an exclusive scan cannot be translated to {lowering.result_name}")
    given = lowering.value(operation.source)
    kind, axis = _kind(operation), operation.reduction_dim.value.data
    value = _widened(lowering, given)
    identity = neutral(lowering, kind, lowering.element(value))
    (value,) = lowering.scanned([value], axis, [identity], _combining(lowering, kind))
    value = _narrowed(lowering, value, given)
    lowering.define(operation.dest, value)
    lowering.define(operation.accumulated_value, _last(lowering, value, axis))


def _last(lowering: TileLowering, value: SSAValue, axis: int) -> SSAValue:
    """The last elements along a dimension."""
    shape = lowering.shape(value)
    indices = [size - 1 if i == axis else 0 for i, size in enumerate(shape)]
    line = tuple(1 if i == axis else size for i, size in enumerate(shape))
    rest = (*shape[:axis], *shape[axis + 1 :])
    if line == shape:
        return lowering.reshape(value, rest)
    return lowering.reshape(lowering.extract(value, indices, line), rest)


# --- with a region ---


def _reduce_tuples(operation: reductions.ReduceOp, lowering: TileLowering) -> None:
    sources = lowering.values(operation.sources)
    identities = _identities(operation, lowering, sources)
    axis, combine_ = operation.axis.value.data, _region(operation, lowering)
    _define_totals(operation, lowering, lowering.reduced(sources, axis, identities, combine_))


def _scan_tuples(operation: reductions.ScanOp, lowering: TileLowering) -> None:
    sources = lowering.values(operation.sources)
    identities = _identities(operation, lowering, sources)
    axis, combine_ = operation.axis.value.data, _region(operation, lowering)
    reverse = operation.reverse is not None
    made = lowering.scanned(sources, axis, identities, combine_, reverse=reverse)
    _define_totals(operation, lowering, made)


def _define_totals(
    operation: reductions.AggregateOperation, lowering: TileLowering, totals: Sequence[SSAValue]
) -> None:
    for old, new in zip(operation.totals, totals, strict=True):
        lowering.define(old, new)


def _region(operation: reductions.AggregateOperation, lowering: TileLowering) -> Combine:
    def both(earlier: Sequence[SSAValue], later: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return _combined(operation, lowering, earlier, later)

    return both


def _combined(
    operation: reductions.AggregateOperation,
    lowering: TileLowering,
    earlier: Sequence[SSAValue],
    later: Sequence[SSAValue],
) -> list[SSAValue]:
    """What the region makes of two tuples, emitted at the end of the current block."""
    old = operation.body.block
    for argument, new in zip(old.args, (*earlier, *later), strict=True):
        lowering.define(argument, new)
    end = old.last_op
    assert end is not None
    for inner in old.ops:
        if inner is not end:
            lowering.translate(inner)
    return lowering.values(end.operands)


def _identities(
    operation: reductions.AggregateOperation, lowering: TileLowering, sources: Sequence[SSAValue]
) -> list[Attribute] | None:
    """The identities that an operation names, or those of what its region does; None: unknown."""
    elements = [lowering.element(source) for source in sources]
    if operation.identities is not None:
        given = [cast(Any, each).value.data for each in operation.identities]
        return [
            number_attribute(number, type_) for number, type_ in zip(given, elements, strict=True)
        ]
    names = [_name_of_pair(operation, index) for index in range(len(sources))]
    known = [
        neutral(lowering, name, element)
        for name, element in zip(names, elements, strict=True)
        if name is not None
    ]
    return known if len(known) == len(sources) else None


def _name_of_pair(operation: reductions.AggregateOperation, index: int) -> str | None:
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


def holds_anywhere(lowering: TileLowering, condition: SSAValue) -> SSAValue:
    """Whether a condition holds for any element of a tile."""
    assert lowering.element(condition) == i1
    shape = lowering.shape(condition)
    if not shape:
        return condition
    return reduce(lowering, "or", lowering.reshape(condition, (prod(shape),)), 0)


RULES: dict[str, Rule] = {
    "core.reduce": _reduce_tuples,
    "core.scan": _scan_tuples,
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
    "vector.scan": _scan,
}
"""The rule of each operation, by name."""
