"""What an atomic access orders beside the elements that it accesses, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from xtile.dialects.core import atomics, attributes, scattered
from xtile.dialects.triton.tt.enumerations import MemSemantic, MemSyncScope


class Ordering(NamedTuple):
    """What an access orders, and for whom."""

    semantic: MemSemantic
    scope: MemSyncScope


RELAXED = Ordering(MemSemantic.RELAXED, MemSyncScope.GPU)
"""That of atomic updates that name none."""

_SEMANTICS = {
    attributes.MemoryOrder.RELAXED: MemSemantic.RELAXED,
    attributes.MemoryOrder.ACQUIRE: MemSemantic.ACQUIRE,
    attributes.MemoryOrder.RELEASE: MemSemantic.RELEASE,
    attributes.MemoryOrder.ACQUIRE_RELEASE: MemSemantic.ACQ_REL,
}
_SCOPES = {
    attributes.MemoryScope.BLOCK: MemSyncScope.CTA,
    attributes.MemoryScope.DEVICE: MemSyncScope.GPU,
    attributes.MemoryScope.SYSTEM: MemSyncScope.SYS,
}


def ordering_of(
    operation: atomics.AtomicCompareAndSwapOp
    | atomics.AtomicRMWOp
    | scattered.GatherLoadOp
    | scattered.ScatterStoreOp,
) -> Ordering | None:
    """What an access of the source says of it; None if it is not atomic."""
    if operation.order is None or operation.scope is None:
        return None
    return Ordering(_SEMANTICS[operation.order.data], _SCOPES[operation.scope.data])
