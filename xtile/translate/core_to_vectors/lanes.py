"""Whether one work-item can do the work of a subgroup, and how often its lanes do something.

It can if all lanes do the same: their scalars are equal, so that the subgroup is what its vectors
and the numbers of one lane are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType, VectorType
from xdsl.dialects.memref import AtomicRMWOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.subgroup import AtomicUpdateOp, MapOp
from xtile.dialects.effects import differs_between_lanes
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.indices import ThreadIdOp
from xtile.dialects.memref.access import ATOMIC_KINDS
from xtile.dialects.walk import walk
from xtile.rewrite.facts import Facts, constant_of
from xtile.text.source import spelling_of

_OF_EACH_LANE = frozenset(
    {"gpu.all_reduce", "gpu.printf", "gpu.subgroup_broadcast", "gpu.subgroup_reduce"}
)
"""Operations that each lane of a subgroup takes part in, whose results are equal."""

_CASTS = frozenset({"arith.index_cast", "arith.index_castui"})

_DIVISIONS = frozenset({"arith.divsi", "arith.divui", "arith.floordivsi", "arith.shrui"})
"""Operations that divide numbers that are not negative."""

_REPEATABLE = frozenset(
    {"andi", "assign", "maximumf", "maxnumf", "maxs", "maxu"}
    | {"minimumf", "minnumf", "mins", "minu", "ori"}
)
"""Kinds of updates that change nothing more when they are done again."""


def lane_obstacle(function: FuncOp, lanes: int) -> tuple[Operation, str] | None:
    """The first operation that keeps one work-item from doing the work of a subgroup, and why.

    Args:
        function: The kernel.
        lanes: The work-items of its subgroups.

    Returns: None if it can.
    """
    if lanes == 1:
        return None
    if function.known_block_size is None:
        return function, "the kernel names no known_block_size"
    facts = Facts()
    width = next(iter(function.known_block_size.get_values()))
    for operation in walk(function):
        if isinstance(operation, ThreadIdOp) and _only_finds_subgroup(operation, width, lanes):
            continue
        problem = _problem(operation, facts)
        if problem is not None:
            return operation, problem
    return None


def _problem(operation: Operation, facts: Facts) -> str | None:
    """Why the lanes of a subgroup do not all do what an operation does; None if they do."""
    if operation.name == "memref.generic_atomic_rmw":
        return "each lane updates memory on its own"
    if isinstance(operation, AtomicRMWOp | AtomicUpdateOp):
        is_shared = repetitions(operation, 1) is not None
        return (
            None if is_shared else "each lane gets another number from the memory that it updates"
        )
    if operation.name == "core.atomic_rmw" and isinstance(operation.operands[0].type, VectorType):
        return None
    if operation.name == "gpu.lane_id" and _only_finds_first(operation.results[0], facts):
        return None
    if differs_between_lanes(operation) or operation.name in _OF_EACH_LANE:
        return f"lanes differ by {spelling_of(operation)}"
    return None


def repetitions(operation: AtomicRMWOp | AtomicUpdateOp, lanes: int) -> int | None:
    """How often an update is done by a subgroup; None if its lanes get different results.

    The updates of lanes may be done in any order, so those that repeat others may be left out.

    Args:
        operation: The update.
        lanes: The number of lanes.
    """
    value = operation.value
    is_of_matrix = isinstance(value.type, VectorType)
    if is_of_matrix or _changes_nothing(operation) or _is_done_once(operation):
        return 1
    if operation.results[0].uses:
        return None
    return 1 if _kind(operation) in _REPEATABLE else lanes


def _kind(operation: AtomicRMWOp | AtomicUpdateOp) -> str:
    if isinstance(operation, AtomicUpdateOp):
        return str(operation.kind.data)
    return ATOMIC_KINDS[cast("IntegerAttr[IntegerType]", operation.kind).value.data]


def _changes_nothing(operation: AtomicRMWOp | AtomicUpdateOp) -> bool:
    """Whether an update only reads."""
    constant = operation.value.owner
    if not isinstance(constant, arith.ConstantOp):
        return False
    number: Any = constant.value
    if isinstance(number, FloatAttr):
        return _kind(operation) == "addf" and str(number.value.data) == "-0.0"
    return (
        isinstance(number, IntegerAttr)
        and _kind(operation) == "ori"
        and (cast("IntegerAttr[IntegerType]", number).value.data == 0)
    )


# --- the number of the subgroup ---


def _only_finds_subgroup(operation: ThreadIdOp, width: int, lanes: int) -> bool:
    """Whether what depends on a lane's number in its work-group is equal in its subgroup.

    Args:
        operation: Asks for the number.
        width: The work-items of a row of the work-group.
        lanes: The lanes of a subgroup.
    """
    is_of_rows = operation.dimension.data is not Dimension.X
    return width % lanes == 0 and (is_of_rows or _is_divided(operation.result, lanes))


def _is_divided(number: SSAValue, lanes: int) -> bool:
    """Whether a number is only used as a quotient by the lanes of a subgroup, or of several."""
    for use in number.uses:
        user = use.operation
        if user.name in _CASTS:
            if not _is_divided(user.results[0], lanes):
                return False
            continue
        by = constant_of(user.operands[-1]) if user.name in _DIVISIONS and use.index == 0 else None
        divisor = 1 << by if by is not None and user.name == "arith.shrui" else by
        if not divisor or divisor % lanes:
            return False
    return True


# --- the first lane ---


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


def _is_done_once(operation: Operation) -> bool:
    """Whether an operation is done by one lane of a subgroup, or once for each component."""
    facts = Facts()
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
