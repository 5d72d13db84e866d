"""Every operation of CUDA Tile IR has a meaning, or none of its own."""

from __future__ import annotations

from xdsl.traits import IsTerminator

from xtile.dialects.cuda_tile.dialect import OPERATIONS
from xtile.semantics.cuda_tile.table import HANDLERS

DECLARATIONS = {"cuda_tile.entry", "cuda_tile.global", "cuda_tile.module"}
"""What is launched, and what others refer to."""


def test_every_operation_has_a_meaning() -> None:
    """The operation around a terminator takes what it passes on."""
    executed = {each.name for each in OPERATIONS if not each.has_trait(IsTerminator)}
    assert executed - DECLARATIONS == set(HANDLERS)
