"""Conversions between types of elements, and the bytes of a row.

Source: CUDA Tile IR specification, "Conversions", "pack", "unpack"; docs/core-form.md, "Narrow
numbers".
"""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatTF32Type,
    IntegerAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.casts import (
    ExtFOp,
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    TruncFOp,
    TruncIOp,
    UIToFPOp,
)
from xtile.dialects.core.packing import PackOp, UnpackOp
from xtile.dialects.cuda_tile.enumerations import RoundingMode
from xtile.dialects.cuda_tile.ops.conversions import FToFOp, FToIOp, IToFOp
from xtile.dialects.cuda_tile.types import element_bits
from xtile.dialects.number_attributes import NARROW_FLOATS, SATURATE_ATTRIBUTE
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.shapes import BitCastOp, ShapeCastOp
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.cuda_tile_to_core.arithmetic import is_signed, overflow_of
from xtile.translate.cuda_tile_to_core.raising import Raising

_ROUNDING_MODES = {
    RoundingMode.NEGATIVE_INF: 1,
    RoundingMode.POSITIVE_INF: 2,
    RoundingMode.ZERO: 3,
    RoundingMode.NEAREST_AWAY: 4,
}
"""The numbers of the modes of `arith`, but for that to nearest, ties to even."""

_EXPONENTS: dict[type[Attribute], int] = {
    Float16Type: 5,
    BFloat16Type: 8,
    FloatTF32Type: 8,
    Float32Type: 8,
    Float64Type: 11,
}
"""Bits of the exponents of types that are not narrow."""

_SCALE_BITS = 8
"""Bits of the exponent of f8E8M0FNU, which is all that it has."""


def _width(element: Attribute) -> int:
    bits: Any = element
    return bits.bitwidth


def _holds(wide: Attribute, narrow: Attribute) -> bool:
    """Whether a type of floats holds all numbers of another one with fewer bits."""
    if _width(wide) <= _width(narrow):
        return False
    own = _EXPONENTS.get(type(wide), 0)
    if isinstance(narrow, Float8E8M0FNUType):
        return own >= _SCALE_BITS
    return own >= _EXPONENTS.get(type(narrow), 0) and not isinstance(wide, Float8E8M0FNUType)


def converted(
    raising: Raising,
    value: SSAValue,
    element: Attribute,
    mode: RoundingMode = RoundingMode.NEAREST_EVEN,
) -> SSAValue:
    """Floats as floats of another type, saturated if that is narrow; rounded once."""
    source, type_ = value_type(value.type), with_element(value.type, element)
    if _holds(element, source):
        return raising.compute(ExtFOp, [value], type_)
    if _width(source) <= _width(element):
        # f32 holds all numbers of both.
        return converted(raising, converted(raising, value, f32), element, mode)
    is_scale = isinstance(element, Float8E8M0FNUType)
    attributes: dict[str, Attribute] = {}
    properties: dict[str, Attribute] = {}
    if is_scale or isinstance(element, NARROW_FLOATS):
        attributes[SATURATE_ATTRIBUTE] = UnitAttr()
    # Scales are rounded up where nothing else is said.
    if mode in _ROUNDING_MODES and not (is_scale and mode is RoundingMode.POSITIVE_INF):
        properties["roundingmode"] = IntegerAttr(_ROUNDING_MODES[mode], i32)
    return raising.compute(TruncFOp, [value], type_, properties, attributes)


def _float_to_float(operation: FToFOp, raising: Raising) -> None:
    value, mode = raising.value(operation.from_), operation.rounding_mode.data
    element = value_type(raising.type(operation.to.type))
    raising.define(operation.to, converted(raising, value, element, mode))


def _float_to_integer(operation: FToIOp, raising: Raising) -> None:
    """The number, cut off; a truth value says whether it is not 0."""
    kind = FPToSIOp if is_signed(operation) else FPToUIOp
    type_ = raising.type(operation.to.type)
    if value_type(type_) == i1:
        value = raising.value(operation.from_)
        if isinstance(value_type(value.type), (*NARROW_FLOATS, Float8E8M0FNUType)):
            value = converted(raising, value, f32)
        zero = raising.constant(0.0, value.type)
        raising.define(operation.to, raising.compare_floats("une", value, zero))
        return
    raising.define(operation.to, raising.compute(kind, [raising.value(operation.from_)], type_))


