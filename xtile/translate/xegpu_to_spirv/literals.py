"""Constants of the source, and values of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    VectorType,
    bf16,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.text.mlir_attributes import is_held_once
from xtile.text.mlir_numbers import float_bits
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    bit_width,
    element_type,
    integer_width,
    is_vector,
    length_of,
    of_length,
    piece_lengths,
    piece_types,
    register_type,
)


def scalar(lowering: Lowering, number: float, type_: Attribute) -> SSAValue:
    """A constant of one of the source's types, as it is held in registers."""
    return lowering.constants.of_bits(_bits(number, type_), register_type(type_))


def _bits(number: float, type_: Attribute) -> int:
    if isinstance(type_, BFloat16Type):
        bits = float_bits(number, bf16)
        return bits - 2**16 if bits >> 15 else bits
    register = register_type(type_)
    width = integer_width(register)
    if width:
        bits = int(number) & (2**width - 1)
        return bits - 2**width if width > 1 and bits >> (width - 1) else bits
    return float_bits(number, cast(AnyFloat, type_))


def _constant(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    value = operation.properties["value"]
    if isinstance(value, IntegerAttr | FloatAttr):
        number = cast("IntegerAttr[Any] | FloatAttr[Any]", value).value.data
        lowering.define(result, scalar(lowering, number, result.type))
    elif isinstance(value, DenseIntOrFPElementsAttr):
        elements = cast("Sequence[float]", cast(Any, value).get_values())
        type_ = cast(VectorType[Any], result.type)
        if is_held_once(cast(Any, value)):
            elements = [elements[0]] * prod(type_.get_shape())
        lowering.define(result, vector(lowering, elements, type_))
    else:
        raise lowering.error(f"{value} is no constant of numbers")


def vector(
    lowering: Lowering, elements: Sequence[float], type_: VectorType[Attribute]
) -> tuple[SSAValue, ...]:
    """The pieces of a constant vector."""
    numbers = [_bits(number, type_.element_type) for number in elements]
    element = register_type(type_.element_type)
    constants = lowering.constants
    pieces: list[SSAValue] = []
    first = 0
    for length in piece_lengths(type_):
        own = numbers[first : first + length]
        piece = of_length(element, length)
        if len(set(own)) == 1:
            pieces.append(constants.of_bits(own[0], piece))
        else:
            entries = [constants.of_bits(number, element) for number in own]
            pieces.append(constants.composite(entries, piece))
        first += length
    return tuple(pieces)


def _index_constant(operation: Operation, lowering: Lowering) -> None:
    (result,) = operation.results
    number = cast("IntegerAttr[Any]", operation.properties["value"]).value.data
    lowering.define(result, scalar(lowering, number, result.type))


def poison(lowering: Lowering, type_: Attribute) -> SSAValue:
    """A number of which all bits are set, as on the reference device (docs/semantics.md, 7)."""
    register = register_type(type_)
    element = element_type(register)
    if integer_width(element):
        return lowering.integer(-1, register)
    return lowering.constants.of_bits(2 ** bit_width(element) - 1, register)


def define_poison(result: SSAValue, lowering: Lowering) -> None:
    """Records a value of which nothing is known."""
    number = poison(lowering, element_type(result.type))
    lengths = [length_of(type_) for type_ in piece_types(result.type)]
    if is_vector(result.type):
        lowering.define_pieces(result, [lowering.splat(number, length) for length in lengths])
    else:
        lowering.define(result, number)


def _poison(operation: Operation, lowering: Lowering) -> None:
    define_poison(operation.results[0], lowering)


RULES: dict[str, Rule] = {
    "arith.constant": _constant,
    "index.bool.constant": _index_constant,
    "index.constant": _index_constant,
    "index.sizeof": lambda operation, lowering: lowering.define(
        operation.results[0], lowering.integer(64, i64)
    ),
    "ub.poison": _poison,
}
"""The rule of each operation, by name."""
