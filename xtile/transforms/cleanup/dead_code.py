"""Removes operations whose results nobody uses."""

from __future__ import annotations

from xdsl.ir import Block, Operation

from xtile.transforms.cleanup.effects import is_removable


def remove_dead_code(operation: Operation) -> None:
    """Removes what is dead inside of an operation, from the last to the first."""
    for region in operation.regions:
        for block in region.blocks:
            _clean_block(block)


def _clean_block(block: Block) -> None:
    for operation in reversed(list(block.ops)):
        is_used = any(result.uses for result in operation.results)
        if operation.results and not is_used and is_removable(operation):
            operation.detach()
            operation.erase()
            continue
        remove_dead_code(operation)
