"""Logic on truth values that drivers take.

The compiler of Intel's GPUs fails on OpLogicalNot, and on OpLogicalNotEqual of vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from xtile.translate.xegpu_to_spirv.lowering import Lowering


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
