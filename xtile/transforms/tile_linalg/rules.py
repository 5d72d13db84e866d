"""What each operation of a block-level kernel becomes."""

from __future__ import annotations

from xdsl.dialects import memref, scf
from xdsl.ir import Operation

from xtile.dialects.core import (
    AxpbyOp,
    CumsumOp,
    GemmOp,
    GemvOp,
    GerOp,
    HadamardOp,
    ParallelOp,
    SumOp,
)
from xtile.transforms.tile_linalg import elementwise, local_memory, products, reductions
from xtile.transforms.tile_linalg.kernel import Kernel, KernelRule


def rule_of(operation: Operation) -> KernelRule:
    """The rule of an operation; one that has none is copied."""
    return _RULES.get(operation.name, copy)


def copy(operation: Operation, kernel: Kernel) -> None:
    """The operation stays what it is; the values are the whole work-group's."""
    if operation.name in _OF_WORK_ITEMS:
        raise kernel.error(not_lifted(operation))
    if operation.regions:
        raise kernel.error(f"{operation.name} cannot become code on tiles; use scf.for or scf.if")
    kernel.replace(
        operation,
        type(operation).create(
            operands=kernel.values(operation.operands),
            result_types=[result.type for result in operation.results],
            properties=operation.properties.copy(),
            attributes=operation.attributes.copy(),
        ),
    )


def not_lifted(operation: Operation) -> str:
    """The message for an operation of work-items or subgroups."""
    return (
        f"subgroup-level kernels are not lifted to tiles yet; {operation.name} tells work-items "
        "apart, use collective instructions and foreach instead"
    )


_OF_WORK_ITEMS = frozenset(
    {
        "gpu.barrier",
        "gpu.block_dim",
        "gpu.lane_id",
        "gpu.num_subgroups",
        "gpu.subgroup_id",
        "gpu.subgroup_size",
        "gpu.thread_id",
    }
)


def _alloca(operation: memref.AllocaOp, kernel: Kernel) -> None:
    if operation.memref in kernel.candidates:
        kernel.locals[operation.memref] = None
    else:
        copy(operation, kernel)


def _of_memory(operation: memref.LoadOp | memref.StoreOp | memref.DimOp, kernel: Kernel) -> None:
    """Local memory that is a tile is accessed as one."""
    memory = operation.source if isinstance(operation, memref.DimOp) else operation.memref
    if memory not in kernel.locals:
        copy(operation, kernel)
    elif isinstance(operation, memref.LoadOp):
        local_memory.load(operation, kernel)
    elif isinstance(operation, memref.StoreOp):
        local_memory.store(operation, kernel)
    else:
        local_memory.size(operation, kernel)


def _parallel(operation: ParallelOp, kernel: Kernel) -> None:
    inner = next((op for op in operation.walk() if op.name in _OF_WORK_ITEMS), operation)
    raise kernel.error(not_lifted(inner), inner)


_RULES: dict[str, KernelRule] = {
    AxpbyOp.name: elementwise.axpby,
    CumsumOp.name: reductions.cumsum,
    GemmOp.name: products.gemm,
    GemvOp.name: reductions.gemv,
    GerOp.name: elementwise.ger,
    HadamardOp.name: elementwise.hadamard,
    ParallelOp.name: _parallel,
    SumOp.name: reductions.sum_,
    memref.AllocaOp.name: _alloca,
    memref.DimOp.name: _of_memory,
    memref.LoadOp.name: _of_memory,
    memref.StoreOp.name: _of_memory,
    scf.ForOp.name: local_memory.loop,
    scf.IfOp.name: local_memory.branch,
}
"""The rule of each operation that does not stay what it is, by the operation's name."""
