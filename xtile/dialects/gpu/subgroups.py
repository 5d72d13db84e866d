"""What the work-items of a block or a subgroup do together.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

from __future__ import annotations

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Waits for all work-items of the block.

    ```
    gpu.barrier
    ```
    """

    name = "gpu.barrier"

    assembly_format = "attr-dict"


OPERATIONS: list[type[Operation]] = [BarrierOp]
"""The operations of this module."""
