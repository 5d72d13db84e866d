"""What handlers ask about tensors and the properties of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.storage import Storage, storage_of
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.upstream.numbers import shape_of as shape_of_type
from xtile.semantics.values import Value


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor; a scalar has none."""
    return shape_of_type(value.type)


def number_in(value: SSAValue) -> Number:
    """The numbers that a scalar or a tensor holds."""
    return number_of(value.type)


def pointee_of(pointers: Attribute) -> Attribute:
    """What a pointer or a tensor of pointers points to.

    Raises:
        ValueError: The type has no pointers.
    """
    pointer = getattr(pointers, "element_type", pointers)
    pointee = getattr(pointer, "pointee", None)
    if not isinstance(pointee, Attribute):
        raise ValueError(f"expected pointers, but got {pointers}")
    return pointee


def pointee_storage(pointers: SSAValue) -> Storage:
    """How the elements that pointers point to lie in memory.

    Raises:
        ValueError: The value has no pointers.
    """
    return storage_of(pointee_of(pointers.type))


def optional_slot(value: SSAValue | None, compiler: Compiler) -> int | None:
    """The slot of an operand that need not be there."""
    return None if value is None else compiler.slot(value)


def integer_property(operation: Operation, name: str, default: int = 0) -> int:
    """An integer that an operation may say."""
    found = integer_attribute(operation, name)
    return default if found is None else found


def integers_property(operation: Operation, name: str) -> tuple[int, ...]:
    """A list of integers that an operation may say."""
    found: Any = operation.get_attr_or_prop(name)
    return () if found is None else tuple(int(each) for each in found.get_values())


def of_one(operation: Operation, compiler: Compiler, function: Callable[[Value], Value]) -> Step:
    """The step that gives the only result what a function makes of the only operand."""
    return apply(operation, compiler, function)


def of_two(
    operation: Operation, compiler: Compiler, function: Callable[[Value, Value], Value]
) -> Step:
    """The step that gives the only result what a function makes of two operands."""
    return apply(operation, compiler, function)


def splat(value: Any, shape: tuple[int, ...]) -> Any:
    """A tensor whose elements are all the same; it takes no memory."""
    return np.broadcast_to(value, shape) if shape else value


def same(operation: Any, compiler: Compiler) -> Step:
    """What gives its first operand: layouts have no meaning, and addresses are integers."""
    source = compiler.slot(operation.operands[0])
    result = compiler.slot(operation.results[0])

    def step(state: Any) -> None:
        state.values[result] = state.values[source]

    return step
