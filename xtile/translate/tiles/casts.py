"""Conversions between types of numbers, as the core form says what they give.

What a float is as an integer that does not hold it, and what is too large for floats of 8 bits,
languages of tiles leave open or say otherwise.

Source: docs/semantics.md, 1.9 and 7.
"""

from __future__ import annotations

import math
from typing import Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E4M3FNUZType,
    Float8E5M2FNUZType,
    Float8E5M2Type,
    Float16Type,
    FloatTF32Type,
    IntegerType,
    f32,
    f64,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.number_attributes import Rounding
from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.descriptors import Complex
from xtile.translate.tiles.elementwise import Compute, named
from xtile.translate.tiles.lowering import TileLowering


def width_of(element: Attribute) -> int:
    """The bits of a number."""
    return cast("Any", element).bitwidth


# --- integers to integers ---


def _resized(is_signed: bool) -> Rule:
    def rule(operation: Operation, lowering: TileLowering) -> None:
        (result,) = operation.results
        number = lowering.facts.number(lowering.value(operation.operands[0]))
        element = lowering.element_of(result.type)
        if isinstance(number, int) and (is_signed or number >= 0):
            lowering.define(result, lowering.integer(number, element))
            return
        value = lowering.value(operation.operands[0])
        lowering.define(result, lowering.resize(value, element, is_signed))

    return rule


# --- floats to floats ---

_OVERFLOW: dict[type[Attribute], tuple[float, float]] = {
    Float8E4M3FNType: (464.0, math.nan),
    Float8E5M2Type: (61440 - 2**-8, math.inf),
}
"""Numbers of a larger size than the first become the second, where devices saturate them.

Of f8E5M2 that begins at 61440, a tie that is rounded to infinity.
"""


def rounded_to(lowering: TileLowering, value: SSAValue, element: Attribute) -> SSAValue:
    """Floats in a type, rounded to nearest; what is too large becomes infinite, or NaN."""
    return _overflown(lowering, value, lowering.converted(value, element))


_ONLY_CONVERTED = (
    FloatTF32Type
    | Float8E4M3FNType
    | Float8E4M3FNUZType
    | Float8E5M2Type
    | Float8E5M2FNUZType
    | Float4E2M1FNType
)
"""Types that languages of tiles have no arithmetic of."""


def narrow(compute: Compute) -> Compute:
    """A function of floats that is computed in f32 for types that are only converted."""

    def wide(lowering: TileLowering, *operands: SSAValue) -> SSAValue:
        element = lowering.element(operands[0])
        if not isinstance(element, _ONLY_CONVERTED):
            return compute(lowering, *operands)
        result = compute(lowering, *(lowering.converted(value, f32) for value in operands))
        return rounded_to(lowering, result, element)

    return wide


def in_computed_type(lowering: TileLowering, value: SSAValue) -> SSAValue:
    """Numbers of a type that is only converted as f32, which holds them."""
    is_computed = not isinstance(lowering.element(value), _ONLY_CONVERTED)
    return value if is_computed else lowering.converted(value, f32)


_DIRECTIONS = (None, Rounding.DOWNWARD, Rounding.UPWARD, Rounding.TOWARD_ZERO)
"""In the order of `arith`'s numbers: to_nearest_even, downward, upward, toward_zero."""


def direction_of(operation: Operation, lowering: TileLowering) -> Rounding | None:
    """The direction in which a cast rounds; None for the nearest number.

    Raises:
        DiagnosticError: The nearest number, but of a tie that away from zero.
    """
    given = operation.properties.get("roundingmode")
    number: int = 0 if given is None else cast("Any", given).value.data
    if number >= len(_DIRECTIONS):
        name = lowering.result_name
        raise lowering.error(f"{name} does not round to nearest with ties away from zero")
    return _DIRECTIONS[number]


_UNUSED_OF_TF32 = 13
"""The bits of an f32 that tf32 does not have."""


def directed(
    lowering: TileLowering, value: SSAValue, element: Attribute, direction: Rounding
) -> SSAValue:
    """Floats in a type, rounded in a direction."""
    # It is compared with what it became.
    value = in_computed_type(lowering, value)
    made = lowering.converted(value, element)
    if isinstance(element, FloatTF32Type):
        wide, step = lowering.converted(made, f32), 1 << _UNUSED_OF_TF32
        moved = lowering.converted(_moved(lowering, value, wide, direction, step), element)
    else:
        moved = _moved(lowering, value, made, direction)
    return _overflown(lowering, value, moved)


