"""The `xegpu` dialect: Intel GPU's tensor descriptors, block loads and matrix products.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR`. What only its RFC has is in `rfc`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.xegpu.dialect import XeGPU

__all__ = ["XeGPU"]


def __getattr__(name: str) -> object:
    """Imports the whole dialect when it is first asked for; its modules load without it."""
    if name != "XeGPU":
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from xtile.dialects.xegpu.dialect import XeGPU

    return XeGPU
