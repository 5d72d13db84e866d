"""Constants: bf16 as its bits, and a matrix as the constants of its pieces."""

from __future__ import annotations

import struct
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    FloatTF32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i64,
)
from xdsl.dialects.ub import PoisonOp
from xdsl.ir import Attribute, Operation

from xtile.dialects.core.pointers import IntegerToPointerOp, pointer_of
from xtile.dialects.shapes import with_element
from xtile.dialects.shared_attributes import vector_of
from xtile.rewrite.rebuilder import Rule
from xtile.text.mlir_attributes import splat_constant
from xtile.translate.core_to_xegpu.copying import copy
from xtile.translate.core_to_xegpu.fragments import build
from xtile.translate.core_to_xegpu.lowering import Lowering, carried_type
from xtile.translate.core_to_xegpu.narrow_floats import format_of
from xtile.translate.rounding import bfloat16_bits, rounded_to_tf32


def _constant(operation: Operation, lowering: Lowering) -> None:
    result = operation.results[0]
    attribute = operation.properties["value"]
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        _scalar_constant(operation, lowering)
        return
    type_ = cast("VectorType[Attribute]", result.type)
    numbers = cast("tuple[float]", attribute.get_values())
    if len(set(map(repr, numbers))) != 1:
        raise lowering.error("only constant matrices whose components are equal are translated")
    number = carried_number(numbers[0], type_.element_type)
    element = carried_type(type_.element_type)
    layout = lowering.layout(type_)
    lowering.define(
        result,
        build(layout, lambda _w, _i, n: lowering.constant(number, vector_of((n,), element))),
    )


def _scalar_constant(operation: Operation, lowering: Lowering) -> None:
    result = operation.results[0]
    if isinstance(result.type, BFloat16Type | FloatTF32Type) or format_of(result.type):
        number = cast("Any", operation.properties["value"]).value.data
        carried = carried_number(number, result.type)
        lowering.define(result, lowering.constant(carried, carried_type(result.type)))
    elif isinstance(result.type, IndexType):
        number = cast("Any", operation.properties["value"]).value.data
        lowering.define(result, lowering.index(number))
    else:
        copy(operation, lowering)


def carried_number(number: float, type: Attribute) -> float:
    """A number in the type that carries it: the bits of bf16 and f8, and tf32 as f32."""
    if isinstance(type, BFloat16Type):
        return bits_of(number)
    narrow = format_of(type)
    if narrow is not None:
        return narrow.bits_of(number)
    return rounded_to_tf32(number) if isinstance(type, FloatTF32Type) else number


def bits_of(number: float) -> int:
    """The bits of a number rounded to bf16, as a signed i16."""
    bits = bfloat16_bits(number)
    return struct.unpack("<h", struct.pack("<H", bits))[0]


def _poison(operation: PoisonOp, lowering: Lowering) -> None:
    """Any number will do; it is 0, as what an access of a block reads beyond the edge."""
    type_ = operation.result.type
    if pointer_of(type_) is not None:
        lowering.define(operation.result, _null(type_, lowering))
        return
    zero = _zero(type_)
    if zero is None:
        raise lowering.error(f"poison of type {operation.result.type} cannot be translated")
    lowering.translate(zero)
    lowering.define(operation.result, lowering.meaning(zero.results[0]))


def _null(type: Attribute, lowering: Lowering) -> Any:
    """The null pointer; tiles of pointers are those of their addresses."""
    address = _zero(with_element(type, i64))
    assert address is not None
    lowering.translate(address)
    if isinstance(type, VectorType):
        return lowering.meaning(address.results[0])
    made = IntegerToPointerOp.create(operands=[address.results[0]], result_types=[type])
    lowering.translate(made)
    return lowering.meaning(made.results[0])


def _zero(type: Attribute) -> Operation | None:
    """A constant whose numbers are 0; None if the type has no numbers."""
    if isinstance(type, VectorType):
        return arith.ConstantOp(splat_constant(cast("VectorType[Attribute]", type), 0))
    if isinstance(type, IntegerType | IndexType):
        return arith.ConstantOp(IntegerAttr(0, cast("IndexType", type)))
    return arith.ConstantOp(FloatAttr(0.0, type)) if isinstance(type, AnyFloat) else None


RULES: dict[str, Rule] = {arith.ConstantOp.name: _constant, PoisonOp.name: _poison}
