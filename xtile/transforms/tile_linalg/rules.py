"""What each operation of a block-level kernel becomes."""

from __future__ import annotations

from xdsl.dialects import memref, scf
from xdsl.dialects.arith import ConstantOp
from xdsl.ir import Operation

from xtile.dialects.core.blas import AxpbyOp, CumsumOp, GemmOp, GemvOp, GerOp, HadamardOp, SumOp
from xtile.dialects.core.subgroup import ParallelOp
from xtile.dialects.gpu.indices import dimension_number
from xtile.rewrite.rebuilder import Rule, RuleTable
from xtile.transforms.tile_linalg import elementwise, local_memory, products, reductions
from xtile.transforms.tile_linalg.copying import constant, copy
from xtile.transforms.tile_linalg.kernel import Kernel


def _alloca(operation: memref.AllocaOp, kernel: Kernel) -> None:
    if operation.memref in kernel.local.candidates:
        kernel.local.held[operation.memref] = None
    else:
        copy(operation, kernel)


def _of_memory(operation: memref.LoadOp | memref.StoreOp | memref.DimOp, kernel: Kernel) -> None:
    """Local memory that is a tile is accessed as one."""
    memory = operation.source if isinstance(operation, memref.DimOp) else operation.memref
    if memory not in kernel.local.held:
        copy(operation, kernel)
    elif isinstance(operation, memref.LoadOp):
        local_memory.load(operation, kernel)
    elif isinstance(operation, memref.StoreOp):
        local_memory.store(operation, kernel)
    else:
        local_memory.size(operation, kernel)


def _subview(operation: memref.SubviewOp, kernel: Kernel) -> None:
    """A view of local memory that is a tile is a part of the tile."""
    if kernel.local.root_of(operation.result) is None:
        copy(operation, kernel)


def _size_of_work_group(operation: Operation, kernel: Kernel) -> None:
    """How many work-items and subgroups there are is known."""
    group = kernel.work_group()
    if operation.name == "gpu.block_dim":
        number = group.block[dimension_number(operation)]
    else:
        number = group.subgroups if operation.name == "gpu.num_subgroups" else group.lanes
    kernel.define(operation.results[0], kernel.index(number))


def _barrier(operation: Operation, kernel: Kernel) -> None:
    """Collective code is executed once, in the order of the text."""


def _parallel(operation: ParallelOp, kernel: Kernel) -> None:
    from xtile.transforms.tile_linalg.foreach.rules import parallel

    parallel(operation, kernel)


_ROWS: dict[str, Rule] = {
    AxpbyOp.name: elementwise.axpby,
    ConstantOp.name: constant,
    CumsumOp.name: reductions.cumsum,
    GemmOp.name: products.gemm,
    GemvOp.name: reductions.gemv,
    GerOp.name: elementwise.ger,
    HadamardOp.name: elementwise.hadamard,
    ParallelOp.name: _parallel,
    SumOp.name: reductions.sum_,
    "gpu.barrier": _barrier,
    "gpu.block_dim": _size_of_work_group,
    "gpu.num_subgroups": _size_of_work_group,
    "gpu.subgroup_size": _size_of_work_group,
    memref.AllocaOp.name: _alloca,
    memref.DimOp.name: _of_memory,
    memref.LoadOp.name: _of_memory,
    memref.StoreOp.name: _of_memory,
    memref.SubviewOp.name: _subview,
    scf.ForOp.name: local_memory.loop,
    scf.IfOp.name: local_memory.branch,
}
"""The rule of each operation that does not stay what it is, by the operation's name."""

RULES = RuleTable(_ROWS, otherwise=copy)
"""What becomes of each operation."""
