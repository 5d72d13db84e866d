"""The order of blocks, and the edges between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from xdsl.ir import Block, Region, SSAValue

from xtile.dialects.spirv.arguments import Target
from xtile.dialects.spirv.instruction import Instruction


@dataclass(frozen=True, slots=True)
class Edge:
    """A branch to a block, and what the block's arguments become."""

    target: Block
    values: tuple[SSAValue, ...]


def edges_of(block: Block) -> Iterator[Edge]:
    """The branches at the end of a block, in the order of its terminator's arguments."""
    terminator = block.last_op
    if not isinstance(terminator, Instruction):
        return
    values = iter(terminator.values)
    successors = iter(terminator.successors)
    for argument in terminator.arguments:
        if argument is None:
            next(values, None)
        elif isinstance(argument, Target):
            forwarded = tuple(islice(values, argument.forwarded))
            yield Edge(next(successors), forwarded)


def ordered_blocks(region: Region) -> list[Block]:
    """The blocks of a region so that each stands after those that dominate it.

    Source: SPIR-V specification, section 2.16.1: a block stands after its dominators. Reverse
    postorder does that; of two successors the first one comes first. Blocks that are never reached
    come last.
    """
    blocks = list(region.blocks)
    if len(blocks) <= 1:
        return blocks
    finished: list[Block] = []
    seen = {blocks[0]}
    waiting = [(blocks[0], _successors(blocks[0]))]
    while waiting:
        block, successors = waiting[-1]
        following = next((successor for successor in successors if successor not in seen), None)
        if following is None:
            finished.append(block)
            waiting.pop()
        else:
            seen.add(following)
            waiting.append((following, _successors(following)))
    finished.reverse()
    return finished + [block for block in blocks if block not in seen]


def _successors(block: Block) -> Iterator[Block]:
    terminator = block.last_op
    return iter(() if terminator is None else tuple(terminator.successors)[::-1])
