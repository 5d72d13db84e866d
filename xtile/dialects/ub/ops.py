"""The `ub` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xdsl.dialects.ub import UnreachableOp

from xtile.dialects.ub import PoisonOp

__all__ = ["PoisonOp", "UnreachableOp"]
