"""Between which numbers an integer lies, as far as it is known without running.

A loop whose last step could leave its type needs a guard, which others must not pay for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Block, Operation, SSAValue

from xtile.dialects.scf.loops import UNSIGNED
from xtile.rewrite.facts import COUNTS, assumed, constant_of

Range: TypeAlias = tuple[int, int]
"""The smallest and the largest number that a value can be."""

MOST = 2**57
"""No memory has more elements and no launch more work-items: no address is wider."""

_INDEX_WIDTH = 64

_DEPTH = 8
"""Bounds of loops are simple; sums of sums of the same values would be looked at twice as often."""


def may_wrap(upper: SSAValue, step: SSAValue, *, is_unsigned: bool = False) -> bool:
    """Whether the step after a loop's last iteration may leave the type of its variable.

    Args:
        upper: What the variable stays below.
        step: What is added to it, a positive number.
        is_unsigned: Whether both have no sign.
    """
    if constant_of(step) == 1:
        return False
    ends, steps = range_of(upper), range_of(step)
    if is_unsigned:
        # Two numbers of the lower half never add up to one that is too large.
        return ends[0] < 0 or steps[0] < 0
    return ends[1] - 1 + steps[1] > _type_range(upper)[1]


def may_wrap_together(lower: SSAValue, upper: SSAValue, step: SSAValue) -> bool:
    """Whether a loop's variable may leave its type if all take as many iterations as any.

    Args:
        lower: Where the variable begins, which differs between those who execute the loop.
        upper: What it stays below for each, a signed number.
        step: What is added to it, a positive number.
    """
    if may_wrap(upper, step):
        return True
    least, most = range_of(lower)
    return most + range_of(upper)[1] - least > _type_range(upper)[1]


def range_of(value: SSAValue, depth: int = _DEPTH) -> Range:
    """The numbers between which an integer or index lies, as a signed one.

    Args:
        value: The integer.
        depth: How many operations before it may be looked at, one after the other.
    """
    everything = _type_range(value)
    constant = constant_of(value)
    if constant is not None:
        return constant, constant
    low, high = _find(value, everything, depth - 1) if depth else everything
    if everything[0] <= low <= high <= everything[1]:
        return low, high
    return everything


def width_of(value: SSAValue) -> int:
    """The bits of an integer or index."""
    type_ = value.type
    return type_.bitwidth if isinstance(type_, IntegerType) else _INDEX_WIDTH


def _type_range(value: SSAValue) -> Range:
    half = 1 << (width_of(value) - 1)
    return -half, half - 1


def _find(value: SSAValue, everything: Range, depth: int) -> Range:
    """The range of a value that is no constant; it may be wider than its type."""
    operation = value.owner
    if not isinstance(operation, Operation):
        return _of_variable(value, depth) or everything
    name = operation.name
    if name in COUNTS:
        return 0, min(MOST, everything[1])
    ranges = [range_of(operand, depth) for operand in operation.operands[-2:]]
    if name == "arith.select":
        return _hull(*ranges)
    if name == "core.assume":
        (low, high), least, most = ranges[0], *(assumed(operation, n) for n in _BOUNDS)
        return low if least is None else max(low, least), high if most is None else min(high, most)
    if name in ("arith.extui", "arith.index_castui"):
        return _without_sign(ranges[0], width_of(operation.operands[0]))
    if name in _KEEP_THE_VALUE:
        return ranges[0]
    combine = _COMBINE.get(name)
    return everything if combine is None else combine(*ranges)


def _of_variable(value: SSAValue, depth: int) -> Range | None:
    """The range of the variable of a loop with signed bounds."""
    block = value.owner
    loop = block.parent_op() if isinstance(block, Block) else None
    if not isinstance(loop, scf.ForOp) or UNSIGNED in loop.properties:
        return None
    if value is not loop.body.block.args[0]:
        return None
    (low, last_low), high = range_of(loop.lb, depth), range_of(loop.ub, depth)[1] - 1
    step = constant_of(loop.step)
    if low == last_low and step is not None and step > 0:
        high -= (high - low) % step
    return low, max(low, high)


def _without_sign(range_: Range, width: int) -> Range:
    return range_ if range_[0] >= 0 else (0, (1 << width) - 1)


def _hull(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


def _product(a: Range, b: Range) -> Range:
    corners = [x * y for x in a for y in b]
    return min(corners), max(corners)


_BOUNDS = ("at_least", "at_most")

_KEEP_THE_VALUE = frozenset({"arith.extsi", "arith.index_cast", "arith.trunci"})
"""Operations that keep the value where it fits their result; elsewhere all numbers can come out."""

_COMBINE: dict[str, Callable[[Range, Range], Range]] = {
    "arith.addi": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "arith.subi": lambda a, b: (a[0] - b[1], a[1] - b[0]),
    "arith.muli": _product,
    "arith.minsi": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "arith.maxsi": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
}
"""For an operation the range of its exact result, from the ranges of its operands."""
