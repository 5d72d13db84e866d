"""The `scf` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xdsl.dialects.scf import (
    ConditionOp,
    ReduceReturnOp,
    YieldOp,
)

from xtile.dialects.scf.branches import (
    ExecuteRegionOp,
    IfOp,
    IndexSwitchOp,
)
from xtile.dialects.scf.loops import (
    ForOp,
    ParallelOp,
    ReduceOp,
    WhileOp,
)

__all__ = [
    "ConditionOp",
    "ExecuteRegionOp",
    "ForOp",
    "IfOp",
    "IndexSwitchOp",
    "ParallelOp",
    "ReduceOp",
    "ReduceReturnOp",
    "WhileOp",
    "YieldOp",
]
