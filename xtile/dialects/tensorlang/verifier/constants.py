"""The values of constants and of attributes, as far as rules need them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.shapes import bits_of
from xtile.dialects.tensorlang.ops.arithmetic import (
    AddOp,
    AndOp,
    CastOp,
    ConstantOp,
    DivOp,
    MaxOp,
    MinOp,
    MulOp,
    NegOp,
    OrOp,
    RemOp,
    SubOp,
    XorOp,
)
from xtile.dialects.tensorlang.types import BOOL, INTEGER_TYPES, component_type

Constant = bool | int | float | complex

Known = Callable[[Operation], int | None]
"""The number that the result of an instruction is, if that is known."""

_MAX_DEPTH = 4
"""How many instructions deep a value is folded; more would cost time without a use for it."""


def divide(a: int, b: int) -> int:
    """The quotient, rounded to zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """The remainder of `divide`, which has the sign of `a`."""
    return a - b * divide(a, b)


_FOLD: dict[type[Operation], Callable[..., Any]] = {
    AddOp: operator.add,
    SubOp: operator.sub,
    MulOp: operator.mul,
    DivOp: divide,
    RemOp: remainder,
    MaxOp: max,
    MinOp: min,
    AndOp: int.__and__,
    OrOp: int.__or__,
    XorOp: int.__xor__,
    NegOp: operator.neg,
}


def constant_of(
    value: SSAValue, depth: int = _MAX_DEPTH, known: Known | None = None
) -> Constant | None:
    """The constant that `value`, or each component of it, is known to be; else None.

    Args:
        value: The value.
        depth: How many instructions deep it is folded.
        known: What else is known of the results of instructions.
    """
    owner = value.owner
    if isinstance(owner, ConstantOp):
        return attribute_value(owner.properties.get("value"))
    if not isinstance(owner, Operation):
        return None
    number = None if known is None else known(owner)
    if number is not None or depth == 0:
        return number
    if isinstance(owner, CastOp) and _is_integer(value) and len(owner.operands) == 1:
        operand = owner.operands[0]
        cast_ = constant_of(operand, depth - 1, known) if _is_integer(operand) else None
        return _wrapped(cast_, value)
    if type(owner) in _FOLD and _is_integer(value):
        return _wrapped(_fold(owner, depth, known), value)
    return None


def _wrapped(constant: Constant | None, value: SSAValue) -> Constant | None:
    """An integer with as many bits as the type of a value has."""
    if type(constant) is not int:
        return constant
    half = 1 << (bits_of(component_type(value.type)) - 1)
    return (constant + half) % (2 * half) - half


def integer_of(value: SSAValue, known: Known | None = None) -> int | None:
    """The integer constant that `value` is known to be; else None."""
    constant = constant_of(value, known=known)
    return constant if type(constant) is int else None


def attribute_value(attribute: Attribute | None) -> Constant | None:
    """The Python value of what `ConstantOp.value` holds; None for anything else."""
    if isinstance(attribute, IntegerAttr):
        integer = cast("IntegerAttr", attribute)
        return bool(integer.value.data) if integer.type == BOOL else integer.value.data
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, ArrayAttr):
        parts = cast("ArrayAttr[Attribute]", attribute).data
        if len(parts) == 2 and all(isinstance(part, FloatAttr) for part in parts):
            real, imaginary = cast("tuple[FloatAttr, FloatAttr]", parts)
            return complex(real.value.data, imaginary.value.data)
    return None


def positive_integer(attribute: Attribute | None) -> int | None:
    """The value of an integer attribute, if it is one and larger than 0."""
    value = attribute_value(attribute)
    return value if type(value) is int and value > 0 else None


def integer_list(attribute: Attribute | None) -> list[int] | None:
    """The entries of an array of integer attributes; None for anything else."""
    if not isinstance(attribute, ArrayAttr):
        return None
    values = [attribute_value(entry) for entry in cast("ArrayAttr[Attribute]", attribute)]
    integers = [value for value in values if type(value) is int]
    return integers if len(integers) == len(values) else None


def _is_integer(value: SSAValue) -> bool:
    return component_type(value.type) in INTEGER_TYPES


def _fold(operation: Operation, depth: int, known: Known | None) -> Constant | None:
    operands = [constant_of(operand, depth - 1, known) for operand in operation.operands]
    if isinstance(operation, MulOp) and 0 in operands:
        return 0
    if None in operands:
        return None
    try:
        return _FOLD[type(operation)](*operands)
    except (TypeError, ArithmeticError):
        return None  # A damaged operation, which its own rules report.
