"""Reductions and scans, also those whose combination is a region.

What is one operation on each pair is upstream's `vector.multi_reduction`. Any other combination is
done on halves of the vectors, and a scan in steps of 1, 2, 4 and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.reductions import AggregateOperation, ReduceOp, ScanOp
from xtile.dialects.core.subgroup import YieldOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.combinations import kind_of
from xtile.rewrite.rebuilder import Rule, again
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.source import spelling_of
from xtile.translate.tiles_to_xegpu.lowering import Lowering

Tuple = list[SSAValue]
"""A vector, or a part of one, for each that is combined."""


def _reduce(operation: ReduceOp, lowering: Lowering) -> None:
    kind = kind_of(operation)
    if kind is not None:
        (source,), (total,) = operation.sources, operation.totals
        reduced = reduce_kind(lowering, lowering.value(source), kind, [operation.axis.value.data])
        lowering.define(total, reduced)
        return
    axis = operation.axis.value.data
    parts = lowering.values(operation.sources)
    while (size := shape_of(parts[0].type)[axis]) > 1:
        half = size // 2
        first, second = (
            [_along(lowering, each, axis, start, half) for each in parts] for start in (0, half)
        )
        last = [_along(lowering, each, axis, size - 1, 1) for each in parts]
        parts = combined(lowering, operation, first, second)
        if size % 2:
            first = [_along(lowering, each, axis, 0, 1) for each in parts]
            more = combined(lowering, operation, first, last)
            parts = [_replaced(lowering, *each, axis) for each in zip(parts, more, strict=True)]
    shape = list(shape_of(parts[0].type))
    del shape[axis]
    for total, part in zip(operation.totals, parts, strict=True):
        lowering.define(total, lowering.reshape(part, shape))


def _replaced(lowering: Lowering, whole: SSAValue, first: SSAValue, axis: int) -> SSAValue:
    """A vector with what it begins with along an axis replaced."""
    shape = shape_of(whole.type)
    return first if shape[axis] == 1 else lowering.with_slice(whole, first, [0] * len(shape))


def _along(lowering: Lowering, value: SSAValue, axis: int, start: int, count: int) -> SSAValue:
    """So many elements of a vector along an axis."""
    shape = list(shape_of(value.type))
    offsets = [start if i == axis else 0 for i in range(len(shape))]
    shape[axis] = count
    return lowering.slice(value, offsets, shape)


def _scan(operation: ScanOp, lowering: Lowering) -> None:
    axis = operation.axis.value.data
    values = lowering.values(operation.sources)
    shape = shape_of(values[0].type)
    size, distance = shape[axis], 1
    while distance < size:
        count = size - distance
        low, high = (
            [_along(lowering, each, axis, start, count) for each in values]
            for start in (0, distance)
        )
        earlier, later = (high, low) if operation.reverse else (low, high)
        made = combined(lowering, operation, earlier, later)
        at = [distance if i == axis and not operation.reverse else 0 for i in range(len(shape))]
        values = [
            lowering.with_slice(whole, part, at) for part, whole in zip(made, values, strict=True)
        ]
        distance *= 2
    for total, value in zip(operation.totals, values, strict=True):
        lowering.define(total, value)


# --- combinations that are one operation ---


def reduce_kind(lowering: Lowering, source: SSAValue, kind: str, axes: Sequence[int]) -> SSAValue:
    """What the elements along some dimensions come to."""
    kept = [size for i, size in enumerate(shape_of(source.type)) if i not in axes]
    type_ = with_shape(source.type, kept)
    properties: dict[str, Attribute] = {
        "kind": CombiningKindAttr(CombiningKindFlag(kind)),
        "reduction_dims": cast("Attribute", DenseArrayBase.from_list(i64, axes)),
    }
    start = lowering.constant(_neutral(kind, value_type(source.type)), type_)
    return lowering.compute(MultiDimReductionOp, [source, start], type_, properties)


def _neutral(kind: str, element: Attribute) -> float:
    """The number that changes no other one."""
    if isinstance(element, AnyFloat):
        return neutral_float(kind)
    assert isa(element, IntegerType)
    return neutral_integer(kind, element.width.data)


# --- combinations that are regions ---


def combined(
    lowering: Lowering, operation: AggregateOperation, first: Tuple, second: Tuple
) -> Tuple:
    """What a region makes of each pair of tuples, for vectors of them at once."""
    body = operation.body.block
    given: dict[SSAValue, SSAValue] = dict(zip(body.args, (*first, *second), strict=True))
    return _Elementwise(lowering, operation, shape_of(first[0].type), given).run(body)


class _Elementwise:
    """A region on numbers, executed on vectors of them."""

    def __init__(
        self,
        lowering: Lowering,
        around: Operation,
        shape: tuple[int, ...],
        values: dict[SSAValue, SSAValue],
    ) -> None:
        self._lowering = lowering
        self._around = around
        self._shape = shape
        self._values = values

    def run(self, block: Block) -> list[SSAValue]:
        """What a block yields."""
        for operation in block.ops:
            if isinstance(operation, YieldOp | scf.YieldOp):
                return [self._vector(operand) for operand in operation.operands]
            self._execute(operation)
        return []

    def _execute(self, operation: Operation) -> None:
        if isinstance(operation, scf.IfOp):
            condition = self._vector(operation.cond)
            both = [self.run(region.block) for region in operation.regions]
            for result, a, b in zip(operation.results, *both, strict=True):
                self._values[result] = self._lowering.emit(SelectOp(condition, a, b)).result
        elif not any(operand in self._values for operand in operation.operands):
            self._lowering.translate(operation)
        elif operation.dialect_name() in ("arith", "math"):
            made = again(
                operation,
                [self._vector(operand) for operand in operation.operands],
                [self._type(result.type) for result in operation.results],
            )
            self._lowering.emit(made)
            self._values |= zip(operation.results, made.results, strict=True)
        else:
            raise self._lowering.error(
                f"{spelling_of(operation)} cannot be computed for many elements at once, as the "
                "combination of a reduction or a scan is in XeGPU",
                operation,
            )

    def _type(self, type_: Attribute) -> VectorType[Any]:
        return VectorType(self._lowering.type_of(type_), self._shape)

    def _vector(self, value: SSAValue) -> SSAValue:
        """What a value is for each element."""
        if value in self._values:
            return self._values[value]
        return self._lowering.spread(self._lowering.value(value), self._shape)


# --- upstream's ---


def _reduction(operation: Operation, lowering: Lowering) -> None:
    """`vector.reduction`, as one of all dimensions of a vector."""
    source, *start = lowering.values(operation.operands)
    kind, type_ = cast("CombiningKindAttr", operation.properties["kind"]), operation.results[0].type
    if not start:
        start = [lowering.constant(_neutral(kind.data.value, value_type(source.type)), type_)]
    properties: dict[str, Attribute] = {
        "kind": kind,
        "reduction_dims": cast("Attribute", DenseArrayBase.from_list(i64, [0])),
    }
    made = lowering.compute(MultiDimReductionOp, [source, *start], type_, properties)
    lowering.define(operation.results[0], made)


RULES: dict[str, Rule] = {
    "core.reduce": _reduce,
    "core.scan": _scan,
    "vector.reduction": _reduction,
}
"""The rule of each operation, by name."""
