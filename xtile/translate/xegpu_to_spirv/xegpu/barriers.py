"""Fences, and what SPIR-V cannot say of named barriers.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `fence`, `nbarrier_arrive` and
`nbarrier_wait`; SPIR-V Specification, 3.52.20 "Barrier Instructions".
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation

from xtile.dialects.xegpu.attributes import FenceScope, MemorySpace
from xtile.dialects.xegpu.ops.barriers import (
    AllocNbarrierOp,
    FenceOp,
    InitNbarrierOp,
    NbarrierArriveOp,
    NbarrierWaitOp,
)
from xtile.dialects.xegpu.ops.convert_layout import ConvertLayoutOp
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.xegpu_to_spirv.gpu import (
    ACQUIRE_RELEASE,
    CROSS_WORKGROUP_MEMORY,
    DEVICE_SCOPE,
    WORKGROUP_MEMORY,
    WORKGROUP_SCOPE,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering

_SCOPES = {FenceScope.WORKGROUP: WORKGROUP_SCOPE, FenceScope.GPU: DEVICE_SCOPE}
_MEMORY = {MemorySpace.GLOBAL: CROSS_WORKGROUP_MEMORY, MemorySpace.SLM: WORKGROUP_MEMORY}


def _fence(operation: FenceOp, lowering: Lowering) -> None:
    scope = lowering.integer(_SCOPES[operation.fence_scope.data], i32)
    semantics = ACQUIRE_RELEASE | _MEMORY[operation.memory_kind.data]
    lowering.do("MemoryBarrier", scope, lowering.integer(semantics, i32))


def _nbarrier(operation: Operation, lowering: Lowering) -> None:
    raise lowering.error(
        f"{spelling_of(operation)} cannot be translated to SPIR-V: it has no barrier at which some "
        "subgroups arrive and others wait; use gpu.barrier"
    )


def _convert_layout(operation: ConvertLayoutOp, lowering: Lowering) -> None:
    """Code of one lane has its part of a vector already."""
    lowering.define(operation.result, lowering.meaning(operation.source))


RULES: dict[str, Rule] = {
    AllocNbarrierOp.name: _nbarrier,
    ConvertLayoutOp.name: _convert_layout,
    FenceOp.name: _fence,
    InitNbarrierOp.name: _nbarrier,
    NbarrierArriveOp.name: _nbarrier,
    NbarrierWaitOp.name: _nbarrier,
}
"""The rule of each operation, by name."""
