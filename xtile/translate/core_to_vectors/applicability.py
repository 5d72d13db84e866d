"""Whether one work-item can do the work of a subgroup.

It can if all lanes do the same: their scalars are equal, so that the subgroup is what its matrices
and the numbers of one lane are.
"""

from __future__ import annotations

import math
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    MemRefType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.affine_maps import dimensions_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.vector import ContractionOp, MultiDimReductionOp
from xtile.dialects.vector.attributes import ADD
from xtile.dialects.walk import walk
from xtile.rewrite.facts import Facts
from xtile.text.source import spelling_of
from xtile.translate.core_to_vectors import kinds
from xtile.translate.core_to_vectors.lanes import lane_problem
from xtile.translate.core_to_xegpu.contractions import MATMUL, iteration_maps

Obstacle = tuple[Operation, str]
"""An operation, and why it keeps a work-item from doing a subgroup's work."""

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
        "ub.poison",
        "vector.broadcast",
        "vector.contract",
        "vector.multi_reduction",
        "vector.shape_cast",
        "vector.transfer_read",
        "vector.transfer_write",
    }
)
"""Operations on matrices that have a rule, beside elementwise arithmetic."""


def lane_obstacle(function: FuncOp, subgroup_size: int) -> Obstacle | None:
    """The first reason why one work-item cannot do the work of a subgroup; None if it can.

    Args:
        function: The kernel.
        subgroup_size: The work-items of its subgroups.
    """
    if subgroup_size == 1:
        return None
    if function.known_block_size is None:
        return function, "the kernel names no known_block_size"
    facts = Facts()
    found = ((operation, lane_problem(operation, facts)) for operation in walk(function))
    return next(((operation, reason) for operation, reason in found if reason is not None), None)


def matrix_obstacle(function: FuncOp, matrices: frozenset[SSAValue]) -> Obstacle | None:
    """The first reason why its matrices cannot be in private memory; None if they can.

    Args:
        function: The kernel.
        matrices: The vectors that belong to its subgroups.
    """
    found = ((operation, _matrix_problem(operation, matrices)) for operation in walk(function))
    return next(((operation, reason) for operation, reason in found if reason is not None), None)


def _matrix_problem(operation: Operation, matrices: frozenset[SSAValue]) -> str | None:
    """Why an operation on matrices has no rule."""
    values = (*operation.operands, *operation.results)
    own = [cast("VectorType[Attribute]", value.type) for value in values if value in matrices]
    if not own:
        return None
    if operation.name not in _ON_MATRICES and not kinds.is_elementwise(operation):
        return f"{spelling_of(operation)} takes no part in it"
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
    is_tile = isinstance(operation.operands[0].type, VectorType)
    return "only scalars are broadcast" if is_tile else None


def _product_problem(operation: Operation) -> str | None:
    assert isinstance(operation, ContractionOp)
    if iteration_maps(operation) != MATMUL or operation.kind != ADD:
        return "it is not the product C := A B + C"
    sums = cast("VectorType[Attribute]", operation.operands[2].type).element_type
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
    dimensions = dimensions_of(operation.properties["permutation_map"])
    if dimensions not in ([indices - 2, indices - 1], [indices - 1, indices - 2]):
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
