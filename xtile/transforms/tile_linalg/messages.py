"""What is said of code that cannot be written with tiles."""

from __future__ import annotations

from xdsl.ir import Operation

OF_WORK_ITEMS = frozenset(
    {
        "gpu.barrier",
        "gpu.block_dim",
        "gpu.lane_id",
        "gpu.num_subgroups",
        "gpu.shuffle",
        "gpu.subgroup_id",
        "gpu.subgroup_reduce",
        "gpu.subgroup_size",
        "gpu.thread_id",
        "core.subgroup_scan",
        "core.fragment_extract",
        "core.fragment_insert",
    }
)
"""Operations that tell work-items apart or let them wait for each other."""


def not_lifted(operation: Operation) -> str:
    """The message for an operation of work-items or subgroups."""
    return (
        f"subgroup-level kernels are not lifted to tiles yet; {operation.name} tells work-items "
        "apart, use collective instructions and foreach instead"
    )
