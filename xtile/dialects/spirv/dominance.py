"""Which blocks every path to a block goes through.

Source: K. D. Cooper, T. J. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm.
"""

from __future__ import annotations

from xdsl.ir import Block, Region

from xtile.dialects.spirv.control_flow import edges_of, ordered_blocks


class Dominators:
    """The dominators of a region's blocks.

    Args:
        region: The region, whose first block is the entry.
    """

    def __init__(self, region: Region) -> None:
        blocks = ordered_blocks(region)
        self._numbers = {block: number for number, block in enumerate(blocks)}
        self._immediate: list[int | None] = [None] * len(blocks)
        if blocks:
            self._immediate[0] = 0
            self._solve(blocks)

    def is_reached(self, block: Block) -> bool:
        """Whether any path leads to a block."""
        return self._immediate[self._numbers[block]] is not None

    def dominates(self, block: Block, other: Block) -> bool:
        """Whether every path to `other`, which is reached, goes through `block`."""
        wanted, current = self._numbers[block], self._numbers[other]
        while current > wanted:
            above = self._immediate[current]
            assert above is not None
            current = above
        return current == wanted

    def _solve(self, blocks: list[Block]) -> None:
        before: list[list[int]] = [[] for _ in blocks]
        for number, block in enumerate(blocks):
            for edge in edges_of(block):
                before[self._numbers[edge.target]].append(number)
        has_changed = True
        while has_changed:
            has_changed = False
            for number in range(1, len(blocks)):
                known = [other for other in before[number] if self._immediate[other] is not None]
                if not known:
                    continue
                found = known[0]
                for other in known[1:]:
                    found = self._common(found, other)
                if self._immediate[number] != found:
                    self._immediate[number] = found
                    has_changed = True

    def _common(self, one: int, other: int) -> int:
        """The nearest block that dominates both."""
        while one != other:
            if one < other:
                one, other = other, one
            above = self._immediate[one]
            assert above is not None
            one = above
        return one
