"""The `gpu` dialect in upstream's syntax.

Source: MLIR (LLVM 22), `Dialect/GPU/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.gpu.ops import GPU

__all__ = ["GPU"]

__getattr__ = loaded_when_asked_for("xtile.dialects.gpu.ops", "GPU")
