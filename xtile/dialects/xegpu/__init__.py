"""The `xegpu` dialect: Intel GPU's tensor descriptors, block loads and matrix products.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR`.
"""

from xdsl.ir import Dialect

from xtile.dialects.xegpu import attributes, layout, types
from xtile.dialects.xegpu.ops import OPERATIONS

XeGPU = Dialect(
    "xegpu",
    [*OPERATIONS],
    [*types.TYPES, *attributes.ATTRIBUTES, *layout.ATTRIBUTES],
)

__all__ = ["XeGPU"]
