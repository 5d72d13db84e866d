"""Removes operations whose results nobody uses."""

from __future__ import annotations

from xdsl.ir import Block

from xtile.dialects.effects import is_pure, only_reads


def remove_dead_code(block: Block) -> None:
    """Removes what is dead in a block, from the last operation to the first."""
    for operation in reversed(list(block.ops)):
        is_used = any(result.uses for result in operation.results)
        if not is_used and (is_pure(operation) or only_reads(operation)):
            operation.detach()
            operation.erase()
            continue
        for region in operation.regions:
            for inner in region.blocks:
                remove_dead_code(inner)
