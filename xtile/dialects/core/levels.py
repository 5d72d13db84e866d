"""What the kernels of each level may hold (docs/core-form.md, "Levels")."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import LEVEL_ATTRIBUTE, Level, level_of
from xtile.dialects.core.blas import BlasOperation
from xtile.dialects.core.cooperative_matrix import is_on_cooperative_matrices
from xtile.dialects.core.subgroup import ParallelOp

Problem = tuple[Operation, str]
"""An operation, and what is wrong with it."""

_OF_WORK_ITEMS = frozenset(
    {
        "gpu.lane_id",
        "gpu.shuffle",
        "gpu.subgroup_id",
        "gpu.subgroup_reduce",
        "gpu.thread_id",
    }
)
"""Operations by which work-items differ."""


def find_problems(function: Operation) -> Iterator[Problem]:
    """Finds what a kernel holds that its level may not."""
    try:
        level = level_of(function)
    except ValueError:
        levels = ", ".join(f'"{level}"' for level in Level)
        yield function, f"{LEVEL_ATTRIBUTE} must be one of {levels}"
        return
    if level is None:
        return
    for operation in function.walk():
        if operation is function:
            continue
        problem = _CHECKS[level](operation)
        if problem is not None:
            yield operation, f"{problem}; the kernel is at level {level}"


def _check_block(operation: Operation) -> str | None:
    if isinstance(operation, BlasOperation):
        return (
            None if not _is_parallel(operation) else f"{operation.name} is work of all work-items"
        )
    if _is_parallel(operation):
        return None
    if is_on_cooperative_matrices(operation):
        return f"{operation.name} must stand in core.parallel, because matrices belong to subgroups"
    if operation.name in _OF_WORK_ITEMS:
        return f"{operation.name} must stand in core.parallel, where work-items act on their own"
    # A constant belongs to nobody.
    if operation.name != "arith.constant" and _holds_vectors(operation, 1):
        return f"{operation.name} must stand in core.parallel, because vectors belong to subgroups"
    return None


def _check_subgroup(operation: Operation) -> str | None:
    if isinstance(operation, BlasOperation | ParallelOp):
        return f"{operation.name} must be distributed first, with the pass core-distribute"
    return None


def _check_lane(operation: Operation) -> str | None:
    if operation.dialect_name() == "core" and not is_on_cooperative_matrices(operation):
        return f"{operation.name} must be lowered first"
    if _holds_vectors(operation, 2):
        return f"{operation.name} has a matrix, which belongs to a subgroup and not to a lane"
    return None


_CHECKS = {
    Level.BLOCK: _check_block,
    Level.SUBGROUP: _check_subgroup,
    Level.LANE: _check_lane,
}


def _is_parallel(operation: Operation) -> bool:
    """Whether an operation stands in a region that work-items execute on their own."""
    around = operation.parent_op()
    while around is not None and not isinstance(around, ParallelOp):
        around = around.parent_op()
    return around is not None


def _holds_vectors(operation: Operation, least_rank: int) -> bool:
    types = (*operation.operand_types, *operation.result_types)
    return any(isa(type_, VectorType) and type_.get_num_dims() >= least_rank for type_ in types)
