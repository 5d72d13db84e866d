"""The `affine` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xdsl.dialects.affine import (
    VectorLoadOp,
    VectorStoreOp,
    YieldOp,
)

from xtile.dialects.affine.control import (
    ForOp,
    IfOp,
    ParallelOp,
)
from xtile.dialects.affine.memory import (
    LoadOp,
    StoreOp,
)
from xtile.dialects.affine.numbers import (
    ApplyOp,
    MaxOp,
    MinOp,
)

__all__ = [
    "ApplyOp",
    "ForOp",
    "IfOp",
    "LoadOp",
    "MaxOp",
    "MinOp",
    "ParallelOp",
    "StoreOp",
    "VectorLoadOp",
    "VectorStoreOp",
    "YieldOp",
]
