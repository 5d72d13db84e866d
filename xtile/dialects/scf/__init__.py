"""The `scf` dialect in upstream's syntax.

Operations that xDSL's classes hold are xDSL's own; `extensions.py` says which, and what LLVM says
of them beside.

Source: MLIR (LLVM 22), `Dialect/SCF/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.scf.dialect import Scf

__all__ = ["Scf"]


def __getattr__(name: str) -> object:
    """Imports the whole dialect when it is first asked for; its modules load without it."""
    if name != "Scf":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from xtile.dialects.scf.dialect import Scf

    return Scf
