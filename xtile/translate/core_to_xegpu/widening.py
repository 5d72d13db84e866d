"""Narrow floats as ones of a wider type, which are computed with, and back."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.arith import TruncFOp
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    Float16Type,
    FloatTF32Type,
    IntegerAttr,
    f32,
    f64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.assembly import ROUNDING_MODES
from xtile.dialects.arith.casts import ExtFOp, ExtSIOp, TruncIOp
from xtile.dialects.construction import made
from xtile.dialects.number_attributes import SATURATE_ATTRIBUTE
from xtile.dialects.upstream import value_type
from xtile.translate.core_to_xegpu import bfloat16
from xtile.translate.core_to_xegpu.bfloat16 import TO_NEAREST_EVEN, element_of, is_bfloat16, like
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.narrow_floats import (
    Format,
    PowerFormat,
    format_of,
    narrow,
    narrowed_power,
    widen,
)


def wide_type(type_: Attribute) -> Attribute:
    """The type in which numbers, or a vector's elements, are added up: f32 for narrower floats."""
    element = value_type(type_)
    is_narrow = isinstance(element, Float16Type | BFloat16Type | FloatTF32Type)
    return f32 if is_narrow or format_of(element) is not None else element


def widened(
    lowering: Lowering, value: SSAValue, type_: Attribute, target: Attribute | None = None
) -> SSAValue:
    """A number, or a vector of some, in a wider type.

    Args:
        lowering: Where to emit.
        value: The numbers, as they are carried.
        type_: Their type in the source, or that of a vector of them.
        target: The wider type; None for that in which such numbers are added up.
    """
    format_ = format_of(type_)
    if is_bfloat16(type_):
        value = bfloat16.widen(lowering, value)
    elif format_ is not None:
        value = widen(lowering, value, format_)
    wide = like(value, target or wide_type(type_))
    if value.type == wide:
        return value
    kind = ExtFOp if isinstance(element_of(value), AnyFloat) else ExtSIOp
    return lowering.emit(made(kind, (value,), (wide,))).result


def rounded(lowering: Lowering, value: SSAValue, type_: Attribute) -> SSAValue:
    """What was computed in a wider type, as numbers of the type that they belong to.

    Raises:
        DiagnosticError: They are powers of two only.
    """
    element, format_ = value_type(type_), format_of(type_)
    if is_bfloat16(type_):
        return bfloat16.narrow(lowering, value)
    if isinstance(format_, PowerFormat):
        raise lowering.error("f8E8M0FNU has no arithmetic; compute in f32 and convert the result")
    if format_ is not None:
        return narrow(lowering, value, format_)
    if isinstance(element, FloatTF32Type) or element_of(value) == element:
        return value
    kind = TruncFOp if isinstance(element, AnyFloat) else TruncIOp
    return lowering.emit(kind(value, cast("Any", like(value, element)))).result


# --- arithmetic on numbers of 4 to 8 bits ---


def is_on_narrow_floats(operation: Operation) -> bool:
    """Whether an operation has a narrow number as an operand or as its result."""
    return any(format_of(type_) for type_ in (*operation.operand_types, *operation.result_types))


def emit_narrow(
    operation: Operation, operands: list[SSAValue], width: Attribute, lowering: Lowering
) -> SSAValue:
    """Emits arithmetic on narrow numbers, in f32 and rounded once.

    Args:
        operation: The operation of the source.
        operands: What its operands have become, narrow numbers as bits.
        width: The type of what its result becomes, of numbers of any width.
        lowering: Where to emit.

    Raises:
        DiagnosticError: It rounds in a direction, or to a power of two without saturation.
    """
    wide = [
        widened(lowering, value, type_)
        for value, type_ in zip(operands, operation.operand_types, strict=True)
    ]
    result = format_of(width)
    if operation.name == "arith.truncf" and result is not None:
        return _truncated(lowering, operation, wide[0], result)
    if operation.name == "arith.extf":
        is_wider = value_type(width) == f64
        return (widened if is_wider else rounded)(lowering, wide[0], width)
    kind = like(wide[0], f32) if result is not None else width
    new = type(operation).create(
        operands=wide, result_types=[kind], properties=operation.properties.copy()
    )
    made = lowering.emit(new).results[0]
    return made if result is None else rounded(lowering, made, width)


def _truncated(
    lowering: Lowering, operation: Operation, value: SSAValue, format_: Format | PowerFormat
) -> SSAValue:
    mode = operation.properties.get("roundingmode")
    name = ROUNDING_MODES[mode.value.data] if isa(mode, IntegerAttr) else TO_NEAREST_EVEN
    saturates = SATURATE_ATTRIBUTE in operation.attributes
    if isinstance(format_, PowerFormat):
        if not saturates:
            raise lowering.error(
                "CPUs round sizes to f8E8M0FNU, upwards or toward zero; write core.saturate"
            )
        return narrowed_power(lowering, value, format_, rounds_up=name == TO_NEAREST_EVEN)
    if name != TO_NEAREST_EVEN:
        raise lowering.error("numbers of 4 to 8 bits are rounded to nearest, ties to even, only")
    return narrow(lowering, value, format_, saturates=saturates)
