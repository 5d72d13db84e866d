"""The `linalg` dialect in upstream's syntax, on memrefs and on tensors.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.linalg.dialect import Linalg

__all__ = ["Linalg"]


def __getattr__(name: str) -> object:
    """Imports the whole dialect when it is first asked for; its modules load without it."""
    if name != "Linalg":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from xtile.dialects.linalg.dialect import Linalg

    return Linalg