def _integer_to_float(operation: IToFOp, raising: Raising) -> None:
    kind = SIToFPOp if is_signed(operation) else UIToFPOp
    value, type_ = raising.value(operation.from_), raising.type(operation.to.type)
    element = value_type(type_)
    if isinstance(element, NARROW_FLOATS):
        # f64 holds every integer that is not too large for the type.
        wide = raising.compute(kind, [value], with_element(type_, f64))
        raising.define(operation.to, converted(raising, wide, element))
    else:
        raising.define(operation.to, raising.compute(kind, [value], type_))


def _extend(operation: Operation, raising: Raising) -> None:
    kind = ExtSIOp if is_signed(operation) else ExtUIOp
    _cast(operation, raising, kind)


def _truncate(operation: Operation, raising: Raising) -> None:
    _cast(operation, raising, TruncIOp, overflow_of(operation))


def _cast(
    operation: Operation,
    raising: Raising,
    kind: type[IRDLOperation],
    properties: dict[str, Attribute] | None = None,
) -> None:
    (result,) = operation.results
    type_ = raising.type(result.type)
    value = raising.value(operation.operands[0])
    raising.define(result, raising.compute(kind, [value], type_, properties))


def _bitcast(operation: Operation, raising: Raising) -> None:
    value = raising.value(operation.operands[0])
    (result,) = operation.results
    type_ = raising.type(result.type)
    original = _original(value)
    if value_type(original.type) == value_type(type_):
        value = raising.reshape(original, shape_of(type_))
    elif type_ != value.type:
        value = raising.compute(arith.BitcastOp, [value], type_)
    raising.define(result, value)


def _original(bits: SSAValue) -> SSAValue:
    """The numbers whose bits some are, in any shape; the bits themselves if they are of none."""
    value = bits
    while isinstance(value.owner, ShapeCastOp):
        value = value.owner.source
    return value.owner.input if isinstance(value.owner, arith.BitcastOp) else bits


# --- the bytes of a row ---

_BYTE = 8


def _pack(operation: Operation, raising: Raising) -> None:
    value = raising.value(operation.operands[0])
    element, type_ = value_type(value.type), raising.type(operation.results[0].type)
    if isinstance(element, FloatTF32Type):
        value, element = converted(raising, value, f32), f32
    if element_bits(element) < _BYTE:
        made = raising.compute(PackOp, [value], type_, {"axis": IntegerAttr(0, i64)})
    else:
        made = raising.compute(BitCastOp, [value], type_)
    raising.define(operation.results[0], made)


def _unpack(operation: Operation, raising: Raising) -> None:
    value = raising.value(operation.operands[0])
    type_ = raising.type(operation.results[0].type)
    element = value_type(type_)
    if element_bits(element) < _BYTE:
        made = raising.compute(UnpackOp, [value], type_, {"axis": IntegerAttr(0, i64)})
    elif isinstance(element, FloatTF32Type):
        # The bits that tf32 has not are left out.
        wide = raising.compute(BitCastOp, [value], with_element(type_, f32))
        made = converted(raising, wide, element, RoundingMode.ZERO)
    else:
        made = raising.compute(BitCastOp, [value], type_)
    raising.define(operation.results[0], made)


RULES: dict[str, Rule] = {
    "cuda_tile.bitcast": _bitcast,
    "cuda_tile.exti": _extend,
    "cuda_tile.ftof": _float_to_float,
    "cuda_tile.ftoi": _float_to_integer,
    "cuda_tile.itof": _integer_to_float,
    "cuda_tile.pack": _pack,
    "cuda_tile.trunci": _truncate,
    "cuda_tile.unpack": _unpack,
}
"""The rule of each operation, by name."""
