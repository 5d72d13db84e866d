"""The `arith` dialect, with what xDSL's lacks: vectors, flags and rounding modes.

Operations that xDSL's classes hold are xDSL's own; `extensions.py` says which, and what LLVM says
of them beside.

Source: MLIR (LLVM 22), `Dialect/Arith/IR`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.arith.ops import Arith

__all__ = ["Arith"]

__getattr__ = loaded_when_asked_for("xtile.dialects.arith.ops", "Arith")
