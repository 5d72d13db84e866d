"""The `gpu` dialect in upstream's syntax.

Source: MLIR (LLVM 22), `Dialect/GPU/IR`.
"""

from xdsl.ir import Dialect

from xtile.dialects.gpu import (
    attributes,
    functions,
    indices,
    launch,
    matrices,
    memory,
    objects,
    subgroups,
)
from xtile.dialects.gpu.types import TYPES

GPU = Dialect(
    "gpu",
    [
        *functions.OPERATIONS,
        *indices.OPERATIONS,
        *launch.OPERATIONS,
        *matrices.OPERATIONS,
        *memory.OPERATIONS,
        *subgroups.OPERATIONS,
    ],
    [*attributes.ATTRIBUTES, *objects.ATTRIBUTES, *TYPES],
)

__all__ = ["GPU"]
