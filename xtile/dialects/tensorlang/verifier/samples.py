"""What a value is in the first work-items of a subgroup, or in the first subgroups.

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

_LARGEST: Mapping[Any, int] = {
    type: min(2 ** (8 * SIZE_IN_BYTES[type] - 1), 2**31) - 1 for type in INTEGER_TYPES
} | {BOOL: 1}
"""Larger numbers, which could wrap around, are not followed, and neither are other types."""

_MOST_BITS_SHIFTED = 31


@dataclass(frozen=True, slots=True)
class Samples:
    """The values of one variable in consecutive work-items or subgroups.

    Attributes:
        axis: What is counted; `lane` for work-items, else a name for a numbering of subgroups.
        values: The variable's value for 0, 1, ... on the axis.
        is_complete: Whether there are no more work-items or subgroups than values.
    """

    axis: str
    values: tuple[int, ...]
    is_complete: bool

    @property
    def differ(self) -> bool:
        """Whether the variable has different values on the axis."""
        return len(set(self.values)) > 1


def _divide(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _remainder(a: int, b: int) -> int:
    return a - b * _divide(a, b)


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
    ops.DivOp: _divide,
    ops.RemOp: _remainder,
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
    if samples is None or any(abs(value) > largest for value in samples.values):
        return None
    return samples


def combine(
    function: Callable[..., Any], operands: Sequence[Samples | int | None]
) -> Samples | None:
    """`function` of each sample; None where an operand is unknown or the axes differ."""
    axes = [operand for operand in operands if isinstance(operand, Samples)]
    if not axes or None in operands or any(other.axis != axes[0].axis for other in axes):
        return None
    count = len(axes[0].values)
    columns = [
        operand.values if isinstance(operand, Samples) else (operand,) * count
        for operand in operands
    ]
    try:
        values = tuple(function(*row) for row in zip(*columns, strict=True))
    except (ArithmeticError, ValueError):
        return None
    return Samples(axes[0].axis, values, axes[0].is_complete)
