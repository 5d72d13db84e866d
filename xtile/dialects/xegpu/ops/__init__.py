"""The dialect's operations, one module for each family."""

from xdsl.ir import Operation

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
"""Every operation of the dialect."""
