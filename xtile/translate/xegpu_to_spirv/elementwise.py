"""Rules that compute each piece of a vector, or a number, on its own; constants are folded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import BFloat16Type, Float16Type, IntegerAttr, IntegerType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.rewrite.folding import fold_numbers
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv import bfloat16
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import (
    element_type,
    is_vector,
    length_of,
    of_length,
    piece_types,
    register_type,
)

Compute: TypeAlias = Callable[[Lowering, Attribute, Sequence[SSAValue]], SSAValue]
"""Emits a piece of a result, from its type and the pieces of the operands."""


def instruction(name: str) -> Compute:
    """One instruction of SPIR-V."""
    return lambda lowering, type_, operands: lowering.compute(name, type_, *operands)


def elementwise(compute: Compute) -> Rule:
    """The rule of an operation that treats its operands' numbers as the bits they are."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        result = operation.results[0]
        if is_vector(result.type):
            types = piece_types(result.type)
            pieces = zip(*[lowering.pieces(operand) for operand in operation.operands], strict=True)
            made = [compute(lowering, t, parts) for t, parts in zip(types, pieces, strict=True)]
            lowering.define(result, tuple(made))
        else:
            operands = lowering.values(operation.operands)
            lowering.define(result, compute(lowering, register_type(result.type), operands))

    return rule


def on_floats(compute: Compute) -> Rule:
    """The rule of an operation on floating numbers, which for bf16 is computed in f32."""
    plain, of_bfloat16 = elementwise(compute), elementwise(_through_bfloat16(compute))

    def rule(operation: Operation, lowering: Lowering) -> None:
        is_narrow = type(element_type(operation.results[0].type)) is BFloat16Type
        (of_bfloat16 if is_narrow else plain)(operation, lowering)

    return rule


def in_f32(compute: Compute) -> Rule:
    """The rule of a function of floating numbers, which for f16 and bf16 is computed in f32."""
    on_others, of_half = on_floats(compute), elementwise(_through_half(compute))

    def rule(operation: Operation, lowering: Lowering) -> None:
        is_half = type(element_type(operation.results[0].type)) is Float16Type
        (of_half if is_half else on_others)(operation, lowering)

    return rule


def _through_bfloat16(compute: Compute) -> Compute:
    def rounded(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        wide = [bfloat16.widen(lowering, operand) for operand in operands]
        result = compute(lowering, of_length(f32, length_of(type_)), wide)
        return bfloat16.narrow(lowering, result)

    return rounded


def _through_half(compute: Compute) -> Compute:
    def rounded(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        single = of_length(f32, length_of(type_))
        wide = [lowering.compute("FConvert", single, operand) for operand in operands]
        return lowering.compute("FConvert", type_, compute(lowering, single, wide))

    return rounded


def wide_pieces(old: SSAValue, lowering: Lowering) -> Sequence[SSAValue]:
    """The pieces of floating numbers, those of bf16 as f32."""
    pieces = lowering.pieces(old)
    if type(element_type(old.type)) is BFloat16Type:
        return [bfloat16.widen(lowering, piece) for piece in pieces]
    return pieces


def named(dialect: str, rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Rules by the full names of the operations."""
    return {f"{dialect}.{name}": rule for name, rule in rules.items()}


def like(value: SSAValue, element: Attribute) -> Attribute:
    """The type of as many numbers of another type as a piece has."""
    return of_length(element, length_of(value.type))


def is_folded(operation: Operation, lowering: Lowering) -> bool:
    """Records the result of an operation on constants, which is a constant too.

    Sizes of work-groups become known after everything else was folded.
    """
    known = lowering.constants.numbers
    numbers: list[int | float] = []
    for operand in operation.operands:
        number = known.get(lowering.value(operand))
        if number is None:
            return False
        numbers.append(number)
    attribute = fold_numbers(operation, numbers)
    if not isinstance(attribute, IntegerAttr):
        return False
    (result,) = operation.results
    number = cast("IntegerAttr[IntegerType]", attribute).value.data
    lowering.define(result, lowering.integer(number, register_type(result.type)))
    return True


# --- truth values ---
# The compiler of Intel's GPUs fails on OpLogicalNot, and on OpLogicalNotEqual of vectors.


def opposite(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    """Whether a truth value is false."""
    (value,) = operands
    return lowering.select(value, lowering.integer(0, type_), lowering.integer(1, type_))


def differ(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    """Whether one of two truth values is true."""
    a, b = operands
    return lowering.select(a, opposite(lowering, type_, (b,)), b)


def first(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
    """The first operand."""
    return operands[0]
