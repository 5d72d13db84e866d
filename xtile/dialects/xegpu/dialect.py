"""The whole `xegpu` dialect, which loads every module of it."""

from xdsl.ir import Dialect, Operation

from xtile.dialects.xegpu import attributes, layout, types
from xtile.dialects.xegpu.ops import (
    atomics,
    barriers,
    block,
    convert_layout,
    descriptors,
    matrix,
    product,
    scattered,
)
from xtile.dialects.xegpu.rfc import descriptor as rfc_descriptor
from xtile.dialects.xegpu.rfc import operations as rfc_operations

OPERATIONS: list[type[Operation]] = [
    *descriptors.OPERATIONS,
    *block.OPERATIONS,
    *scattered.OPERATIONS,
    *atomics.OPERATIONS,
    *product.OPERATIONS,
    *convert_layout.OPERATIONS,
    *matrix.OPERATIONS,
    *barriers.OPERATIONS,
]
"""Every operation of LLVM 22's dialect; the RFC has further ones."""

XeGPU = Dialect(
    "xegpu",
    [*OPERATIONS, *rfc_operations.OPERATIONS],
    [*types.TYPES, *attributes.ATTRIBUTES, *layout.ATTRIBUTES, *rfc_descriptor.ATTRIBUTES],
)
