"""i2 and i4, which are carried in an i8 with their sign, and are only converted.

Numbers of fewer bits than 8 are packed, unpacked and widened; nobody computes with them.
"""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, IntegerType, i8
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.arith.casts import ExtSIOp, ExtUIOp, TruncIOp
from xtile.dialects.upstream import value_type
from xtile.text.source import spelling_of
from xtile.translate.core_to_xegpu.bfloat16 import element_of, like
from xtile.translate.core_to_xegpu.lowering import Lowering, is_narrow_integer


def is_on_narrow_integers(operation: Operation) -> bool:
    """Whether an operation has i2 or i4 as an operand or as its result."""
    types = (*operation.operand_types, *operation.result_types)
    return any(is_narrow_integer(value_type(type_)) for type_ in types)


def emit_narrow_integer(
    operation: Operation, operands: list[SSAValue], width: Attribute, lowering: Lowering
) -> SSAValue:
    """Emits a conversion from or to i2 or i4.

    Args:
        operation: The operation of the source.
        operands: What its operands have become.
        width: The type of what its result becomes, in the source's words.
        lowering: Where to emit.

    Raises:
        DiagnosticError: It computes with such integers.
    """
    (value, *_), source = operands, value_type(operation.operands[0].type)
    target = value_type(width)
    if operation.name == "arith.trunci":
        if element_of(value) != i8:
            value = lowering.emit(TruncIOp(value, cast("Any", like(value, i8)))).result
        return _with_sign(lowering, value, _bits(target))
    if operation.name == "arith.extsi":
        return _extended(lowering, ExtSIOp, value, target)
    if operation.name == "arith.extui":
        return _extended(lowering, ExtUIOp, _low_bits(lowering, value, _bits(source)), target)
    if operation.name == "arith.bitcast":
        if isinstance(target, AnyFloat):
            return _low_bits(lowering, value, _bits(source))
        return _with_sign(lowering, value, _bits(target))
    raise lowering.error(
        f"{spelling_of(operation)} of {source} cannot be compiled: integers of 2 and 4 bits are "
        "only converted; widen them to i8 before"
    )


def _bits(type_: Attribute) -> int:
    return cast("IntegerType", type_).bitwidth


def _with_sign(lowering: Lowering, value: SSAValue, bits: int) -> SSAValue:
    """The lowest bits of an i8 as a number with a sign."""
    distance = lowering.constant(i8.bitwidth - bits, value.type)
    moved = lowering.emit(arith.ShLIOp(value, distance)).result
    return lowering.emit(arith.ShRSIOp(moved, distance)).result


def _low_bits(lowering: Lowering, value: SSAValue, bits: int) -> SSAValue:
    mask = lowering.constant((1 << bits) - 1, value.type)
    return lowering.emit(arith.AndIOp(value, mask)).result


def _extended(lowering: Lowering, kind: Any, value: SSAValue, target: Attribute) -> SSAValue:
    """An i8 in a type of 4 bits, which is i8 again, or of more."""
    if _bits(target) <= i8.bitwidth:
        return value
    return lowering.emit(kind(value, like(value, target))).result
