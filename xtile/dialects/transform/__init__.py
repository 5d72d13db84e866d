"""The `transform` dialect: xDSL's operations and those that schedules of XeGPU kernels use.

Only their text and their operands are described. Nothing here applies a schedule.

Source: MLIR (LLVM 22), `Dialect/Transform/IR/TransformOps.td`, `Dialect/Transform/DebugExtension`
and `Dialect/XeGPU/TransformOps/XeGPUTransformOps.td`.
"""

from xdsl.dialects.transform import Transform as XdslTransform
from xdsl.ir import Dialect, Operation

from xtile.dialects.transform import handles, xegpu

_OWN: list[type[Operation]] = [*handles.OPERATIONS, *xegpu.OPERATIONS]
_own_names = {operation.name for operation in _OWN}
_others = [operation for operation in XdslTransform.operations if operation.name not in _own_names]

Transform = Dialect(
    "transform",
    [
        *(operation for operation in XdslTransform.operations if operation.name not in _own_names),
        *_OWN,
    ],
    [*XdslTransform.attributes],
)

__all__ = ["Transform"]
