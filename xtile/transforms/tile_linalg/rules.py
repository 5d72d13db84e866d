"""What each operation of a block-level kernel becomes."""

from __future__ import annotations

from xdsl.dialects import scf
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
from xtile.transforms.tile_linalg import elementwise, products, reductions
from xtile.transforms.tile_linalg.kernel import Kernel, KernelRule


def rule_of(operation: Operation) -> KernelRule:
    """The rule of an operation; one that has none is copied."""
    return _RULES.get(operation.name, copy)


def copy(operation: Operation, kernel: Kernel) -> None:
    """The operation stays what it is; the values are the whole work-group's."""
    if operation.name in _OF_WORK_ITEMS:
        raise kernel.error(not_lifted(operation))
    if operation.regions and not isinstance(operation, scf.ForOp | scf.IfOp):
        raise kernel.error(f"{operation.name} cannot become code on tiles; use scf.for or scf.if")
    regions = [
        kernel.translate_into(region, kernel.new_block(block, [arg.type for arg in block.args]))
        if (block := region.blocks.first) is not None
        else region.clone()
        for region in operation.regions
    ]
    kernel.replace(
        operation,
        type(operation).create(
            operands=kernel.values(operation.operands),
            result_types=[result.type for result in operation.results],
            properties=operation.properties.copy(),
            attributes=operation.attributes.copy(),
            regions=regions,
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
}
"""The rule of each operation that does not stay what it is, by the operation's name."""
