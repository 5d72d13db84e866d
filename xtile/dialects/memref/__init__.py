"""The `memref` dialect in upstream's syntax.

Operations that xDSL's classes hold are xDSL's own; `ops.py` says which, and what LLVM says
of them beside.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.memref.ops import MemRef

__all__ = ["MemRef"]

__getattr__ = loaded_when_asked_for("xtile.dialects.memref.ops", "MemRef")