def _moved(
    lowering: TileLowering, value: SSAValue, made: SSAValue, direction: Rounding, step: int = 1
) -> SSAValue:
    """The neighbour of a rounded number, where it was rounded in the wrong direction.

    The bits of numbers of one sign are in the order of their sizes.
    """
    back = lowering.converted(made, lowering.element(value))
    bits = bits_of(lowering, made)
    one, zero = lowering.like(step, bits), lowering.like(0, bits)
    has_zeros = not isinstance(lowering.element(made), _ONE_ZERO)
    if not has_zeros:
        bits = lowering.select(
            _is_lost_sign(lowering, value, bits), _minus_zero(lowering, bits), bits
        )
    is_negative = lowering.cmpi("slt", bits, zero)
    is_above, is_below = lowering.cmpf("ogt", back, value), lowering.cmpf("olt", back, value)
    if direction is Rounding.TOWARD_ZERO:
        is_wrong = lowering.select(is_negative, is_below, is_above)
        grows = None
    else:
        is_down = direction is Rounding.DOWNWARD
        is_wrong = is_above if is_down else is_below
        grows = is_negative if is_down else lowering.opposite(is_negative)
    smaller = lowering.arith("subi", bits, one)
    neighbour = smaller
    if grows is not None:
        neighbour = lowering.select(grows, lowering.arith("addi", bits, one), smaller)
    chosen = lowering.select(is_wrong, neighbour, bits)
    if not has_zeros:
        is_number = lowering.cmpf("oeq", value, value)
        is_zero = lowering.cmpi("eq", chosen, _minus_zero(lowering, bits))
        chosen = lowering.select(lowering.arith("andi", is_number, is_zero), zero, chosen)
    return lowering.bitcast(chosen, lowering.element(made))


_ONE_ZERO = (Float8E4M3FNUZType, Float8E5M2FNUZType)
"""The types in which the bits of -0 are NaN."""


def _is_lost_sign(lowering: TileLowering, value: SSAValue, bits: SSAValue) -> SSAValue:
    """Whether a negative number became a zero without a sign."""
    is_negative = lowering.cmpf("olt", value, lowering.like(0.0, value))
    is_zero = lowering.cmpi("eq", bits, lowering.like(0, bits))
    return lowering.arith("andi", is_negative, is_zero)


def _minus_zero(lowering: TileLowering, bits: SSAValue) -> SSAValue:
    return lowering.like(-128, bits)


def _overflown(lowering: TileLowering, value: SSAValue, made: SSAValue) -> SSAValue:
    """Replaces what is too large for a type."""
    limits = _OVERFLOW.get(type(lowering.element(made)))
    if limits is None or lowering.element(value) == lowering.element(made):
        return made
    limit, instead = limits
    wide = lowering.converted(value, f32)
    is_large = lowering.cmpf("ogt", wide, lowering.like(limit, wide))
    is_small = lowering.cmpf("olt", wide, lowering.like(-limit, wide))
    made = lowering.select(is_large, lowering.like(instead, made), made)
    return lowering.select(is_small, lowering.like(-instead, made), made)


# --- between integers and floats ---


def _from_integer(is_signed: bool) -> Rule:
    def rule(operation: Operation, lowering: TileLowering) -> None:
        (value,) = lowering.values(operation.operands)
        (result,) = operation.results
        made = from_integer(lowering, value, lowering.element_of(result.type), is_signed)
        lowering.define(result, made)

    return rule


def from_integer(
    lowering: TileLowering, value: SSAValue, element: Attribute, is_signed: bool = True
) -> SSAValue:
    """Integers as floats, rounded once."""
    if lowering.element(value) == i1:
        value = lowering.resize(value, IntegerType(8), is_signed)
    if not isinstance(element, Float16Type | BFloat16Type):
        return lowering.to_float(value, element, is_signed)
    width = width_of(lowering.element(value))
    if width == 64:
        value = _with_sticky_bit(lowering, value, is_signed)
    between = f32 if width <= 16 else f64
    return lowering.converted(lowering.to_float(value, between, is_signed), element)


_PRECISION = 53
"""Bits of the significand of f64."""


