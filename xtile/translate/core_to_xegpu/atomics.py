"""Atomic updates, of one element or of those of a matrix."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType

from xtile.dialects.core import AtomicUpdateOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.memory import update


def _atomic_update(operation: AtomicUpdateOp, lowering: Lowering) -> None:
    element = operation.value.type
    if isinstance(element, VectorType):
        from xtile.translate.core_to_xegpu.scattered import update_matrix

        update_matrix(operation, lowering)
        return
    value, memory = lowering.values((operation.value, operation.memory))
    places = lowering.values(operation.indices)
    kind = str(operation.kind.data)
    lowering.define(operation.result, update(lowering, kind, value, memory, places, element))


RULES: dict[str, Rule] = {AtomicUpdateOp.name: _atomic_update}
