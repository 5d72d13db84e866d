"""The functions that MLIR's and IMEX's runtime libraries have, by name.

A program declares those that it calls: `func.func private @printMemrefF32(memref<*xf32>)`.
"""

from __future__ import annotations

from xtile.host.runtime import imex, mlir
from xtile.host.runtime.function import RuntimeFunction

FUNCTIONS: dict[str, RuntimeFunction] = {
    **imex.FUNCTIONS,
    **mlir.FUNCTIONS,
}
"""Each function of the runtime library, by name."""
