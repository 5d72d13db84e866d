"""What an observer learns of a program's accesses to memory, which follow the program's text.

Source: Triton 3.9, `TritonAttrDefs.td` (`MemSemantic`, `MemSyncScope`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from xtile.dialects.triton.tt.enumerations import MemSemantic, MemSyncScope, keyword
from xtile.semantics.observer import AccessKind
from xtile.semantics.ordering import NOTHING, Order, Token
from xtile.semantics.positions import Position, tell
from xtile.semantics.state import State
from xtile.semantics.storage import Storage
from xtile.semantics.triton.tensors import integer_property
from xtile.semantics.values import Array

_SCOPES = {MemSyncScope.CTA: "tl_blk", MemSyncScope.GPU: "device", MemSyncScope.SYS: "sys"}
"""The scopes, as `Order` calls them."""


class Accesses:
    """The accesses of an operation."""

    def __init__(self, operation: Operation) -> None:
        self._operation = operation
        semantics = integer_property(operation, "sem")
        self._semantics = keyword(MemSemantic(semantics)) if semantics else "weak"
        scope = MemSyncScope(integer_property(operation, "scope", MemSyncScope.GPU))
        self._scope = _SCOPES[scope] if semantics else ""

    def tell(
        self,
        state: State,
        kind: AccessKind,
        positions: Sequence[Position],
        storage: Storage,
        values: Array | None = None,
    ) -> None:
        """Tells the observer, if there is one, of an access that is over when the operation is.

        Args:
            state: What runs.
            kind: A read, write or update; whether it is atomic follows from the operation.
            positions: What is accessed.
            storage: How elements lie in memory.
            values: What is written, indexed as the positions say.
        """
        token = self.begin(state, kind, positions, storage, values)
        state.before = state.before.joined(token)

    def begin(
        self,
        state: State,
        kind: AccessKind,
        positions: Sequence[Position],
        storage: Storage,
        values: Array | None = None,
    ) -> Token:
        """As `tell`, for an access that is over when something waits for it.

        Returns:
            What the program knows to come before, once it has waited.
        """
        if state.observer is None:
            return NOTHING
        order = Order(state.before, self._semantics, self._scope, "program")
        return tell(self._operation, state.observer, kind, positions, storage, values, order)
