"""Functions of the bits of integers, and powers of integers.

CUDA Tile IR counts no bits: sums of neighbouring fields do.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Block, Region, SSAValue

from xtile.dialects.cuda_tile.enumerations import ComparisonPredicate, Signedness
from xtile.dialects.cuda_tile.ops import bitwise, control_flow, integer, loops
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.elementwise import Compute, elementwise
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type


def _width(value: SSAValue) -> int:
    return cast(IntegerType, element_type(value)).width.data


def _and(lowering: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return lowering.compute(bitwise.AndIOp, a, b)


def _shifted(lowering: Lowering, value: SSAValue, distance: int) -> SSAValue:
    return lowering.compute(
        integer.ShRIOp, value, lowering.like(distance, value), signedness=Signedness.UNSIGNED
    )


def _count(lowering: Lowering, value: SSAValue) -> SSAValue:
    """How many bits are set: the sums of fields of 1, 2, 4 .. bits."""
    width = _width(value)
    distance = 1
    while distance < width:
        fields = sum(((1 << distance) - 1) << i for i in range(0, width, 2 * distance))
        mask = lowering.like(fields, value)
        low = _and(lowering, value, mask)
        high = _and(lowering, _shifted(lowering, value, distance), mask)
        value = lowering.compute(integer.AddIOp, low, high)
        distance *= 2
    return value


def _leading_zeros(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The zeros above the highest one: the bits that no shifted copy of it covers."""
    width = _width(value)
    distance = 1
    while distance < width:
        value = lowering.compute(bitwise.OrIOp, value, _shifted(lowering, value, distance))
        distance *= 2
    return _count(lowering, lowering.compute(bitwise.XOrIOp, value, lowering.like(-1, value)))


def _trailing_zeros(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The zeros below the lowest one: subtracting 1 sets them."""
    inverted = lowering.compute(bitwise.XOrIOp, value, lowering.like(-1, value))
    less = lowering.compute(integer.SubIOp, value, lowering.like(1, value))
    return _count(lowering, _and(lowering, inverted, less))


def _same(lowering: Lowering, value: SSAValue) -> SSAValue:
    return value


def _bits(compute: Compute, on_truth_values: Compute) -> Rule:
    def of_both(lowering: Lowering, value: SSAValue) -> SSAValue:
        is_truth = element_type(value) == i1
        return (on_truth_values if is_truth else compute)(lowering, value)

    return elementwise(of_both)


def _opposite(lowering: Lowering, value: SSAValue) -> SSAValue:
    return lowering.opposite(value)


def _power(lowering: Lowering, base: SSAValue, exponent: SSAValue) -> SSAValue:
    """An integer to the power of an integer, by squaring; a negative power is 1 / b^|n|."""
    is_, like = ComparisonPredicate, lowering.like
    zero, one = like(0, base), like(1, base)
    if element_type(base) == i1:
        # A number to the power of 0 is 1.
        return lowering.compute(bitwise.OrIOp, base, lowering.opposite(exponent))
    is_negative = lowering.compare(is_.LESS_THAN, exponent, zero)
    times = lowering.select(is_negative, zero, exponent)
    power = _positive_power(lowering, base, times)
    odd = lowering.compare(is_.NOT_EQUAL, _and(lowering, exponent, one), zero)
    minus = like(-1, base)
    of_minus = lowering.select(odd, minus, one)
    is_minus = lowering.compare(is_.EQUAL, base, minus)
    other = lowering.select(is_minus, of_minus, zero)
    is_one = lowering.compare(is_.EQUAL, base, one)
    return lowering.select(is_negative, lowering.select(is_one, one, other), power)


def _positive_power(lowering: Lowering, base: SSAValue, times: SSAValue) -> SSAValue:
    """A round for each bit of the exponent."""
    block = Block(arg_types=[lowering.integer(0).type, *[base.type] * 3])
    one, zero = lowering.like(1, base), lowering.like(0, base)
    with lowering.at_end_of(block):
        _, power, factor, left = block.args
        bit = _and(lowering, left, one)
        odd = lowering.compare(ComparisonPredicate.NOT_EQUAL, bit, zero)
        longer = lowering.compute(integer.MulIOp, power, factor)
        power = lowering.select(odd, longer, power)
        square = lowering.compute(integer.MulIOp, factor, factor)
        rest = _shifted(lowering, left, 1)
        lowering.emit(control_flow.ContinueOp([power, square, rest]))
    first, last, step = (lowering.integer(number) for number in (0, _width(base), 1))
    loop = loops.ForOp(first, last, step, [one, base, times], Region(block))
    return lowering.emit(loop).results[0]


RULES: dict[str, Rule] = {
    "math.ctlz": _bits(_leading_zeros, _opposite),
    "math.ctpop": _bits(_count, _same),
    "math.cttz": _bits(_trailing_zeros, _opposite),
    "math.ipowi": elementwise(_power),
}
"""The rule of each operation, by name."""
