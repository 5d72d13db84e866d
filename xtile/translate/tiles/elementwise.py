"""Rules that compute each element of a tile on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, f32
from xdsl.ir import Operation, SSAValue

from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.lowering import TileLowering

Compute: TypeAlias = Callable[..., SSAValue]
"""Emits a result from the kernel and the operands."""


def elementwise(compute: Compute) -> Rule:
    """The rule of an operation with one result."""

    def rule(operation: Operation, lowering: TileLowering) -> None:
        operands = lowering.values(operation.operands)
        lowering.define(operation.results[0], compute(lowering, *operands))

    return rule


def arithmetic(name: str) -> Compute:
    """The operation of `arith` of a name."""

    def compute(lowering: TileLowering, *operands: SSAValue) -> SSAValue:
        return lowering.arith(name, *operands)

    return compute


def first(lowering: TileLowering, *operands: SSAValue) -> SSAValue:
    """The first operand."""
    return operands[0]


def in_f32(compute: Compute) -> Compute:
    """A function of floats that is computed in f32 for f16 and bf16, and rounded once."""

    def wide(lowering: TileLowering, *operands: SSAValue) -> SSAValue:
        element = lowering.element(operands[0])
        if not isinstance(element, Float16Type | BFloat16Type):
            return compute(lowering, *operands)
        result = compute(lowering, *(lowering.converted(value, f32) for value in operands))
        return lowering.converted(result, element)

    return wide


def named(dialect: str, rules: Mapping[str, Rule]) -> dict[str, Rule]:
    """Rules by the full names of the operations."""
    return {f"{dialect}.{name}": rule for name, rule in rules.items()}
