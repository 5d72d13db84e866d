"""The `affine` dialect in upstream's syntax: loops, accesses and branches by affine maps and sets.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td` and `AffineOps.cpp`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.affine.dialect import Affine

__all__ = ["Affine"]


def __getattr__(name: str) -> object:
    """Imports the whole dialect when it is first asked for; its modules load without it."""
    if name != "Affine":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from xtile.dialects.affine.dialect import Affine

    return Affine
