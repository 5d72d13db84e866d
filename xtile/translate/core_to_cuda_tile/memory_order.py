"""The tokens that order accesses of memory, while a kernel is emitted."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import MemoryOrderingSemantics, MemoryScope
from xtile.dialects.cuda_tile.ops import memory
from xtile.dialects.cuda_tile.types import TokenType
from xtile.dialects.memory_orders import Ordering
from xtile.translate.core_to_cuda_tile.memory_plan import Effects, MemoryPlan
from xtile.translate.core_to_cuda_tile.tile_builder import TileBuilder


@dataclass(frozen=True)
class Chain:
    """What has been done to an alias set: memory whose accesses are ordered among each other.

    Attributes:
        written: The token of the last write; None if there was none.
        since: Those of the reads after it that writes must wait for.
    """

    written: SSAValue | None = None
    since: tuple[SSAValue, ...] = ()


State: TypeAlias = dict[Hashable, Chain]
Carried: TypeAlias = Sequence[tuple[Hashable, Effects]]
"""The alias sets whose tokens a loop or a branch hands on."""


class MemoryOrder:
    """The tokens of a kernel.

    Args:
        builder: Where to emit.
        plan: What must be ordered.
    """

    def __init__(self, builder: TileBuilder, plan: MemoryPlan) -> None:
        self._builder = builder
        self._plan = plan
        self._chains: State = {}

    def _chain(self, alias_set: Hashable) -> Chain:
        return self._chains.get(alias_set, Chain())

    # --- accesses ---

    def allocate(self, alias_set: Hashable) -> None:
        """Memory is new, so that nothing has been done to it."""
        self._chains[alias_set] = Chain()

    def before_read(self, alias_set: Hashable) -> SSAValue | None:
        """The token that a read waits for; None for memory that is only read.

        tileiras 13.5 moves a load without a token behind stores that wait for it, as if what it
        loads did never change.
        """
        written = self._chain(alias_set).written
        if written is None and self._plan.is_written(alias_set):
            return self._builder.pure(memory.MakeTokenOp)
        return written

    def after_read(self, read: Operation, alias_set: Hashable, token: SSAValue) -> None:
        """Records the token of a read of the source."""
        if self._plan.must_be_waited_for(read):
            chain = self._chain(alias_set)
            self._chains[alias_set] = replace(chain, since=(*chain.since, token))

    def before_write(self, alias_set: Hashable) -> SSAValue | None:
        """The token that a write waits for; None if it waits for nothing."""
        chain = self._chain(alias_set)
        return self.joined(chain.since) if chain.since else chain.written

    def after_write(self, alias_set: Hashable, token: SSAValue) -> None:
        """Records the token of a write."""
        self._chains[alias_set] = Chain(token)

    # --- control flow ---

    def carried(self, region: Operation) -> Carried:
        """The alias sets whose tokens a loop or a branch of the source hands on."""
        return list(self._plan.effects(region).items())

    def state(self) -> State:
        """What has been done so far."""
        return dict(self._chains)

    def restore(self, state: State) -> None:
        """Goes back to what had been done."""
        self._chains = dict(state)

    def tokens(self, carried: Carried) -> list[SSAValue]:
        """The tokens that are handed on, here."""
        return [self._token(self._chain(alias_set)) for alias_set, _ in carried]

    def _token(self, chain: Chain) -> SSAValue:
        if chain.since:
            return self.joined(chain.since)
        # Also where only reads follow: there may be none, and writes wait for this token alone.
        return self._builder.pure(memory.MakeTokenOp) if chain.written is None else chain.written

    def take(self, carried: Carried, tokens: Sequence[SSAValue]) -> None:
        """Records what was handed on."""
        for (alias_set, effects), token in zip(carried, tokens, strict=True):
            chain = self._chain(alias_set)
            self._chains[alias_set] = (
                Chain(token) if effects.writes else replace(chain, since=(token,))
            )

    def rewind(self, state: State, carried: Carried) -> None:
        """Goes back to what had been done to some alias sets."""
        for alias_set, _ in carried:
            self._chains[alias_set] = state.get(alias_set, Chain())

    def token_types(self, carried: Carried) -> list[Attribute]:
        """The types of the tokens that are handed on."""
        return [TokenType() for _ in carried]

    def joined(self, tokens: Sequence[SSAValue]) -> SSAValue:
        """A token behind several others."""
        different = list(dict.fromkeys(tokens))
        if len(different) == 1:
            return different[0]
        return self._builder.compute(memory.JoinTokensOp, different)


def said(how: Ordering | None) -> dict[str, Any]:
    """The arguments of an operation that say what it orders, and for whom; None: not atomic."""
    if how is None:
        return {"ordering": MemoryOrderingSemantics.WEAK, "scope": None}
    ordering, scope = how.words(MemoryOrderingSemantics, MemoryScope)
    return {"ordering": ordering, "scope": scope}
