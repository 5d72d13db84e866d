"""What an atomic access orders beside the elements that it accesses, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from xtile.dialects import core
from xtile.dialects.triton.tt.enumerations import MemSemantic, MemSyncScope


class Ordering(NamedTuple):
    """What an access orders, and for whom."""

    semantic: MemSemantic
    scope: MemSyncScope


RELAXED = Ordering(MemSemantic.RELAXED, MemSyncScope.GPU)
"""That of atomic updates that name none."""

_SEMANTICS = {
    core.MemoryOrder.RELAXED: MemSemantic.RELAXED,
    core.MemoryOrder.ACQUIRE: MemSemantic.ACQUIRE,
    core.MemoryOrder.RELEASE: MemSemantic.RELEASE,
    core.MemoryOrder.ACQUIRE_RELEASE: MemSemantic.ACQ_REL,
}
_SCOPES = {
    core.MemoryScope.BLOCK: MemSyncScope.CTA,
    core.MemoryScope.DEVICE: MemSyncScope.GPU,
    core.MemoryScope.SYSTEM: MemSyncScope.SYS,
}


def ordering_of(
    operation: core.AtomicCompareAndSwapOp
    | core.AtomicRMWOp
    | core.GatherLoadOp
    | core.ScatterStoreOp,
) -> Ordering | None:
    """What an access of the source says of it; None if it is not atomic."""
    if operation.order is None or operation.scope is None:
        return None
    return Ordering(_SEMANTICS[operation.order.data], _SCOPES[operation.scope.data])
