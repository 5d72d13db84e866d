"""The `gpu` dialect in upstream's syntax.

Source: MLIR (LLVM 22), `Dialect/GPU/IR`.
"""

from xdsl.ir import Dialect

from xtile.dialects.gpu import (
    attributes,
    functions,
    indices,
    launch,
    launch_func,
    matrices,
    memory,
    modules,
    objects,
    subgroups,
    warp,
)
from xtile.dialects.gpu.types import TYPES

GPU = Dialect(
    "gpu",
    [
        *functions.OPERATIONS,
        *indices.OPERATIONS,
        *launch.OPERATIONS,
        *launch_func.OPERATIONS,
        *matrices.OPERATIONS,
        *memory.OPERATIONS,
        *modules.OPERATIONS,
        *subgroups.OPERATIONS,
        *warp.OPERATIONS,
    ],
    [*attributes.ATTRIBUTES, *objects.ATTRIBUTES, *TYPES],
)

__all__ = ["GPU"]
