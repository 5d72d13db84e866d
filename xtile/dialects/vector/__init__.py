"""The `vector` dialect in upstream's syntax.

Operations that xDSL's classes hold are xDSL's own; `ops.py` says which, and what LLVM says of them
beside.

Source: MLIR (LLVM 22), `Dialect/Vector/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.vector.ops import Vector

__all__ = ["Vector"]

__getattr__ = loaded_when_asked_for("xtile.dialects.vector.ops", "Vector")
