"""How accesses are ordered by attributes and tokens, and what an observer learns of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import MemoryOrderingSemantics, MemoryScope
from xtile.semantics.compiler import Compiler
from xtile.semantics.observer import AccessKind
from xtile.semantics.ordering import NOTHING, Order
from xtile.semantics.positions import Position, tell
from xtile.semantics.state import State
from xtile.semantics.storage import Storage
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.values import Array


class Ordering:
    """How an operation's access is ordered: its attributes and tokens."""

    def __init__(self, operation: Operation, compiler: Compiler) -> None:
        """Compiles what says how an operation with an optional `token` is ordered."""
        given: Any = operation
        self._operation = operation
        self._semantics = word_attribute(
            operation, "memory_ordering_semantics", tuple(MemoryOrderingSemantics)
        )
        self._scope = word_attribute(operation, "memory_scope", tuple(MemoryScope))
        self._token = None if given.token is None else compiler.slot(given.token)
        self._result = compiler.slot(given.result_token)

    def observe(
        self,
        state: State,
        kind: AccessKind,
        positions: Sequence[Position],
        storage: Storage,
        values: Array | None = None,
    ) -> None:
        """Tells the observer of an access, and sets the token that comes after it.

        Args:
            state: What runs.
            kind: A read, write or update; whether it is atomic follows from the operation.
            positions: What is accessed.
            storage: How elements lie in memory.
            values: What is written, indexed as the positions say; None if it is not known yet. Of
                an update, what it stores where it does.
        """
        observer = state.observer
        if observer is None:
            state.values[self._result] = None
            return
        token = NOTHING if self._token is None else state.values[self._token]
        order = Order(token, self._semantics, self._scope)
        state.values[self._result] = tell(
            self._operation, observer, kind, positions, storage, values, order
        )
