"""The `cf` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xdsl.dialects.cf import (
    AssertOp,
    SwitchOp,
)

from xtile.dialects.cf import (
    BranchOp,
    ConditionalBranchOp,
)

__all__ = [
    "AssertOp",
    "BranchOp",
    "ConditionalBranchOp",
    "SwitchOp",
]
