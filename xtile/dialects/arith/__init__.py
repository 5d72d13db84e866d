"""The `arith` dialect, with what xDSL's lacks: vectors, flags and rounding modes.

Operations that xDSL's classes hold are xDSL's own; `extensions.py` says which, and what LLVM says
of them beside.

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
