"""Sums and products of twice the width of their operands."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import i1
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.lowering import TileLowering

Sides = Callable[[TileLowering, SSAValue, SSAValue], tuple[SSAValue, SSAValue]]
"""Emits the lower and the upper part of a result."""


def _extended(sides: Sides) -> Rule:
    """The rule of an operation with two results, from what emits them."""

    def rule(operation: Operation, lowering: TileLowering) -> None:
        made = sides(lowering, *lowering.values(operation.operands))
        for result, value in zip(operation.results, made, strict=True):
            lowering.define(result, value)

    return rule


def _sum_and_carry(lowering: TileLowering, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The sum, and whether it does not fit: it is less than an operand then."""
    total = lowering.arith("addi", a, b)
    if lowering.element(a) == i1:
        return total, lowering.arith("andi", a, b)
    return total, lowering.cmpi("ult", total, a)


def _product(is_signed: bool) -> Sides:
    """The lower and the upper half of a product."""

    def sides(lowering: TileLowering, a: SSAValue, b: SSAValue) -> tuple[SSAValue, SSAValue]:
        if lowering.element(a) == i1:
            # (-1) (-1) is 1, too.
            return lowering.arith("andi", a, b), lowering.like(0, a)
        low, high = lowering.arith("muli", a, b), lowering.upper_half(a, b)
        return low, _signed_upper_half(lowering, high, a, b) if is_signed else high

    return sides


def _signed_upper_half(
    lowering: TileLowering, high: SSAValue, a: SSAValue, b: SSAValue
) -> SSAValue:
    """A negative number is 2^n too large as an unsigned one, and adds the other to the half."""
    zero = lowering.like(0, a)
    for number, other in ((a, b), (b, a)):
        excess = lowering.select(lowering.cmpi("slt", number, zero), other, zero)
        high = lowering.arith("subi", high, excess)
    return high


RULES: dict[str, Rule] = {
    "arith.addui_extended": _extended(_sum_and_carry),
    "arith.mulsi_extended": _extended(_product(is_signed=True)),
    "arith.mului_extended": _extended(_product(is_signed=False)),
}
"""The rule of each operation, by name."""
