"""What an atomic access orders beside the elements that it accesses, and for whom.

Operations that core form takes from upstream, and those of XeGPU, have no words for it: they say it
with attributes of the `core` dialect that any tool keeps (docs/core-form.md, "Atomic updates").
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple, TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.core.attributes import (
    MEMORY_ORDER_ATTRIBUTE,
    MEMORY_SCOPE_ATTRIBUTE,
    MemoryOrder,
    MemoryOrderAttr,
    MemoryScope,
    MemoryScopeAttr,
)
from xtile.dialects.tensorlang import attributes as tensorlang

_ORDERS = {
    "relaxed": MemoryOrder.RELAXED,
    "acquire": MemoryOrder.ACQUIRE,
    "release": MemoryOrder.RELEASE,
    "acq_rel": MemoryOrder.ACQUIRE_RELEASE,
    "acquire_release": MemoryOrder.ACQUIRE_RELEASE,
    "sequentially_consistent": MemoryOrder.ACQUIRE_RELEASE,
}
"""The order that each word stands for, of the tensor language, CUDA Tile IR and Triton."""

_SCOPES = {
    "cta": MemoryScope.BLOCK,
    "tl_blk": MemoryScope.BLOCK,
    "work_group": MemoryScope.BLOCK,
    "subgroup": MemoryScope.BLOCK,
    "device": MemoryScope.DEVICE,
    "gpu": MemoryScope.DEVICE,
    "cross_device": MemoryScope.SYSTEM,
    "sys": MemoryScope.SYSTEM,
}
"""The scope that each word stands for."""

_OrderT = TypeVar("_OrderT", bound=Enum)
_ScopeT = TypeVar("_ScopeT", bound=Enum)


class Ordering(NamedTuple):
    """What an atomic access orders, and for whom."""

    order: MemoryOrder = MemoryOrder.RELAXED
    scope: MemoryScope = MemoryScope.DEVICE

    @classmethod
    def said(cls, order: Enum, scope: Enum) -> Ordering:
        """What two words of a language say, which are members of its enumerations."""
        return cls(_ORDERS[order.name.lower()], _SCOPES[scope.name.lower()])

    def words(self, orders: type[_OrderT], scopes: type[_ScopeT]) -> tuple[_OrderT, _ScopeT]:
        """The words of a language that say it: the first such members of its enumerations."""
        return (
            next(word for word in orders if _ORDERS.get(word.name.lower()) is self.order),
            next(word for word in scopes if _SCOPES.get(word.name.lower()) is self.scope),
        )

    @property
    def acquires(self) -> bool:
        """Whether the accesses after it come after it."""
        return self.order in (MemoryOrder.ACQUIRE, MemoryOrder.ACQUIRE_RELEASE)

    @property
    def releases(self) -> bool:
        """Whether the accesses before it come before it."""
        return self.order in (MemoryOrder.RELEASE, MemoryOrder.ACQUIRE_RELEASE)

    @property
    def has_wide_scope(self) -> bool:
        """Whether the scope has other work-groups in it."""
        return self.scope is not MemoryScope.BLOCK

    @property
    def attributes(self) -> dict[str, Attribute]:
        """What says it of an operation that has no words for it; nothing of `relaxed device`."""
        said: dict[str, Attribute] = {}
        if self.order is not RELAXED.order:
            said[MEMORY_ORDER_ATTRIBUTE] = StringAttr(self.order.value)
        if self.scope is not RELAXED.scope:
            said[MEMORY_SCOPE_ATTRIBUTE] = StringAttr(self.scope.value)
        return said

    @property
    def properties(self) -> dict[str, Attribute]:
        """The properties that say it of the atomic updates of the `core` dialect."""
        return {"order": MemoryOrderAttr(self.order), "scope": MemoryScopeAttr(self.scope)}


RELAXED = Ordering()
"""That of operations that say nothing of it."""


def ordering_of(operation: Operation) -> Ordering:
    """What an access orders; `relaxed device` if it says nothing, as one that is not atomic.

    Raises:
        VerifyException: An attribute has a word that is none.
    """
    properties = operation.properties
    match properties.get("order"), properties.get("scope"):
        case MemoryOrderAttr(data=order), MemoryScopeAttr(data=scope):
            return Ordering(order, scope)
        case _:
            pass
    semantics = properties.get("semantics")
    if isinstance(semantics, tensorlang.MemorySemanticsAttr):
        given = properties.get("scope")
        is_said = isinstance(given, tensorlang.MemoryScopeAttr)
        scope = given.data if is_said else tensorlang.MemoryScope.WORK_GROUP
        return Ordering.said(semantics.data, scope)
    attributes = operation.attributes
    if MEMORY_ORDER_ATTRIBUTE not in attributes and MEMORY_SCOPE_ATTRIBUTE not in attributes:
        return RELAXED
    order = _word(operation, MEMORY_ORDER_ATTRIBUTE, tuple(MemoryOrder), RELAXED.order)
    scope = _word(operation, MEMORY_SCOPE_ATTRIBUTE, tuple(MemoryScope), RELAXED.scope)
    return Ordering(MemoryOrder(order), MemoryScope(scope))


def _word(operation: Operation, name: str, words: tuple[str, ...], otherwise: str) -> str:
    attribute = operation.attributes.get(name)
    if attribute is None:
        return otherwise
    if not isinstance(attribute, StringAttr) or attribute.data not in words:
        expected = ", ".join(f'"{word}"' for word in words)
        raise VerifyException(f"{name} is {attribute}; expected one of {expected}")
    return attribute.data
