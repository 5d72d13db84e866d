"""The `xegpu` dialect: Intel GPU's tensor descriptors, block loads and matrix products.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR`. What only its RFC has is in `rfc`.
"""

from xdsl.ir import Dialect

from xtile.dialects.xegpu import attributes, layout, types
from xtile.dialects.xegpu.ops import OPERATIONS
from xtile.dialects.xegpu.rfc import attributes as rfc_attributes
from xtile.dialects.xegpu.rfc import operations as rfc_operations

XeGPU = Dialect(
    "xegpu",
    [*OPERATIONS, *rfc_operations.OPERATIONS],
    [*types.TYPES, *attributes.ATTRIBUTES, *layout.ATTRIBUTES, *rfc_attributes.ATTRIBUTES],
)

__all__ = ["XeGPU"]
