"""bf16 numbers, which are carried as their bits and computed with in f32."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    IntegerType,
    VectorType,
    f32,
    f64,
    i1,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.assembly import ROUNDING_MODES
from xtile.dialects.arith.casts import ExtUIOp, TruncIOp, UIToFPOp
from xtile.dialects.arith.comparisons import CmpFOp, CmpIOp
from xtile.dialects.shapes import as_vector
from xtile.dialects.shared_attributes import vector_of
from xtile.translate.core_to_xegpu.lowering import Lowering

TO_NEAREST_EVEN = ROUNDING_MODES[0]
"""The rounding mode of `arith.truncf` where it names none."""

_QUIET_NAN = 0x7FC0
_MAGNITUDE = 0x7FFFFFFF
_INFINITY = 0x7F800000


def is_bfloat16(type_: Attribute) -> bool:
    """Whether a type is bf16 or a vector of it."""
    vector = as_vector(type_)
    return type(type_ if vector is None else vector.element_type) is BFloat16Type


def like(value: SSAValue, element: Attribute) -> Attribute:
    """The type `element`, as a vector if the value is one."""
    vector = as_vector(value.type)
    return element if vector is None else vector_of(vector.get_shape(), element)


def widen(lowering: Lowering, bits: SSAValue) -> SSAValue:
    """The f32 with the value of a bf16: its bits are the upper half."""
    word = like(bits, i32)
    extended = lowering.emit(ExtUIOp(bits, cast("Any", word))).result
    shift = lowering.constant(16, word)
    shifted = lowering.emit(arith.ShLIOp(extended, shift)).result
    return lowering.emit(arith.BitcastOp(shifted, like(bits, f32))).result


def narrow(lowering: Lowering, value: SSAValue, mode: str = TO_NEAREST_EVEN) -> SSAValue:
    """The bits of an f32 or f64 rounded to bf16; NaN stays NaN.

    Args:
        lowering: Where to emit.
        value: The number, or a vector of them.
        mode: The rounding mode of `arith.truncf`.
    """
    if element_of(value) == f64:
        value = to_odd(lowering, value)
    emit = lowering.emit
    word, half = like(value, i32), like(value, i16)
    bits = emit(arith.BitcastOp(value, word)).result
    rounded = without_low_bits(lowering, bits, 16, mode)
    upper = emit(arith.ShRUIOp(rounded, lowering.constant(16, word))).result
    short = emit(TruncIOp(upper, cast("Any", half))).result
    # NaNs are what lies above infinity; LLVM cannot compare a vector of one float with itself.
    magnitude = emit(arith.AndIOp(bits, lowering.constant(_MAGNITUDE, word))).result
    is_nan = compare(lowering, arith.CmpiOp(magnitude, lowering.constant(_INFINITY, word), "ugt"))
    return lowering.select(is_nan, lowering.constant(_QUIET_NAN, half), short)


def without_low_bits(lowering: Lowering, bits: SSAValue, count: int, mode: str) -> SSAValue:
    """The bits of an f32 rounded so that the lowest ones are 0; NaN may become anything.

    Args:
        lowering: Where to emit.
        bits: The bits as i32.
        count: How many of them are cut off.
        mode: The rounding mode of `arith.truncf`.
    """
    emit, word = lowering.emit, bits.type
    below = (1 << count) - 1
    if mode == TO_NEAREST_EVEN:
        upper = emit(arith.ShRUIOp(bits, lowering.constant(count, word))).result
        odd = emit(arith.AndIOp(upper, lowering.constant(1, word))).result
        bias = emit(arith.AddiOp(odd, lowering.constant(below >> 1, word))).result
    elif mode == "to_nearest_away":
        bias = lowering.constant((below >> 1) + 1, word)
    elif mode == "toward_zero":
        bias = lowering.constant(0, word)
    else:
        zero, all_ = lowering.constant(0, word), lowering.constant(below, word)
        is_negative = compare(lowering, arith.CmpiOp(bits, zero, "slt"))
        away, near = (all_, zero) if mode == "downward" else (zero, all_)
        bias = lowering.select(is_negative, away, near)
    moved = emit(arith.AddiOp(bits, bias)).result
    return emit(arith.AndIOp(moved, lowering.constant(~below, word))).result


def to_odd(lowering: Lowering, value: SSAValue) -> SSAValue:
    """An f64 rounded to f32 so that rounding again is as if it were rounded once.

    What is cut off leaves a one in the last place (Boldo and Melquiond, "When double rounding is
    odd").
    """
    emit = lowering.emit
    word = like(value, i32)
    near = emit(arith.TruncFOp(value, like(value, f32))).result
    back = emit(arith.ExtFOp(near, like(value, f64))).result
    # The bits of floats are ordered like their magnitudes.
    wide = like(value, i64)
    mask = lowering.constant(2**63 - 1, wide)
    given = emit(arith.AndIOp(emit(arith.BitcastOp(value, wide)).result, mask)).result
    rounded = emit(arith.AndIOp(emit(arith.BitcastOp(back, wide)).result, mask)).result
    too_far = compare(lowering, arith.CmpiOp(rounded, given, "ugt"))
    inexact = compare(lowering, arith.CmpfOp(back, value, "one"))
    bits = emit(arith.BitcastOp(near, word)).result
    less = emit(arith.SubiOp(bits, emit(ExtUIOp(too_far, cast("Any", word))).result)).result
    sticky = emit(ExtUIOp(inexact, cast("Any", word))).result
    return emit(arith.BitcastOp(emit(arith.OrIOp(less, sticky)).result, near.type)).result


_SINGLE_PRECISION = 24
"""Bits of the significand of f32."""


def integer_to_single(lowering: Lowering, value: SSAValue, is_signed: bool) -> SSAValue:
    """Integers of more than 24 bits as f32, rounded so that bf16 is as if it were rounded once.

    What is cut off leaves a one in the last place, as above.
    """
    from xdsl.dialects.math import AbsIOp, CountLeadingZerosOp

    emit, constant = lowering.emit, lowering.constant
    type_, single = value.type, like(value, f32)
    zero, one = constant(0, type_), constant(1, type_)
    size = emit(AbsIOp(value)).result if is_signed else value
    excess = constant(cast(IntegerType, element_of(value)).bitwidth - _SINGLE_PRECISION, type_)
    unused = emit(CountLeadingZerosOp(size)).result
    cut = emit(arith.MaxSIOp(emit(arith.SubiOp(excess, unused)).result, zero)).result
    high = emit(arith.ShRUIOp(size, cut)).result
    kept = emit(arith.ShLIOp(high, cut)).result
    is_inexact = compare(lowering, arith.CmpiOp(kept, size, "ne"))
    sticky = lowering.select(is_inexact, emit(arith.ShLIOp(one, cut)).result, zero)
    odd = emit(arith.OrIOp(kept, sticky)).result
    exact = emit(UIToFPOp(odd, cast("Any", single))).result
    if not is_signed:
        return exact
    is_negative = compare(lowering, arith.CmpiOp(value, zero, "slt"))
    return lowering.select(is_negative, emit(arith.NegfOp(exact)).result, exact)


def compare(lowering: Lowering, comparison: arith.CmpiOp | arith.CmpfOp) -> SSAValue:
    """The answer of a comparison, one for each element of vectors, which xDSL forgets."""
    kind = CmpIOp if isinstance(comparison, arith.CmpiOp) else CmpFOp
    operation = kind.create(
        operands=comparison.operands,
        result_types=[like(comparison.operands[0], i1)],
        properties=comparison.properties,
    )
    comparison.erase()
    return lowering.emit(operation).results[0]


def element_of(value: SSAValue) -> Attribute:
    """The type of a number, or of a vector's elements."""
    if isa(value.type, VectorType):
        return value.type.element_type
    return value.type
