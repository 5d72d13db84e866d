"""Elements of memory anywhere: vectors of positions, gathers, scatters and updates, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerType, VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.arith.casts import IndexCastOp
from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.memref.access import LoadOp, StoreOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.elements import StepOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.fragments import build
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type
from xtile.translate.core_to_xegpu.memory import update
from xtile.translate.core_to_xegpu.pieces import from_scalars
from xtile.translate.core_to_xegpu.scattered import (
    entries,
    guarded_values,
    is_component,
    position,
)

_Make = Callable[[list[SSAValue], SSAValue | None], list[SSAValue]]
"""What is made of the numbers of an entry, and of whether it is a component; None: it is."""


def _each(lowering: Lowering, vectors: Sequence[SSAValue], make: _Make) -> list[SSAValue]:
    """What is made of each entry of vectors of one shape."""
    fragments = [lowering.fragment(vector) for vector in vectors]
    made: list[SSAValue] = []
    for numbers in zip(*(entries(lowering, each) for each in fragments), strict=True):
        block, entry, _ = numbers[0]
        inside = is_component(lowering, fragments[0].layout, block, entry)
        made += make([number for _, _, number in numbers], inside)
    return made


def _define(lowering: Lowering, result: SSAValue, numbers: Sequence[SSAValue]) -> None:
    """Records a vector by the numbers of its entries."""
    left = iter(numbers)

    def piece(_block: int, _first: int, length: int) -> SSAValue:
        return from_scalars(lowering, [next(left) for _ in range(length)])

    lowering.define(result, build(lowering.layout(result.type), piece))


def _as_index(lowering: Lowering, number: SSAValue) -> SSAValue:
    if isinstance(number.type, IntegerType):
        return lowering.emit(IndexCastOp(number, IndexType())).result
    return number


def _step(operation: StepOp, lowering: Lowering) -> None:
    (result,) = operation.results
    layout = lowering.layout(result.type)

    def piece(block: int, first: int, length: int) -> SSAValue:
        rows = [position(lowering, layout, block, first + i)[0] for i in range(length)]
        return from_scalars(lowering, [lowering.as_value(row) for row in rows])

    lowering.define(result, build(layout, piece))


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    memory, *start, positions, mask, other = operation.operands
    source, first = lowering.value(memory), lowering.values(start)
    element = carried_type(value_type(operation.results[0].type))

    def make(numbers: list[SSAValue], inside: SSAValue | None) -> list[SSAValue]:
        at, allowed, padding = numbers
        last = lowering.add(first[-1], _as_index(lowering, at))
        indices = [*first[:-1], lowering.as_value(last)]

        def load() -> list[SSAValue]:
            made = LoadOp.build(operands=[source, indices], result_types=[element])
            return list(lowering.emit(made).results)

        is_read = lowering.both(inside, allowed)
        assert is_read is not None
        return [lowering.choose(is_read, lambda: load()[0], lambda: padding)]

    values = _each(lowering, [positions, mask, other], make)
    _define(lowering, operation.results[0], values)


def _scatter(operation: ScatterOp, lowering: Lowering) -> None:
    memory, *start, positions, mask, value = operation.operands
    target, first = lowering.value(memory), lowering.values(start)

    def make(numbers: list[SSAValue], inside: SSAValue | None) -> list[SSAValue]:
        at, allowed, number = numbers
        last = lowering.add(first[-1], _as_index(lowering, at))
        indices = [*first[:-1], lowering.as_value(last)]

        def store() -> list[SSAValue]:
            lowering.emit(StoreOp.build(operands=[number, target, indices]))
            return []

        return guarded_values(lowering, lowering.both(inside, allowed), [], store)

    _each(lowering, [positions, mask, value], make)


def _atomic_rmw(operation: AtomicRMWOp, lowering: Lowering) -> None:
    """An update of each element of a vector by the lane that holds it."""
    type_ = cast("VectorType[Attribute]", operation.value.type)
    memory, kind = lowering.value(operation.memory), kind_of(operation.kind).name
    ordering = ordering_of(operation)
    indices = list(operation.indices)
    vectors = [each for each in indices if isinstance(each.type, VectorType)]
    given = [operation.value, *vectors]
    if operation.mask is not None:
        given.append(operation.mask)
    carried = carried_type(type_.element_type)

    def make(numbers: list[SSAValue], inside: SSAValue | None) -> list[SSAValue]:
        number, *others = numbers
        allowed = inside
        if operation.mask is not None:
            *others, own = others
            allowed = lowering.both(inside, own)
        left = iter(others)
        at = [
            _as_index(lowering, next(left) if each in vectors else lowering.value(each))
            for each in indices
        ]

        def change() -> list[SSAValue]:
            return [update(lowering, kind, number, memory, at, type_.element_type, ordering)]

        return guarded_values(lowering, allowed, [carried], change)

    _define(lowering, operation.result, _each(lowering, given, make))


RULES: dict[str, Rule] = {
    AtomicRMWOp.name: _atomic_rmw,
    GatherOp.name: _gather,
    ScatterOp.name: _scatter,
    StepOp.name: _step,
}
"""The rule of each operation, by name."""
