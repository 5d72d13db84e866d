"""Named barriers and fences.

Source: MLIR (LLVM 22), `XeGPUOps.td`, `alloc_nbarrier`, `init_nbarrier`, `nbarrier_arrive`,
`nbarrier_wait` and `fence`.
"""

from __future__ import annotations

from abc import ABC

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation
from xdsl.irdl import operand_def, prop_def, result_def

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.attributes import FenceScope, FenceScopeAttr, MemorySpace, MemorySpaceAttr
from xtile.dialects.xegpu.constraints import I8, NBARRIER
from xtile.dialects.xegpu.operation import Operand, XeGPUOperation
from xtile.dialects.xegpu.types import NbarrierType


@op_definition
class AllocNbarrierOp(XeGPUOperation):
    """Allocates the named barriers of a work-group.

    ```
    xegpu.alloc_nbarrier 8
    ```
    """

    name = "xegpu.alloc_nbarrier"

    nbarrier_num = prop_def(IntegerAttr.constr(i64))

    assembly_format = "$nbarrier_num attr-dict"

    def __init__(self, nbarrier_num: int) -> None:
        super().__init__(properties={"nbarrier_num": IntegerAttr(nbarrier_num, i64)})


@op_definition
class InitNbarrierOp(XeGPUOperation):
    """Assigns a named barrier to this thread, with the number of threads that take part.

    ```
    %b = xegpu.init_nbarrier %id, %n : i8, i8 -> !xegpu.nbarrier
    ```
    """

    name = "xegpu.init_nbarrier"

    nbarrier_id = operand_def(I8)
    participant_thread_num = operand_def(I8)
    result = result_def(NBARRIER)

    assembly_format = (
        "$nbarrier_id `,` $participant_thread_num attr-dict `:` type($nbarrier_id) `,` "
        "type($participant_thread_num) `->` type($result)"
    )

    def __init__(self, nbarrier_id: Operand, participant_thread_num: Operand) -> None:
        super().__init__(
            operands=[nbarrier_id, participant_thread_num], result_types=[NbarrierType()]
        )


class NbarrierOperation(XeGPUOperation, ABC):
    """What a thread does at a named barrier."""

    nbarrier = operand_def(NBARRIER)

    assembly_format = "$nbarrier attr-dict `:` type($nbarrier)"

    def __init__(self, nbarrier: Operand) -> None:
        super().__init__(operands=[nbarrier])


@op_definition
class NbarrierArriveOp(NbarrierOperation):
    """Signals that this thread has come to a named barrier.

    ```
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    ```
    """

    name = "xegpu.nbarrier_arrive"


@op_definition
class NbarrierWaitOp(NbarrierOperation):
    """Waits until all threads have come to a named barrier.

    ```
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
    ```
    """

    name = "xegpu.nbarrier_wait"


@op_definition
class FenceOp(XeGPUOperation):
    """Orders the writes before it and the accesses after it.

    ```
    xegpu.fence memory_kind = global, fence_scope = workgroup
    ```
    """

    name = "xegpu.fence"

    memory_kind = prop_def(MemorySpaceAttr)
    fence_scope = prop_def(FenceScopeAttr)

    assembly_format = "`memory_kind` `=` $memory_kind `,` `fence_scope` `=` $fence_scope attr-dict"

    def __init__(self, memory_kind: MemorySpace, fence_scope: FenceScope) -> None:
        super().__init__(
            properties={
                "memory_kind": MemorySpaceAttr(memory_kind),
                "fence_scope": FenceScopeAttr(fence_scope),
            }
        )


OPERATIONS: list[type[Operation]] = [
    AllocNbarrierOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
    FenceOp,
]
"""Every operation of this module."""