def _with_sticky_bit(lowering: TileLowering, value: SSAValue, is_signed: bool) -> SSAValue:
    """Integers that f64 holds, which narrower floats are rounded from as from the given ones.

    What f64 has no room for leaves a one in its last place, if it is not 0.
    """
    low = 2 ** (64 - _PRECISION) - 1
    rest = lowering.arith("andi", value, lowering.like(low, value))
    zero = lowering.like(0, value)
    is_inexact = lowering.cmpi("ne", rest, zero)
    high = lowering.arith("andi", value, lowering.like(~low, value))
    sticky = lowering.select(is_inexact, lowering.like(low + 1, value), zero)
    cut = lowering.arith("ori", high, sticky)
    limit = lowering.like(2**_PRECISION, value)
    is_large = lowering.cmpi("sge" if is_signed else "uge", value, limit)
    if is_signed:
        least = lowering.like(-(2**_PRECISION), value)
        is_large = lowering.arith("ori", is_large, lowering.cmpi("slt", value, least))
    return lowering.select(is_large, cut, value)


def _to_integer(is_signed: bool) -> Rule:
    """What is out of range becomes the nearest integer, and NaN becomes 0."""

    def rule(operation: Operation, lowering: TileLowering) -> None:
        (value,) = lowering.values(operation.operands)
        (result,) = operation.results
        element = lowering.element_of(result.type)
        lowering.define(result, to_integer(lowering, value, element, is_signed))

    return rule


def to_integer(
    lowering: TileLowering, value: SSAValue, element: Attribute, is_signed: bool = True
) -> SSAValue:
    """Floats as integers, cut off and saturated."""
    if lowering.element(value) != f64:
        value = lowering.converted(value, f32)
    if element == i1:
        predicate, limit = ("ole", -1.0) if is_signed else ("oge", 1.0)
        return lowering.cmpf(predicate, value, lowering.like(limit, value))
    bits = width_of(element)
    least, past = (-(1 << bits - 1), 1 << bits - 1) if is_signed else (0, 1 << bits)
    made = lowering.cut_off(value, element, is_signed)

    def choose(predicate: str, limit: float, number: int) -> SSAValue:
        condition = lowering.cmpf(predicate, value, lowering.like(limit, value))
        return lowering.select(condition, lowering.like(number, made), made)

    made = choose("oge", float(past), past - 1)
    made = choose("ole", float(least), least)
    is_nan = lowering.cmpf("une", value, value)
    return lowering.select(is_nan, lowering.like(0, made), made)


# --- bits ---


def bits_of(lowering: TileLowering, value: SSAValue) -> SSAValue:
    """Floats as integers of the same width."""
    element = lowering.element(value)
    if isa(element, IntegerType):
        return value
    return lowering.bitcast(value, IntegerType(width_of(element)))


def _bitcast(operation: Operation, lowering: TileLowering) -> None:
    (value,), (result,) = lowering.values(operation.operands), operation.results
    lowering.define(result, lowering.bitcast(value, lowering.element_of(result.type)))


def copy_sign(lowering: TileLowering, size: SSAValue, sign: SSAValue) -> SSAValue:
    """The size of a number with the sign of another."""
    bits, signs = bits_of(lowering, size), bits_of(lowering, sign)
    highest = 1 << (width_of(lowering.element(bits)) - 1)
    kept = lowering.arith("andi", bits, lowering.like(highest - 1, bits))
    taken = lowering.arith("andi", signs, lowering.like(highest, bits))
    return lowering.bitcast(lowering.arith("ori", kept, taken), lowering.element(size))


# --- complex numbers, which are their two parts ---


def _create(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], Complex(*lowering.values(operation.operands)))


def _real(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], lowering.complex(operation.operands[0]).real)


def _imaginary(operation: Operation, lowering: TileLowering) -> None:
    lowering.define(operation.results[0], lowering.complex(operation.operands[0]).imaginary)


RULES: dict[str, Rule] = {
    **named(
        "arith",
        {
            "bitcast": _bitcast,
            "extsi": _resized(is_signed=True),
            "extui": _resized(is_signed=False),
            "fptosi": _to_integer(is_signed=True),
            "fptoui": _to_integer(is_signed=False),
            "index_cast": _resized(is_signed=True),
            "index_castui": _resized(is_signed=False),
            "sitofp": _from_integer(is_signed=True),
            "trunci": _resized(is_signed=True),
            "uitofp": _from_integer(is_signed=False),
        },
    ),
    "complex.create": _create,
    "complex.im": _imaginary,
    "complex.re": _real,
}
"""The rule of each operation, by name."""
