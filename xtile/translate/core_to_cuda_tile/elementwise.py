"""Rules that compute each element of a tile on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.ops import conversions
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type, tile_type

Compute: TypeAlias = Callable[..., SSAValue]
"""Emits a result from the kernel and the operands."""


def emitted(kind: Callable[..., Operation], **properties: Any) -> Compute:
    """One operation of CUDA Tile IR."""

    def compute(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        return lowering.compute(kind, *operands, **properties)

    return compute


def elementwise(compute: Compute) -> Rule:
    """The rule of an operation with one result."""

    def rule(operation: Operation, lowering: Lowering) -> None:
        operands = lowering.values(operation.operands)
        lowering.define(operation.results[0], compute(lowering, *operands))

    return rule


def first(lowering: Lowering, *operands: SSAValue) -> SSAValue:
    """The first operand."""
    return operands[0]


def in_f32(compute: Compute) -> Compute:
    """A function of floats that is computed in f32 for f16 and bf16, and rounded once."""

    def wide(lowering: Lowering, *operands: SSAValue) -> SSAValue:
        element = element_type(operands[0])
        if not isinstance(element, Float16Type | BFloat16Type):
            return compute(lowering, *operands)
        result = compute(lowering, *(converted(lowering, value, f32) for value in operands))
        return converted(lowering, result, element)

    return wide


def converted(lowering: Lowering, value: SSAValue, element: Attribute) -> SSAValue:
    """Floats in another type, rounded to nearest."""
    target = tile_type(value).with_element_type(element)
    if value.type == target:
        return value
    return lowering.compute(conversions.FToFOp, value, target)


def named(dialect: str, rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Rules by the full names of the operations."""
    return {f"{dialect}.{name}": rule for name, rule in rules.items()}
