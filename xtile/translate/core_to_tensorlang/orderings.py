"""The words of the tensor language for what an atomic access orders, and for whom."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation

from xtile.dialects.core import attributes
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.tensorlang.attributes import MemoryScope, MemorySemantics


class Modifiers(NamedTuple):
    """The modifiers of an atomic instruction."""

    scope: MemoryScope | None = None
    semantics: MemorySemantics | None = None

    @property
    def releases(self) -> bool:
        """Whether the accesses before it come before it."""
        return self.semantics in (MemorySemantics.RELEASE, MemorySemantics.ACQUIRE_RELEASE)


_SCOPES = {
    attributes.MemoryScope.BLOCK: MemoryScope.WORK_GROUP,
    attributes.MemoryScope.DEVICE: MemoryScope.DEVICE,
    attributes.MemoryScope.SYSTEM: MemoryScope.CROSS_DEVICE,
}

_SEMANTICS = {
    attributes.MemoryOrder.RELAXED: MemorySemantics.RELAXED,
    attributes.MemoryOrder.ACQUIRE: MemorySemantics.ACQUIRE,
    attributes.MemoryOrder.RELEASE: MemorySemantics.RELEASE,
    attributes.MemoryOrder.ACQUIRE_RELEASE: MemorySemantics.ACQUIRE_RELEASE,
}


def modifiers(ordering: Ordering) -> Modifiers:
    """The modifiers that say what is ordered."""
    return Modifiers(_SCOPES[ordering.scope], _SEMANTICS[ordering.order])


def said_modifiers(operation: Operation, otherwise: MemoryScope | None = None) -> Modifiers:
    """The modifiers of an update that may say nothing; then only a scope, if any."""
    ordering = ordering_of(operation)
    return Modifiers(otherwise) if ordering == RELAXED else modifiers(ordering)
