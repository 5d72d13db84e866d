"""What an atomic access orders beside the elements that it accesses, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from xtile.dialects.core import atomics, attributes, scattered
from xtile.dialects.cuda_tile.enumerations import MemoryOrderingSemantics, MemoryScope


class Ordering(NamedTuple):
    """What an access orders, and for whom."""

    ordering: MemoryOrderingSemantics
    scope: MemoryScope


RELAXED = Ordering(MemoryOrderingSemantics.RELAXED, MemoryScope.DEVICE)
"""That of atomic updates that name none."""

WEAK = (MemoryOrderingSemantics.WEAK, None)
"""What an access says that is not atomic."""

_ORDERINGS = {
    attributes.MemoryOrder.RELAXED: MemoryOrderingSemantics.RELAXED,
    attributes.MemoryOrder.ACQUIRE: MemoryOrderingSemantics.ACQUIRE,
    attributes.MemoryOrder.RELEASE: MemoryOrderingSemantics.RELEASE,
    attributes.MemoryOrder.ACQUIRE_RELEASE: MemoryOrderingSemantics.ACQ_REL,
}
_SCOPES = {
    attributes.MemoryScope.BLOCK: MemoryScope.TL_BLK,
    attributes.MemoryScope.DEVICE: MemoryScope.DEVICE,
    attributes.MemoryScope.SYSTEM: MemoryScope.SYS,
}


def ordering_of(operation: atomics.AtomicCompareAndSwapOp | atomics.AtomicRMWOp) -> Ordering:
    """What an atomic update of the source says of it."""
    return Ordering(_ORDERINGS[operation.order.data], _SCOPES[operation.scope.data])


def optional_ordering(
    operation: scattered.GatherLoadOp | scattered.ScatterStoreOp,
) -> Ordering | None:
    """What a load or store of the source says of it; None if it is not atomic."""
    if operation.order is None or operation.scope is None:
        return None
    return Ordering(_ORDERINGS[operation.order.data], _SCOPES[operation.scope.data])
