"""Whether one work-item can do the work of a subgroup.

It can if all lanes do the same: their scalars are equal, so that the subgroup is what its matrices
and the numbers of one lane are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    MemRefType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core import MapOp
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.vector import MultiDimReductionOp
from xtile.transforms.facts import Facts, constant_of
from xtile.translate.core_to_vectors import kinds

Obstacle = tuple[Operation, str]
"""An operation, and why it keeps a work-item from doing a subgroup's work."""

_OF_LANES = frozenset(
    {
        "core.fragment_extract",
        "core.fragment_insert",
        "core.subgroup_scan",
        "gpu.all_reduce",
        "gpu.global_id",
        "gpu.printf",
        "gpu.rotate",
        "gpu.shuffle",
        "gpu.subgroup_broadcast",
        "gpu.subgroup_reduce",
        "gpu.thread_id",
    }
)
"""Operations by which the lanes of a subgroup differ, or that each of them does on its own."""

_UPDATES = frozenset({"core.atomic_update", "memref.atomic_rmw", "memref.generic_atomic_rmw"})
"""Operations that do as often what they do as there are lanes."""

_ON_MATRICES = frozenset(
    {
        "arith.constant",
        "core.atomic_update",
        "core.map",
        "scf.condition",
        "scf.for",
        "scf.if",
        "scf.while",
        "scf.yield",
        "vector.broadcast",
        "vector.contract",
        "vector.multi_reduction",
        "vector.shape_cast",
        "vector.transfer_read",
        "vector.transfer_write",
    }
)
"""Operations on matrices that have a rule, beside elementwise arithmetic."""

_MATMUL = (["d0", "d2"], ["d2", "d1"], ["d0", "d1"])


def find_obstacle(function: FuncOp, matrices: frozenset[SSAValue]) -> Obstacle | None:
    """The first reason why one work-item cannot do the work of a subgroup; None if it can.

    Args:
        function: The kernel.
        matrices: The vectors that belong to its subgroups.
    """
    if function.known_block_size is None:
        return function, "the kernel names no known_block_size"
    facts = Facts()
    for operation in function.walk():
        reason = _lane_problem(operation, facts) or _matrix_problem(operation, matrices)
        if reason is not None:
            return operation, reason
    return None


# --- lanes ---


def _lane_problem(operation: Operation, facts: Facts) -> str | None:
    """Why the lanes of a subgroup do not all do what an operation does."""
    if operation.name in _OF_LANES:
        return f"lanes differ by {operation.name}"
    if operation.name == "gpu.lane_id" and not _only_finds_first(operation.results[0], facts):
        return "lanes differ by gpu.lane_id"
    is_scalar = not any(isinstance(value.type, VectorType) for value in operation.operands)
    if operation.name in _UPDATES and is_scalar and not _is_done_once(operation, facts):
        return f"each lane does {operation.name} on its own"
    return None


def _only_finds_first(value: SSAValue, facts: Facts) -> bool:
    """Whether a lane's number is only asked for to let one lane do something for all."""
    return all(_is_guard_part(use.operation, facts) for use in value.uses)


def _is_guard_part(operation: Operation, facts: Facts) -> bool:
    """Whether an operation leads to conditions only that hold for the first lane at most."""
    if isinstance(operation, arith.CmpiOp):
        answer = operation.result
        return _is_of_first_lane(answer, facts) and all(
            _is_guard(use.operation) for use in answer.uses
        )
    if operation.name not in ("arith.addi", "arith.index_cast"):
        return False
    return _only_finds_first(operation.results[0], facts)


def _is_guard(operation: Operation) -> bool:
    """Whether an operation does something only where a condition holds."""
    if not isinstance(operation, scf.IfOp) or operation.results:
        return False
    otherwise = operation.false_region.blocks.first
    return otherwise is None or isinstance(otherwise.first_op, scf.YieldOp)


def _is_of_first_lane(condition: SSAValue, facts: Facts) -> bool:
    """Whether a condition holds for the first lane of a subgroup at most."""
    comparison = condition.owner
    if not isinstance(comparison, arith.CmpiOp) or comparison.predicate.value.data != 0:
        return False
    return constant_of(comparison.rhs) == 0 and _counts_lanes(comparison.lhs, facts)


