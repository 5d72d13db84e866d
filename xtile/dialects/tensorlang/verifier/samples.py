"""What a value is in the first work-items of the first subgroups.

A condition such as `equal %local_id, %c0` is decided by trying it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from xtile.dialects.tensorlang.ops import arithmetic as ops
from xtile.dialects.tensorlang.types import BOOL, INTEGER_TYPES, SIZE_IN_BYTES
from xtile.dialects.tensorlang.verifier.constants import divide, remainder

_LARGEST: Mapping[Any, int] = {
    type: min(2 ** (8 * SIZE_IN_BYTES[type] - 1), 2**31) - 1 for type in INTEGER_TYPES
} | {BOOL: 1}
"""Larger numbers, which could wrap around, are not followed, and neither are other types."""

_MOST_BITS_SHIFTED = 31


@dataclass(frozen=True, slots=True)
class Samples:
    """The values of one variable in consecutive work-items of consecutive subgroups.

    Attributes:
        axis: The numbering of the subgroups; None if the variable is the same in all of them.
        values: For each subgroup the values for lanes 0, 1, ...; for all subgroups if they are the
            same in all, and for all lanes if they are the same in a subgroup.
        is_complete: Whether there are no more work-items than values.
    """

    axis: str | None
    values: tuple[tuple[int, ...], ...]
    is_complete: bool

    @property
    def depends_on_lane(self) -> bool:
        """Whether work-items of a subgroup may have different values."""
        return len(self.values[0]) > 1

    @property
    def differ_within(self) -> bool:
        """Whether work-items of a subgroup have different values."""
        return any(len(set(row)) > 1 for row in self.values)

    @property
    def differ_between(self) -> bool:
        """Whether subgroups have different values."""
        return len(set(self.values)) > 1


def lane_samples(count: int, is_complete: bool) -> Samples:
    """The number of a work-item in its subgroup."""
    return Samples(None, (tuple(range(count)),), is_complete)


def subgroup_samples(axis: str, count: int, is_complete: bool) -> Samples:
    """The number of a subgroup along an axis."""
    known = min(count, _MOST_SUBGROUPS)
    return Samples(axis, tuple((i,) for i in range(known)), is_complete and known == count)


_MOST_SUBGROUPS = 16
"""How many subgroups are looked at."""


def _shift_left(a: int, b: int) -> int:
    if b > _MOST_BITS_SHIFTED:
        raise OverflowError
    return a << b


def trip_count(from_: int, to: int, step: int) -> int:
    """How often a loop over [from; to) runs."""
    return max(0, -((from_ - to) // step))


_EVALUATE: dict[type[Operation], Callable[..., Any]] = {
    ops.AddOp: operator.add,
    ops.SubOp: operator.sub,
    ops.MulOp: operator.mul,
    ops.DivOp: divide,
    ops.RemOp: remainder,
    ops.MaxOp: max,
    ops.MinOp: min,
    ops.ShlOp: _shift_left,
    ops.ShrOp: int.__rshift__,
    ops.AndOp: int.__and__,
    ops.OrOp: int.__or__,
    ops.XorOp: int.__xor__,
    ops.AbsOp: abs,
    ops.NegOp: operator.neg,
    ops.CastOp: int,
    ops.EqualOp: operator.eq,
    ops.NotEqualOp: operator.ne,
    ops.GreaterThanOp: operator.gt,
    ops.GreaterThanEqualOp: operator.ge,
    ops.LessThanOp: operator.lt,
    ops.LessThanEqualOp: operator.le,
}


def evaluate(operation: Operation, operands: Sequence[Samples | int | None]) -> Samples | None:
    """The samples of an instruction's result, from those of its operands or their constants."""
    function = _EVALUATE.get(type(operation))
    largest = _LARGEST.get(operation.results[0].type)
    if function is None or largest is None:
        return None
    samples = combine(function, operands)
    if samples is None or any(abs(value) > largest for row in samples.values for value in row):
        return None
    return samples


def combine(
    function: Callable[..., Any], operands: Sequence[Samples | int | None]
) -> Samples | None:
    """`function` of each sample; None where an operand is unknown or the axes differ."""
    given = [operand for operand in operands if isinstance(operand, Samples)]
    axes = {operand.axis for operand in given} - {None}
    if not given or None in operands or len(axes) > 1:
        return None
    rows = max(len(operand.values) for operand in given)
    lanes = max(len(operand.values[0]) for operand in given)
    spread = [_spread(operand, rows, lanes) for operand in operands]
    try:
        values = tuple(
            tuple(function(*numbers) for numbers in zip(*row, strict=True))
            for row in zip(*spread, strict=True)
        )
    except (ArithmeticError, ValueError):
        return None
    axis = axes.pop() if axes else None
    return Samples(axis, values, all(operand.is_complete for operand in given))


def _spread(operand: Samples | int | None, rows: int, lanes: int) -> Sequence[Sequence[Any]]:
    """An operand's values for each subgroup and lane."""
    if not isinstance(operand, Samples):
        return ((operand,) * lanes,) * rows
    values = operand.values if len(operand.values) == rows else operand.values * rows
    return [row if len(row) == lanes else row * lanes for row in values]
