"""What is known of the tiles of `foreach_tile`, so that checks of bounds leave out the right ones.

The tiles from F to T are ceil((max(T, F) - F) / step) of them. Where T is the size of memory, or
the smaller one of that and of where the last tile of a turn ends, no memory lies behind the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.affine_tiles import Affine, affine_of
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.transforms.lift.widening import Rest


@dataclass(frozen=True)
class _Space:
    """Numbers that are cut into tiles.

    Attributes:
        begin: The first number.
        first: The same as a sum.
        ends: Numbers of which the least is the end.
        step: The numbers of a tile.
    """

    begin: SSAValue
    first: Affine
    ends: Sequence[SSAValue]
    step: int


@dataclass(frozen=True)
class Beginning:
    """A condition that something begins before its end.

    Attributes:
        first: Where it begins.
        ends: Numbers that are its end if they are the least; those that are larger than where it
            begins in any case are left out.
    """

    first: SSAValue
    ends: Sequence[SSAValue]


def beginnings_of(condition: SSAValue) -> list[Beginning]:
    """The conditions that hold together where one does; none if it is of another kind.

    There are some numbers, or tiles, where the first one is before the end.
    """
    both = _operands(condition, arith.AndIOp)
    if both is not None:
        found = [beginnings_of(each) for each in both]
        return [each for one in found for each in one] if all(found) else []
    owner = condition.owner
    pair = _operands(condition, arith.CmpiOp)
    order = _ORDERS.get(owner.predicate.value.data) if isinstance(owner, arith.CmpiOp) else None
    if pair is None or order is None:
        return []
    first, end = (pair[each] for each in order)
    space = _space_of(end) if constant_of(first) == 0 else None
    if space is not None:
        return [_beginning(space.begin, space.ends)]
    return [_beginning(first, _smallest_of(end))] if isinstance(first.type, IndexType) else []


_ORDERS: Mapping[int, tuple[int, int]] = {2: (0, 1), 4: (1, 0)}
"""For comparisons that mean less, by number, which operand is less than which."""


def _beginning(first: SSAValue, ends: Sequence[SSAValue]) -> Beginning:
    distances = [_affine(end).plus(_affine(first), -1).known for end in ends]
    left = [
        end
        for end, distance in zip(ends, distances, strict=True)
        if distance is None or distance <= 0
    ]
    return Beginning(first, left)


def most_tiles(size: Index) -> int | None:
    """How many tiles there are at most; None if nobody knows."""
    if isinstance(size, int):
        return size
    space = _space_of(size)
    if space is None:
        return None
    lengths = (_affine(each).plus(space.first, -1).known for each in space.ends)
    return min((-(-each // space.step) for each in lengths if each is not None), default=None)


def ends_with_rest(
    memory: SSAValue, dimension: int, start: Index, step: int, rest: Rest, count: int
) -> bool:
    """Whether memory certainly ends where the last one of some tiles does.

    Args:
        memory: The memory.
        dimension: A dimension of it.
        start: Where the first tile of a turn begins.
        step: How far tiles are apart.
        rest: Which tiles there are.
        count: How many a turn has.
    """
    first = _affine(start).plus(_affine(rest.first).times(step), -1)
    if isinstance(rest.size, int):
        size, known = _static_size(memory, dimension), first.known
        return size is not None and known is not None and size <= known + step * rest.size
    space = _space_of(rest.size)
    if space is None or space.step != step or space.first != first:
        return False
    return all(
        is_size(each, memory, dimension) or _is_end_of_turn(each, first, step * count)
        for each in space.ends
    )


def _space_of(size: SSAValue) -> _Space | None:
    """The space of so many tiles."""
    length = _operands(size, arith.CeilDivUIOp)
    step = None if length is None else constant_of(length[1])
    if length is None or step is None:
        return None
    difference = _operands(length[0], arith.SubiOp)
    larger = None if difference is None else _operands(difference[0], arith.MaxSIOp)
    if difference is None or larger is None:
        return None
    others = [each for each in larger if each is not difference[1]]
    if len(others) != 1:
        return None
    return _Space(difference[1], _affine(difference[1]), _smallest_of(others[0]), step)


def _affine(number: Index) -> Affine:
    found = Affine(number) if isinstance(number, int) else affine_of(number)
    assert found is not None, "every index is at least itself"
    return found


def _operands(value: SSAValue, kind: type[Operation]) -> tuple[SSAValue, ...] | None:
    owner = value.owner
    return tuple(owner.operands) if isinstance(owner, kind) else None


def _smallest_of(value: SSAValue) -> list[SSAValue]:
    """The numbers of which one is the least."""
    pair = _operands(value, arith.MinSIOp)
    return [value] if pair is None else [each for one in pair for each in _smallest_of(one)]


def _is_end_of_turn(number: SSAValue, first: Affine, length: int) -> bool:
    """Whether a number is where the last tile of one of the turns ends."""
    distance = _affine(number).plus(first, -1).known
    return distance is not None and distance % length == 0


def is_size(number: SSAValue, memory: SSAValue, dimension: int) -> bool:
    """Whether a number is the size of memory along a dimension."""
    known = constant_of(number)
    if known is not None:
        return known == _static_size(memory, dimension)
    owner = number.owner
    return (
        isinstance(owner, memref.DimOp)
        and owner.source is memory
        and constant_of(owner.index) == dimension
    )


def _static_size(memory: SSAValue, dimension: int) -> int | None:
    size = cast("AnyMemRef", memory.type).get_shape()[dimension]
    return size if size >= 0 else None
