"""Points of memory that vectors name: gathers, scatters and updates by all work-items at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.rebuilder import copy
from xtile.rewrite.tile_emitter import with_shape
from xtile.transforms.lift.memory import accessed_at, positions
from xtile.transforms.lift.widening import Where, Wide, Widening, axes_of, own_sizes


def gather(operation: GatherOp, widening: Widening) -> None:
    """Each subgroup, or each lane that has a vector of its own, reads its points."""
    result = operation.result
    if not widening.divergence.of(result) and widening.is_executed:
        copy(operation, widening.kernel)
        return
    axes, sizes = widening.divergence.axes(result), own_sizes(result)
    memory, at = _located(operation, widening)
    made = GatherLoadOp.build(
        operands=[
            memory,
            positions(widening, at, axes),
            _mask(widening, operation.mask, axes, sizes),
            [widening.aligned(widening.wide(operation.pass_thru), axes, sizes).value],
        ],
        result_types=[with_shape(result.type, widening.shape(axes, sizes))],
    )
    widening.define(result, Wide((widening.kernel.emit(made).result,), axes))


def scatter(operation: ScatterOp, widening: Widening) -> None:
    """Each writes its points; of several elements at one position one stays."""
    kernel = widening.kernel
    if not widening.divergence.of_all(operation.operands):
        if widening.is_executed:
            copy(operation, kernel)
            return
        assert widening.mask is not None, "without a mask all execute it"
        with kernel.when(widening.any(widening.mask).value):
            copy(operation, kernel)
        return
    sizes = own_sizes(operation.valueToStore)
    memory, at = _located(operation, widening)
    value, given = widening.wide(operation.valueToStore), widening.wide(operation.mask)
    executed, places = widening.executed, [index for index in at if isinstance(index, Wide)]
    axes = axes_of([value, given, *places, *([] if executed is None else [executed])])
    known = {**widening.sizes, **sizes}
    made = ScatterStoreOp.build(
        operands=[
            widening.aligned(value, axes, known).value,
            memory,
            positions(widening, at, axes),
            _mask(widening, operation.mask, axes, known),
        ]
    )
    kernel.emit(made)


def update(operation: AtomicRMWOp, widening: Widening) -> None:
    """Each updates its points, also where all have the same."""
    kernel, result = widening.kernel, operation.result
    axes, sizes = widening.divergence.axes(result), own_sizes(result)
    given = [widening.where(index) for index in operation.indices]
    memory, at = accessed_at(widening, operation.memory, given)
    value = widening.aligned(widening.wide(operation.value), axes, sizes).value
    mask = _mask(widening, operation.mask, axes, sizes)
    made = AtomicRMWOp.build(
        operands=[value, memory, positions(widening, at, axes), mask],
        result_types=[value.type],
        properties={name: operation.properties[name] for name in ("kind", "order", "scope")},
    )
    widening.define(result, Wide((kernel.emit(made).result,), axes))


def _located(operation: GatherOp | ScatterOp, widening: Widening) -> tuple[SSAValue, list[Where]]:
    """The memory of points, and their indices."""
    *outer, last = (widening.where(index) for index in operation.offsets)
    numbers = widening.wide(operation.indices)
    if not isinstance(numbers.element, IndexType):
        numbers = widening.computed(arith.IndexCastOp, numbers, type=IndexType())
    return accessed_at(widening, operation.base, [*outer, widening.add(last, numbers)])


def _mask(
    widening: Widening,
    mask: SSAValue | None,
    axes: Sequence[int],
    sizes: Mapping[int, int],
) -> list[SSAValue]:
    """Which points are accessed: those of a mask, or all, by those who execute it."""
    condition = None if mask is None else widening.wide(mask)
    executed = widening.executed
    if executed is not None:
        executed = widening.any(executed, frozenset(axes))
        condition = executed if condition is None else widening.both(condition, executed)
    return [] if condition is None else [widening.aligned(condition, axes, sizes).value]
