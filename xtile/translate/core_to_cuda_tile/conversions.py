"""Conversions between types of numbers.

Source: CUDA Tile IR specification, "Conversions"; docs/semantics.md, 1.9 and 7. What a float is as
an integer that does not hold it, CUDA Tile IR leaves open.
"""

from __future__ import annotations

import math
from typing import Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    Float16Type,
    FloatTF32Type,
    IntegerType,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import bitwise, conversions, floating_point, integer
from xtile.dialects.cuda_tile.types import is_integer
from xtile.dialects.number_attributes import saturates
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.elementwise import Compute, converted, named
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_of, element_type, tile_type

_HALVES = Float16Type | BFloat16Type


def _signedness(is_signed: bool) -> Signedness:
    return Signedness.SIGNED if is_signed else Signedness.UNSIGNED


def _width(element: Attribute) -> int:
    return cast(IntegerType, element).width.data


# --- integers to integers ---


def _resized(is_signed: bool) -> Rule:
    def rule(operation: Operation, lowering: Lowering) -> None:
        (result,) = operation.results
        number = lowering.facts.number(lowering.value(operation.operands[0]))
        element = element_of(result.type)
        if isinstance(number, int) and (is_signed or number >= 0):
            lowering.define(result, lowering.integer(number, element))
            return
        value = lowering.value(operation.operands[0])
        lowering.define(result, lowering.resize(value, element, is_signed))

    return rule


# --- floats to floats ---

_ROUNDING_MODES = (
    RoundingMode.NEAREST_EVEN,
    RoundingMode.NEGATIVE_INF,
    RoundingMode.POSITIVE_INF,
    RoundingMode.ZERO,
    None,
)
"""In the order of `arith`'s numbers: to_nearest_even, downward, upward, toward_zero, .._away."""

_OVERFLOW: dict[type[Attribute], tuple[float, float]] = {
    Float8E4M3FNType: (464.0, math.nan),
    Float8E5M2Type: (61440 - 2**-8, math.inf),
}
"""Numbers of a larger size than the first become the second; CUDA Tile IR saturates them.

Of f8E5M2 that begins at 61440, a tie that is rounded to infinity.
"""