def _counts_lanes(value: SSAValue, facts: Facts) -> bool:
    """Whether a number is a lane's, plus something that is not negative."""
    owner = value.owner
    if not isinstance(owner, Operation):
        return False
    if owner.name == "arith.index_cast":
        return _counts_lanes(owner.operands[0], facts)
    if owner.name == "arith.addi":
        a, b = owner.operands
        return any(
            _counts_lanes(x, facts) and facts.is_not_negative(y) for x, y in ((a, b), (b, a))
        )
    return owner.name == "gpu.lane_id"


def _is_done_once(operation: Operation, facts: Facts) -> bool:
    """Whether an operation is done by one lane of a subgroup, or once for each component."""
    for around in _around(operation):
        if isinstance(around, MapOp):
            return True
        is_guard = isinstance(around, scf.IfOp) and _is_guard(around)
        if is_guard and _is_of_first_lane(around.operands[0], facts):
            return True
    return False


def _around(operation: Operation) -> Iterator[Operation]:
    around = operation.parent_op()
    while around is not None:
        yield around
        around = around.parent_op()


# --- matrices ---


def _matrix_problem(operation: Operation, matrices: frozenset[SSAValue]) -> str | None:
    """Why an operation on matrices has no rule."""
    values = (*operation.operands, *operation.results)
    own = [cast("VectorType[Attribute]", value.type) for value in values if value in matrices]
    if not own:
        return None
    if operation.name not in _ON_MATRICES and not kinds.is_elementwise(operation):
        return f"{operation.name} takes no part in it"
    for type_ in own:
        if type_.get_num_dims() > 2 or math.prod(type_.get_shape()) == 0:
            return f"{type_} is no matrix"
    check = _CHECKS.get(operation.name)
    return None if check is None else check(operation)


def _constant_problem(operation: Operation) -> str | None:
    attribute = operation.properties["value"]
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return "the constant is not dense"
    different = set(map(repr, cast("tuple[float]", attribute.get_values())))
    return None if len(different) == 1 else "the components of a constant differ"


def _broadcast_problem(operation: Operation) -> str | None:
    is_matrix = isinstance(operation.operands[0].type, VectorType)
    return "only scalars are broadcast" if is_matrix else None


def _product_problem(operation: Operation) -> str | None:
    maps = cast("ArrayAttr[AffineMapAttr]", operation.properties["indexing_maps"])
    names = tuple([str(result) for result in attribute.data.results] for attribute in maps)
    sums = cast("VectorType[Attribute]", operation.operands[2].type).element_type
    if names != _MATMUL or "add" not in str(operation.properties["kind"]):
        return "it is not the product C := A B + C"
    return (
        f"sums of {sums} are no sums of a vector unit" if isinstance(sums, BFloat16Type) else None
    )


def _reduction_problem(operation: Operation) -> str | None:
    assert isinstance(operation, MultiDimReductionOp)
    dimensions = cast("tuple[int]", operation.reduction_dims.get_values())
    rank = cast("VectorType[Attribute]", operation.operands[0].type).get_num_dims()
    if rank != 2 or len(dimensions) != 1:
        return "a matrix is reduced along one of its two dimensions"
    return None


def _transfer_problem(operation: Operation) -> str | None:
    memory = kinds.memory_of(operation)
    indices = cast("MemRefType[Attribute]", memory.type).get_num_dims()
    map_ = cast("AffineMapAttr", operation.properties["permutation_map"]).data
    kept = [f"d{indices - 2}", f"d{indices - 1}"]
    if sorted(str(result) for result in map_.results) != kept:
        return "the matrix does not lie along the last two dimensions of the memory"
    has_mask = any(operand.type == i1 for operand in operation.operands)
    return "a transfer has a mask" if has_mask else None


_CHECKS = {
    "arith.constant": _constant_problem,
    "vector.broadcast": _broadcast_problem,
    "vector.contract": _product_problem,
    "vector.multi_reduction": _reduction_problem,
    "vector.transfer_read": _transfer_problem,
    "vector.transfer_write": _transfer_problem,
}
