"""Which vectors belong to a subgroup, and which to a work-item.

At level subgroup, a vector of two dimensions is a subgroup's. One of one dimension is a
work-item's, unless it is a row or a column of sums, transferred, broadcast, multiplied, or computed
with one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import BroadcastOp, TransferReadOp, TransferWriteOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core import AtomicRMWOp, MapOp
from xtile.dialects.vector import (
    ContractionOp,
    GatherOp,
    MultiDimReductionOp,
    ScatterOp,
    ShapeCastOp,
)
from xtile.translate.core_to_vectors.kinds import is_elementwise

_ANYBODYS = frozenset({"arith.constant", "ub.poison", "vector.broadcast"})
"""Operations whose result can be both, if they are on numbers."""


_OF_SUBGROUPS = (
    AtomicRMWOp,
    BroadcastOp,
    ContractionOp,
    GatherOp,
    MapOp,
    MultiDimReductionOp,
    ScatterOp,
    ShapeCastOp,
    TransferReadOp,
    TransferWriteOp,
)
"""Operations on vectors of subgroups, whatever the number of their dimensions is."""


def vectors_of(function: Operation) -> frozenset[SSAValue]:
    """The vectors of a kernel at level tile, all of which belong to the work-group."""
    found: set[SSAValue] = set()
    for operation in function.walk():
        arguments = (a for region in operation.regions for b in region.blocks for a in b.args)
        found.update(value for value in (*operation.results, *arguments) if _rank(value))
    return frozenset(found)


def tiles_of(function: Operation) -> frozenset[SSAValue]:
    """The vectors of a kernel at level subgroup that belong to subgroups."""
    groups: dict[SSAValue, set[SSAValue]] = {}
    found: set[SSAValue] = set()
    for operation in function.walk():
        found |= set(_certain(operation))
        for group in _equal(operation):
            _join(groups, [value for value in group if _rank(value) and not _is_anybodys(value)])
    for value in list(found):
        found |= groups.get(value, set())
    return frozenset(found)


def _certain(operation: Operation) -> Iterator[SSAValue]:
    """The vectors of an operation that are a subgroup's for certain."""
    is_of_subgroup = isinstance(operation, _OF_SUBGROUPS)
    arguments = (a for region in operation.regions for block in region.blocks for a in block.args)
    for value in (*operation.operands, *operation.results, *arguments):
        if _rank(value) > 1 or (is_of_subgroup and _rank(value) and not _is_anybodys(value)):
            yield value


def _equal(operation: Operation) -> Iterable[Iterable[SSAValue]]:
    """Groups of values of which all or none are a subgroup's."""
    if is_elementwise(operation):
        return [(*operation.operands, *operation.results)]
    if isinstance(operation, scf.IfOp):
        ends = [region.block.last_op for region in operation.regions if region.blocks]
        return zip(operation.results, *(end.operands for end in ends if end), strict=False)
    if isinstance(operation, scf.ForOp):
        block = operation.body.block
        assert block.last_op is not None
        ends = block.last_op.operands
        return zip(operation.iter_args, block.args[1:], ends, operation.results, strict=True)
    if isinstance(operation, scf.WhileOp):
        before, after = operation.before_region.block, operation.after_region.block
        assert before.last_op is not None
        assert after.last_op is not None
        return [
            *zip(operation.arguments, before.args, after.last_op.operands, strict=True),
            *zip(before.last_op.operands[1:], after.args, operation.results, strict=True),
        ]
    return []


def _join(groups: dict[SSAValue, set[SSAValue]], values: list[SSAValue]) -> None:
    joined = set(values)
    for value in values:
        joined |= groups.get(value, set())
    for value in joined:
        groups[value] = joined


def _rank(value: SSAValue) -> int:
    type_ = value.type
    return len(type_.shape) if isinstance(type_, VectorType) else 0


def _is_anybodys(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in _ANYBODYS:
        return False
    return not any(map(_rank, owner.operands))
