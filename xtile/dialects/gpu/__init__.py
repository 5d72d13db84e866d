"""The `gpu` dialect in upstream's syntax.

Source: MLIR (LLVM 22), `Dialect/GPU/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.gpu.dialect import GPU

__all__ = ["GPU"]


def __getattr__(name: str) -> object:
    """Imports the whole dialect when it is first asked for; its modules load without it."""
    if name != "GPU":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from xtile.dialects.gpu.dialect import GPU

    return GPU
