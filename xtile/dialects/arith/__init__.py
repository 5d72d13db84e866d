"""The `arith` dialect, with what xDSL's lacks: vectors, flags and rounding modes.

Operations that xDSL has are xDSL's or derived from them, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Arith/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.arith.dialect import Arith

__all__ = ["Arith"]


def __getattr__(name: str) -> object:
    """Imports the whole dialect when it is first asked for; its modules load without it."""
    if name != "Arith":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from xtile.dialects.arith.dialect import Arith

    return Arith
