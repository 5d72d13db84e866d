"""Atomic updates, of one element or of those of a matrix."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import ordering_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.memory import update
from xtile.translate.core_to_xegpu.views import view_of


def _atomic_update(operation: AtomicUpdateOp, lowering: Lowering) -> None:
    element = operation.value.type
    if isinstance(element, VectorType):
        from xtile.translate.core_to_xegpu.scattered import update_matrix

        update_matrix(operation, lowering)
        return
    value, memory = lowering.values((operation.value, operation.memory))
    locations = lowering.values(operation.indices)
    kind, ordering = str(operation.kind.data), ordering_of(operation)

    def change() -> SSAValue:
        return update(lowering, kind, value, memory, locations, element, ordering)

    inside = _is_inside(operation, lowering, memory)
    if inside is None:
        lowering.define(operation.result, change())
        return
    zero = lowering.constant(0, lowering.type_(element))
    lowering.define(operation.result, lowering.choose(inside, change, lambda: zero))


def _is_inside(operation: AtomicUpdateOp, lowering: Lowering, memory: SSAValue) -> SSAValue | None:
    """Whether an element is inside along the dimensions that are checked; None if it must be."""
    inside: SSAValue | None = None
    indices, sizes = lowering.numbers(operation.indices), view_of(lowering, memory).sizes
    for dimension in operation.checked.get_values():
        is_below = lowering.is_below(indices[dimension], sizes[dimension])
        inside = lowering.both(inside, is_below)
    return inside


RULES: dict[str, Rule] = {AtomicUpdateOp.name: _atomic_update}
