"""Removes operations whose results nobody uses."""

from __future__ import annotations

from xdsl.ir import Block, Operation
from xdsl.traits import NoMemoryEffect, Pure

_LOADS = frozenset({"cuda_tile.load_ptr_tko", "cuda_tile.load_view_tko"})


def remove_dead_code(block: Block) -> None:
    """Removes what is dead in a block, from the last operation to the first."""
    for operation in reversed(list(block.ops)):
        is_used = any(result.uses for result in operation.results)
        if operation.results and not is_used and _is_removable(operation):
            operation.detach()
            operation.erase()
            continue
        for region in operation.regions:
            for inner in region.blocks:
                remove_dead_code(inner)


def _is_removable(operation: Operation) -> bool:
    if operation.regions:
        return False
    name = operation.name
    return name in _LOADS or operation.has_trait(Pure) or operation.has_trait(NoMemoryEffect)
