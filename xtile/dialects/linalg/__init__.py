"""The `linalg` dialect in upstream's syntax, on memrefs and on tensors.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Linalg/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.linalg.ops import Linalg

__all__ = ["Linalg"]

__getattr__ = loaded_when_asked_for("xtile.dialects.linalg.ops", "Linalg")
