"""Blocks that follow each other, each of which only one other goes on to, become one block."""

from __future__ import annotations

from xdsl.dialects.cf import BranchOp
from xdsl.ir import Block, Operation, Region


def join_blocks(operation: Operation) -> None:
    """Joins such blocks in all regions of an operation, which is changed."""
    for region in operation.regions:
        _join(region)
        for block in region.blocks:
            for inner in block.ops:
                join_blocks(inner)


def _join(region: Region) -> None:
    block: Block | None = region.blocks.first
    while block is not None:
        following = _only_following(block)
        if following is None:
            block = block.next_block
            continue
        branch = block.last_op
        assert branch is not None
        for argument, value in zip(following.args, branch.operands, strict=True):
            argument.replace_all_uses_with(value)
        block.erase_op(branch)
        for operation in list(following.ops):
            operation.detach()
            block.add_op(operation)
        region.erase_block(following)


def _only_following(block: Block) -> Block | None:
    """The block that one goes on to, and no other does; None if there is none."""
    last = block.last_op
    if not isinstance(last, BranchOp):
        return None
    (following,) = last.successors
    return following if following.predecessors() == (block,) and following is not block else None
