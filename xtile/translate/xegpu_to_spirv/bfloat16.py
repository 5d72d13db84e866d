"""bf16 numbers, which are carried as their bits and computed with in f32."""

from __future__ import annotations

from xdsl.dialects.builtin import f32, f64, i1, i16, i32, i64
from xdsl.ir import Attribute, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type, length_of, of_length

_QUIET_NAN = 0x7FC0
_ROUNDING_BIAS = 0x7FFF
_MAGNITUDE = 2**63 - 1


def widen(lowering: Lowering, bits: SSAValue) -> SSAValue:
    """The f32 with the value of a bf16: its bits are the upper half."""
    word = _like(bits, i32)
    extended = lowering.compute("UConvert", word, bits)
    shifted = lowering.compute("ShiftLeftLogical", word, extended, lowering.integer(16, word))
    return lowering.compute("Bitcast", _like(bits, f32), shifted)


def narrow(lowering: Lowering, value: SSAValue) -> SSAValue:
    """The bits of an f32 or f64 rounded to bf16, to nearest, ties to even; NaN stays NaN."""
    if element_type(value.type) == f64:
        value = to_odd(lowering, value)
    compute, integer = lowering.compute, lowering.integer
    word = _like(value, i32)
    bits = compute("Bitcast", word, value)
    sixteen = integer(16, word)
    upper = compute("ShiftRightLogical", word, bits, sixteen)
    odd = compute("BitwiseAnd", word, upper, integer(1, word))
    biased = compute("IAdd", word, bits, integer(_ROUNDING_BIAS, word))
    rounded = compute("IAdd", word, biased, odd)
    upper = compute("ShiftRightLogical", word, rounded, sixteen)
    half = _like(value, i16)
    short = compute("UConvert", half, upper)
    is_nan = compute("IsNan", _like(value, i1), value)
    return lowering.select(is_nan, integer(_QUIET_NAN, half), short)


def to_odd(lowering: Lowering, value: SSAValue) -> SSAValue:
    """An f64 rounded to f32 so that rounding again is as if it were rounded once.

    What is cut off leaves a one in the last place (Boldo and Melquiond, "When double rounding is
    odd").
    """
    compute = lowering.compute
    word, wide, truth = _like(value, i32), _like(value, i64), _like(value, i1)
    near = compute("FConvert", _like(value, f32), value)
    back = compute("FConvert", value.type, near)
    # The bits of floats are ordered like their magnitudes.
    mask = lowering.integer(_MAGNITUDE, wide)
    given = compute("BitwiseAnd", wide, compute("Bitcast", wide, value), mask)
    rounded = compute("BitwiseAnd", wide, compute("Bitcast", wide, back), mask)
    too_far = compute("UGreaterThan", truth, rounded, given)
    inexact = compute("FOrdNotEqual", truth, back, value)
    bits = compute("Bitcast", word, near)
    one, zero = lowering.integer(1, word), lowering.integer(0, word)
    less = compute("ISub", word, bits, lowering.select(too_far, one, zero))
    sticky = lowering.select(inexact, one, zero)
    return compute("Bitcast", near.type, compute("BitwiseOr", word, less, sticky))


def _like(value: SSAValue, element: Attribute) -> Attribute:
    return of_length(element, length_of(value.type))
