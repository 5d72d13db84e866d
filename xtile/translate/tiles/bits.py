"""Functions of the bits of integers, and powers of integers.

Languages of tiles count no bits: sums of neighbouring fields do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.elementwise import Compute, elementwise
from xtile.translate.tiles.lowering import TileLowering


def _width(lowering: TileLowering, value: SSAValue) -> int:
    return cast(IntegerType, lowering.element(value)).width.data


def _and(lowering: TileLowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return lowering.arith("andi", a, b)


def _shifted(lowering: TileLowering, value: SSAValue, distance: int) -> SSAValue:
    return lowering.arith("shrui", value, lowering.like(distance, value))


def _count(lowering: TileLowering, value: SSAValue) -> SSAValue:
    """How many bits are set: the sums of fields of 1, 2, 4 .. bits."""
    width = _width(lowering, value)
    distance = 1
    while distance < width:
        fields = sum(((1 << distance) - 1) << i for i in range(0, width, 2 * distance))
        mask = lowering.like(fields, value)
        low = _and(lowering, value, mask)
        high = _and(lowering, _shifted(lowering, value, distance), mask)
        value = lowering.arith("addi", low, high)
        distance *= 2
    return value


def _leading_zeros(lowering: TileLowering, value: SSAValue) -> SSAValue:
    """The zeros above the highest one: the bits that no shifted copy of it covers."""
    width = _width(lowering, value)
    distance = 1
    while distance < width:
        value = lowering.arith("ori", value, _shifted(lowering, value, distance))
        distance *= 2
    return _count(lowering, lowering.arith("xori", value, lowering.like(-1, value)))


def _trailing_zeros(lowering: TileLowering, value: SSAValue) -> SSAValue:
    """The zeros below the lowest one: subtracting 1 sets them."""
    inverted = lowering.arith("xori", value, lowering.like(-1, value))
    less = lowering.arith("subi", value, lowering.like(1, value))
    return _count(lowering, _and(lowering, inverted, less))


def _same(lowering: TileLowering, value: SSAValue) -> SSAValue:
    return value


def _bits(compute: Compute, on_truth_values: Compute) -> Rule:
    def of_both(lowering: TileLowering, value: SSAValue) -> SSAValue:
        is_truth = lowering.element(value) == i1
        return (on_truth_values if is_truth else compute)(lowering, value)

    return elementwise(of_both)


def _opposite(lowering: TileLowering, value: SSAValue) -> SSAValue:
    return lowering.opposite(value)


def _power(lowering: TileLowering, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """An integer to the power of an integer, by squaring; a negative power is 1 / b^|n|."""
    like = lowering.like
    zero, one = like(0, base), like(1, base)
    if lowering.element(base) == i1:
        # A number to the power of 0 is 1.
        return lowering.arith("ori", base, lowering.opposite(exponent))
    is_negative = lowering.cmpi("slt", exponent, zero)
    times = lowering.select(is_negative, zero, exponent)
    power = _positive_power(lowering, base, times)
    odd = lowering.cmpi("ne", _and(lowering, exponent, one), zero)
    minus = like(-1, base)
    of_minus = lowering.select(odd, minus, one)
    is_minus = lowering.cmpi("eq", base, minus)
    other = lowering.select(is_minus, of_minus, zero)
    is_one = lowering.cmpi("eq", base, one)
    return lowering.select(is_negative, lowering.select(is_one, one, other), power)


def _positive_power(lowering: TileLowering, base: SSAValue, times: SSAValue) -> SSAValue:
    """A round for each bit of the exponent."""
    one, zero = lowering.like(1, base), lowering.like(0, base)

    def multiply(number: SSAValue, handed: Sequence[SSAValue]) -> Sequence[SSAValue]:
        power, factor, left = handed
        odd = lowering.cmpi("ne", _and(lowering, left, one), zero)
        power = lowering.select(odd, lowering.arith("muli", power, factor), power)
        square = lowering.arith("muli", factor, factor)
        return [power, square, _shifted(lowering, left, 1)]

    rounds = range(_width(lowering, base))
    return lowering.counted(rounds, [one, base, times], multiply)[0]


RULES: dict[str, Rule] = {
    "math.ctlz": _bits(_leading_zeros, _opposite),
    "math.ctpop": _bits(_count, _same),
    "math.cttz": _bits(_trailing_zeros, _opposite),
    "math.ipowi": elementwise(_power),
}
"""The rule of each operation, by name."""