def _convert(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    (result,) = operation.results
    element = element_of(result.type)
    mode = _rounding_mode(operation, lowering)
    if saturates(operation):
        lowering.define(result, _saturated(lowering, value, element, mode))
        return
    if isinstance(element, Float8E8M0FNUType):
        raise lowering.error(
            "CUDA Tile IR rounds absolute values to f8E8M0FNU, and upwards; write core.saturate"
        )
    if mode is RoundingMode.NEAREST_EVEN:
        made = rounded_to(lowering, value, element)
    else:
        made = _overflown(lowering, value, _directed(lowering, value, element, mode))
    lowering.define(result, made)


def _saturated(
    lowering: Lowering, value: SSAValue, element: Attribute, mode: RoundingMode
) -> SSAValue:
    """Floats in a type, limited to its largest number; powers of two are rounded up, or to zero."""
    if not isinstance(element, Float8E8M0FNUType):
        return converted(lowering, value, element)
    target = tile_type(value).with_element_type(element)
    if mode is not RoundingMode.ZERO:
        mode = RoundingMode.POSITIVE_INF
    return lowering.compute(conversions.FToFOp, value, target, rounding_mode=mode)


def rounded_to(lowering: Lowering, value: SSAValue, element: Attribute) -> SSAValue:
    """Floats in a type, rounded to nearest; what is too large becomes infinite, or NaN."""
    return _overflown(lowering, value, converted(lowering, value, element))


_ONLY_CONVERTED = FloatTF32Type | Float8E4M3FNType | Float8E5M2Type | Float4E2M1FNType
"""Types that CUDA Tile IR has no arithmetic of."""


def narrow(compute: Compute) -> Compute:
    """A function of floats that is computed in f32 for types that are only converted."""

    def wide(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        element = element_type(operands[0])
        if not isinstance(element, _ONLY_CONVERTED):
            return compute(lowering, *operands)
        result = compute(lowering, *(converted(lowering, value, f32) for value in operands))
        return rounded_to(lowering, result, element)

    return wide


def in_computed_type(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Numbers of a type that is only converted as f32, which holds them."""
    is_computed = not isinstance(element_type(value), _ONLY_CONVERTED)
    return value if is_computed else converted(lowering, value, f32)


_UNUSED_OF_TF32 = 13
"""The bits of an f32 that tf32 does not have."""


def _directed(
    lowering: Lowering, value: SSAValue, element: Attribute, mode: RoundingMode
) -> SSAValue:
    """Floats in a type, rounded in a direction."""
    made = converted(lowering, value, element)
    if not isinstance(element, FloatTF32Type):
        return _moved(lowering, value, made, mode)
    moved = _moved(lowering, value, converted(lowering, made, f32), mode, 1 << _UNUSED_OF_TF32)
    return converted(lowering, moved, element)


def _moved(
    lowering: Lowering, value: SSAValue, made: SSAValue, mode: RoundingMode, step: int = 1
) -> SSAValue:
    """The neighbour of a rounded number, where it was rounded in the wrong direction.

    CUDA Tile IR 13.3 converts floats to nearest only. The bits of numbers of one sign are in the
    order of their sizes.
    """
    back = converted(lowering, made, element_type(value))
    bits = bits_of(lowering, made)
    one, zero = lowering.like(step, bits), lowering.like(0, bits)
    is_negative = lowering.compare(ComparisonPredicate.LESS_THAN, bits, zero)
    is_above = lowering.compare_floats(ComparisonPredicate.GREATER_THAN, back, value)
    is_below = lowering.compare_floats(ComparisonPredicate.LESS_THAN, back, value)
    if mode is RoundingMode.ZERO:
        is_wrong = lowering.select(is_negative, is_below, is_above)
        grows = None
    else:
        is_down = mode is RoundingMode.NEGATIVE_INF
        is_wrong = is_above if is_down else is_below
        grows = is_negative if is_down else lowering.opposite(is_negative)
    smaller = lowering.compute(integer.SubIOp, bits, one)
    neighbour = smaller
    if grows is not None:
        larger = lowering.compute(integer.AddIOp, bits, one)
        neighbour = lowering.select(grows, larger, smaller)
    chosen = lowering.select(is_wrong, neighbour, bits)
    return lowering.compute(conversions.BitcastOp, chosen, made.type)


def _overflown(lowering: Lowering, value: SSAValue, made: SSAValue) -> SSAValue:
    """Replaces what is too large for a type."""
    limits = _OVERFLOW.get(type(element_type(made)))
    if limits is None or element_type(value) == element_type(made):
        return made
    limit, instead = limits
    wide = converted(lowering, value, f32)
    bits = lowering.like(limit, wide)
    is_large, is_small = (
        lowering.compare_floats(predicate, wide, each, ComparisonOrdering.ORDERED)
        for predicate, each in (
            (ComparisonPredicate.GREATER_THAN, bits),
            (ComparisonPredicate.LESS_THAN, lowering.like(-limit, wide)),
        )
    )
    made = lowering.select(is_large, lowering.like(instead, made), made)
    return lowering.select(is_small, lowering.like(-instead, made), made)


def _rounding_mode(operation: Operation, lowering: Lowering) -> RoundingMode:
    given = operation.properties.get("roundingmode")
    if given is None:
        return RoundingMode.NEAREST_EVEN
    number: int = cast(Any, given).value.data
    mode = _ROUNDING_MODES[number]
    if mode is None:
        raise lowering.error("CUDA Tile IR does not round to nearest with ties away from zero")
    return mode


# --- between integers and floats ---


def _from_integer(is_signed: bool) -> Rule:
    def rule(operation: Operation, lowering: Lowering) -> None:
        (value,) = lowering.values(operation.operands)
        (result,) = operation.results
        made = from_integer(lowering, value, element_of(result.type), is_signed)
        lowering.define(result, made)

    return rule


def from_integer(
    lowering: Lowering, value: SSAValue, element: Attribute, is_signed: bool = True
) -> SSAValue:
    """Integers as floats, rounded once."""
    if element_type(value) == i1:
        value = lowering.resize(value, IntegerType(8), is_signed)
    if not isinstance(element, _HALVES):
        return _to_float(lowering, value, element, is_signed)
    width = _width(element_type(value))
    if width == 64:
        value = _with_sticky_bit(lowering, value, is_signed)
    between = f32 if width <= 16 else f64
    return converted(lowering, _to_float(lowering, value, between, is_signed), element)


def _to_float(lowering: Lowering, value: SSAValue, element: Attribute, is_signed: bool) -> SSAValue:
    target = tile_type(value).with_element_type(element)
    return lowering.compute(conversions.IToFOp, value, target, signedness=_signedness(is_signed))


_PRECISION = 53
"""Bits of the significand of f64."""


def _with_sticky_bit(lowering: Lowering, value: SSAValue, is_signed: bool) -> SSAValue:
    """Integers that f64 holds, which narrower floats are rounded from as from the given ones.

    What f64 has no room for leaves a one in its last place, if it is not 0.
    """
    low = 2 ** (64 - _PRECISION) - 1
    rest = lowering.compute(bitwise.AndIOp, value, lowering.like(low, value))
    zero = lowering.like(0, value)
    is_inexact = lowering.compare(ComparisonPredicate.NOT_EQUAL, rest, zero)
    high = lowering.compute(bitwise.AndIOp, value, lowering.like(~low, value))
    sticky = lowering.select(is_inexact, lowering.like(low + 1, value), zero)
    cut = lowering.compute(bitwise.OrIOp, high, sticky)
    limit = lowering.like(2**_PRECISION, value)
    is_large = lowering.compare(ComparisonPredicate.GREATER_THAN_OR_EQUAL, value, limit, is_signed)
    if is_signed:
        least = lowering.like(-(2**_PRECISION), value)
        is_low = lowering.compare(ComparisonPredicate.LESS_THAN, value, least)
        is_large = lowering.compute(bitwise.OrIOp, is_large, is_low)
    return lowering.select(is_large, cut, value)


def _to_integer(is_signed: bool) -> Rule:
    """What is out of range becomes the nearest integer, and NaN becomes 0."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        (value,) = lowering.values(operation.operands)
        (result,) = operation.results
        element = element_of(result.type)
        lowering.define(result, to_integer(lowering, value, element, is_signed))

    return rule


def to_integer(
    lowering: Lowering, value: SSAValue, element: Attribute, is_signed: bool = True
) -> SSAValue:
    """Floats as integers, cut off and saturated."""
    if element_type(value) != f64:
        value = converted(lowering, value, f32)
    if element == i1:
        limit = -1.0 if is_signed else 1.0
        predicate = (
            ComparisonPredicate.LESS_THAN_OR_EQUAL
            if is_signed
            else ComparisonPredicate.GREATER_THAN_OR_EQUAL
        )
        return lowering.compare_floats(predicate, value, lowering.like(limit, value))
    bits = _width(element)
    least, past = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    target = tile_type(value).with_element_type(element)
    made = lowering.compute(conversions.FToIOp, value, target, signedness=_signedness(is_signed))

    def choose(predicate: ComparisonPredicate, limit: float, number: int) -> SSAValue:
        condition = lowering.compare_floats(predicate, value, lowering.like(limit, value))
        return lowering.select(condition, lowering.like(number, made), made)

    made = choose(ComparisonPredicate.GREATER_THAN_OR_EQUAL, float(past), past - 1)
    made = choose(ComparisonPredicate.LESS_THAN_OR_EQUAL, float(least), least)
    is_nan = lowering.compare_floats(
        ComparisonPredicate.NOT_EQUAL, value, value, ComparisonOrdering.UNORDERED
    )
    return lowering.select(is_nan, lowering.like(0, made), made)


# --- bits ---


def bits_of(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Floats as integers of the same width."""
    if is_integer(element_type(value)):
        return value
    width = cast(Any, element_type(value)).bitwidth
    target = tile_type(value).with_element_type(IntegerType(width))
    return lowering.compute(conversions.BitcastOp, value, target)


def _bitcast(operation: Operation, lowering: Lowering) -> None:
    (value,) = lowering.values(operation.operands)
    (result,) = operation.results
    target = tile_type(value).with_element_type(element_of(result.type))
    if value.type != target:
        value = lowering.compute(conversions.BitcastOp, value, target)
    lowering.define(result, value)


def copy_sign(lowering: Lowering, size: SSAValue, sign: SSAValue) -> SSAValue:
    """The size of a number with the sign of another."""
    bits, signs = bits_of(lowering, size), bits_of(lowering, sign)
    highest = 1 << (_width(element_type(bits)) - 1)
    kept = lowering.compute(bitwise.AndIOp, bits, lowering.like(highest - 1, bits))
    taken = lowering.compute(bitwise.AndIOp, signs, lowering.like(highest, bits))
    both = lowering.compute(bitwise.OrIOp, kept, taken)
    return lowering.compute(conversions.BitcastOp, both, size.type)


def absolute(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The absolute value of floats."""
    return lowering.compute(floating_point.AbsFOp, value)


RULES: dict[str, Rule] = named(
    "arith",
    {
        "bitcast": _bitcast,
        "extf": _convert,
        "extsi": _resized(is_signed=True),
        "extui": _resized(is_signed=False),
        "fptosi": _to_integer(is_signed=True),
        "fptoui": _to_integer(is_signed=False),
        "index_cast": _resized(is_signed=True),
        "index_castui": _resized(is_signed=False),
        "sitofp": _from_integer(is_signed=True),
        "truncf": _convert,
        "trunci": _resized(is_signed=True),
        "uitofp": _from_integer(is_signed=False),
    },
)
"""The rule of each operation, by name."""
