"""The `func` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xdsl.dialects.func import (
    CallOp,
    ReturnOp,
)

from xtile.dialects.func import (
    CallIndirectOp,
    ConstantOp,
    FuncOp,
)

__all__ = [
    "CallIndirectOp",
    "CallOp",
    "ConstantOp",
    "FuncOp",
    "ReturnOp",
]
