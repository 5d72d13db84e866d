"""Which vectors belong to a subgroup, and which to a work-item.

At level subgroup, a vector of several dimensions is a subgroup's. One of one dimension is a
work-item's, unless it is a row or a column of sums, transferred, broadcast, multiplied, or part of
an operation with one that is a subgroup's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import VectorType
from xdsl.dialects.vector import BroadcastOp, TransferReadOp, TransferWriteOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.subgroup import MapOp
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp
from xtile.dialects.walk import walk

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
    for operation in walk(function):
        found.update(_vectors((*operation.results, *_arguments(operation))))
    return frozenset(found)


def tiles_of(function: Operation) -> frozenset[SSAValue]:
    """The vectors of a kernel at level subgroup that belong to subgroups."""
    groups = _Groups()
    certain: list[SSAValue] = []
    for operation in walk(function):
        vectors = _vectors((*operation.operands, *operation.results))
        if operation.regions:
            certain += _certain(operation, [*vectors, *_vectors(_arguments(operation))])
            for group in _equal(operation):
                groups.join([value for value in _vectors(group) if not _is_anybodys(value)])
        elif vectors:
            certain += _certain(operation, vectors)
            if not operation.has_trait(IsTerminator):
                groups.join([value for value in vectors if not _is_anybodys(value)])
    return frozenset(certain) | groups.of(certain)


def _vectors(values: Iterable[SSAValue]) -> list[SSAValue]:
    """Those values that are vectors of one dimension or more."""
    return [
        value
        for value in values
        if type(type_ := value.type) is VectorType and len(type_.shape.data) > 0
    ]


def _arguments(operation: Operation) -> Iterable[SSAValue]:
    """The arguments of the blocks in an operation's regions."""
    blocks = (block for region in operation.regions for block in region.blocks)
    return chain.from_iterable(block.args for block in blocks)


def _certain(operation: Operation, vectors: Iterable[SSAValue]) -> Iterator[SSAValue]:
    """Those of an operation's vectors that are a subgroup's for certain."""
    is_of_subgroup = isinstance(operation, _OF_SUBGROUPS)
    for value in vectors:
        if _rank(value) > 1 or (is_of_subgroup and not _is_anybodys(value)):
            yield value


def _equal(operation: Operation) -> Iterable[Iterable[SSAValue]]:
    """Groups of values of an operation with regions of which all or none are a subgroup's."""
    ends = [region.block.last_op for region in operation.regions if region.blocks]
    yielded = [end.operands for end in ends if end is not None]
    if isinstance(operation, scf.IfOp):
        return zip(operation.results, *yielded, strict=False)
    if isinstance(operation, scf.ForOp):
        arguments = operation.body.block.args[1:]
        return zip(operation.iter_args, arguments, yielded[0], operation.results, strict=True)
    if isinstance(operation, scf.WhileOp):
        before, after = operation.before_region.block, operation.after_region.block
        return [
            *zip(operation.arguments, before.args, yielded[1], strict=True),
            *zip(yielded[0][1:], after.args, operation.results, strict=True),
        ]
    return [[*operation.operands, *operation.results, *chain(*yielded)]]


class _Groups:
    """Values that are joined to groups."""

    def __init__(self) -> None:
        self._next: dict[SSAValue, SSAValue] = {}

    def join(self, values: Sequence[SSAValue]) -> None:
        """Makes one group of those of several values."""
        if len(values) < 2:
            return
        first = self._first(values[0])
        for value in values[1:]:
            self._next[self._first(value)] = first

    def _first(self, value: SSAValue) -> SSAValue:
        """The value that stands for the group of a value."""
        while (after := self._next.setdefault(value, value)) is not value:
            self._next[value] = self._next[after]
            value = after
        return value

    def of(self, values: Iterable[SSAValue]) -> frozenset[SSAValue]:
        """The values of all groups that have one of these."""
        firsts = {self._first(value) for value in values if value in self._next}
        return frozenset(value for value in self._next if self._first(value) in firsts)


def _rank(vector: SSAValue) -> int:
    return len(cast("VectorType[Attribute]", vector.type).shape)


def _is_anybodys(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name not in _ANYBODYS:
        return False
    return not _vectors(owner.operands)
