"""The `affine` dialect in upstream's syntax: loops, accesses and branches by affine maps and sets.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td` and `AffineOps.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.affine.ops import Affine

__all__ = ["Affine"]

__getattr__ = loaded_when_asked_for("xtile.dialects.affine.ops", "Affine")
