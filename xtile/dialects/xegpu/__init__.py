"""The `xegpu` dialect: Intel GPU's tensor descriptors, block loads and matrix products.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR`. What only its RFC has is in `rfc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import loaded_when_asked_for

if TYPE_CHECKING:
    from xtile.dialects.xegpu.dialect import XeGPU

__all__ = ["XeGPU"]

__getattr__ = loaded_when_asked_for("xtile.dialects.xegpu.dialect", "XeGPU")
