"""What operations say of rounding: subnormal numbers as zeros, and casts that saturate."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    f32,
    i32,
)
from xdsl.ir import Operation, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.number_attributes import (
    FLUSH_ATTRIBUTE,
    LARGEST_SATURATED,
    NUMBER_ATTRIBUTES,
    SATURATE_ATTRIBUTE,
)
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.rewrite.rebuilder import refuse_rounding
from xtile.translate.tiles_to_xegpu.lowering import Lowering

_FLUSHES = frozenset({FLUSH_ATTRIBUTE})
_SATURATES = frozenset({SATURATE_ATTRIBUTE})

_EXPONENT = 0x7F800000
_SIGN = -(2**31)


def computed(operation: Operation, lowering: Lowering) -> None:
    """Emits an operation of `arith` or `math` that says how it rounds.

    Raises:
        DiagnosticError: It rounds in a direction that upstream's operations do not have.
    """
    said = NUMBER_ATTRIBUTES & operation.attributes.keys()
    (result,) = operation.results
    operands = lowering.values(operation.operands)
    largest = LARGEST_SATURATED.get(type(value_type(result.type)))
    flushes, saturates = said == _FLUSHES, said == _SATURATES
    if flushes:
        operands = [_flushed(lowering, operand) for operand in operands]
    elif saturates and largest is not None:
        operands = [_limited(lowering, operands[0], largest)]
    else:
        refuse_rounding(operation, lowering)
    made = type(operation).create(
        operands=operands,
        result_types=[result.type],
        properties=operation.properties.copy(),
        attributes={name: each for name, each in operation.attributes.items() if name not in said},
    )
    value = lowering.emit(made).results[0]
    lowering.define(result, _flushed(lowering, value) if flushes else value)


def _flushed(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Numbers of f32, of which subnormal ones are zeros of their signs; others stay."""
    if value_type(value.type) != f32:
        return value
    word = with_element(value.type, i32)
    bits = lowering.compute(arith.BitcastOp, [value], word)
    exponent = lowering.emit(arith.AndIOp(bits, lowering.constant(_EXPONENT, word))).result
    sign = lowering.emit(arith.AndIOp(bits, lowering.constant(_SIGN, word))).result
    has_none = lowering.compare("eq", exponent, lowering.constant(0, word))
    chosen = lowering.emit(SelectOp(has_none, sign, bits)).result
    return lowering.compute(arith.BitcastOp, [chosen], value.type)


def _limited(lowering: Lowering, value: SSAValue, largest: float) -> SSAValue:
    """Numbers that are no larger than the largest one of another type; NaN stays."""
    for kind, limit in ((arith.MinimumfOp, largest), (arith.MaximumfOp, -largest)):
        value = lowering.compute(kind, [value, lowering.constant(limit, value.type)], value.type)
    return value
