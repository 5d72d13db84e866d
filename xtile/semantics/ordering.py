"""What comes before an access to memory, where the program's order says nothing about it.

In CUDA Tile IR, accesses of a tile block are ordered by tokens only. A token is the set of accesses
that come before whatever takes it. Accesses are numbered in each tile block, and tile blocks in the
launch.

Source: CUDA Tile IR specification, "Memory Model"; NVIDIA/cuda-tile 13.3.0, `Types.td` (`token`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Token:
    """A set of accesses.

    Attributes:
        own: Those of the tile block itself: bit n stands for access n.
        others: Those of other tile blocks, by the block's number; they are known from what an
            access with `acquire` read.
    """

    own: int = 0
    others: Mapping[int, int] = field(default_factory=dict[int, int])

    def joined(self, other: Token) -> Token:
        """The accesses of both."""
        return Token(self.own | other.own, _joined(self.others, other.others))

    def with_access(self, number: int) -> Token:
        """These accesses and one more of the tile block."""
        return Token(self.own | 1 << number, self.others)

    def with_others(self, others: Mapping[int, int]) -> Token:
        """These accesses and some of other tile blocks."""
        return Token(self.own, _joined(self.others, others))

    def has(self, number: int, block: int, own_block: int) -> bool:
        """Whether an access of a block is in the set of a token of `own_block`."""
        accesses = self.own if block == own_block else self.others.get(block, 0)
        return accesses >> number & 1 == 1


def _joined(first: Mapping[int, int], second: Mapping[int, int]) -> Mapping[int, int]:
    if not second:
        return first
    return {**first, **{block: first.get(block, 0) | bits for block, bits in second.items()}}


NOTHING = Token()
"""What comes after nothing."""

_WIDE_SCOPES = ("device", "sys")


@dataclass(frozen=True, slots=True)
class Order:
    """How an access is ordered.

    Attributes:
        token: What comes before it.
        semantics: `weak`, `relaxed`, `acquire`, `release` or `acq_rel`.
        scope: `tl_blk`, `device` or `sys`; empty for `weak`.
        actor: What messages call a work-group.
    """

    token: Token = NOTHING
    semantics: str = "weak"
    scope: str = ""
    actor: str = "tile block"

    @property
    def is_strong(self) -> bool:
        """Whether there may be concurrent accesses within its scope."""
        return self.semantics != "weak"

    @property
    def acquires(self) -> bool:
        """Whether what a release comes after comes before this, if it reads what that wrote."""
        return self.semantics in ("acquire", "acq_rel")

    @property
    def releases(self) -> bool:
        """Whether others can learn from it what came before."""
        return self.semantics in ("release", "acq_rel")

    @property
    def has_wide_scope(self) -> bool:
        """Whether the scope has other tile blocks in it."""
        return self.scope in _WIDE_SCOPES
