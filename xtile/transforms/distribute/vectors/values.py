"""Neighbouring numbers as a vector; a vector of one number is the number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    IndexType,
    VectorType,
)
from xdsl.dialects.vector import BroadcastOp, CombiningKindAttr, CombiningKindFlag, ReductionOp
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.vector.memory import LoadOp, StoreOp
from xtile.dialects.vector.types import vector_of
from xtile.rewrite.emitter import AnyMemRef, element_type
from xtile.rewrite.indices import Index
from xtile.text.mlir_attributes import splat_constant
from xtile.transforms.distribute import numbers
from xtile.transforms.distribute.kernel import Kernel
from xtile.transforms.distribute.local_memory import size_in_bytes

_MOST_ELEMENTS = 16
"""SPIR-V has no longer vectors."""


def width_of(kernel: Kernel, *elements: Attribute) -> int:
    """How many numbers of each of these types fit a register; 1 if vectors do not hold one."""
    if any(isinstance(element, ComplexType | IndexType) for element in elements):
        return 1
    unit = kernel.target.vector_unit
    assert unit is not None
    return min(_MOST_ELEMENTS, unit.bytes // max(map(size_in_bytes, elements)))


def is_contiguous(memory: SSAValue) -> bool:
    """Whether elements that follow each other in the last dimension do so in memory."""
    strides = cast("AnyMemRef", memory.type).get_strides()
    return bool(strides) and strides[-1] == 1


def vector_type(element: Attribute, width: int) -> Attribute:
    """The type of so many numbers."""
    return element if width == 1 else vector_of(element, width)


def load(kernel: Kernel, memory: SSAValue, indices: Sequence[Index], width: int) -> SSAValue:
    """The elements from the indices on."""
    if width == 1:
        return kernel.load(memory, indices)
    at = [kernel.as_value(index) for index in indices]
    type_ = vector_of(element_type(memory), width)
    return kernel.emit(LoadOp(memory, at, type_)).result


def load_as(
    kernel: Kernel, memory: SSAValue, indices: Sequence[Index], width: int, element: Attribute
) -> SSAValue:
    """The elements from the indices on, in another type."""
    loaded = load(kernel, memory, indices, width)
    return numbers.cast_number(kernel, loaded, vector_type(element, width))


def store(
    kernel: Kernel, value: SSAValue, memory: SSAValue, indices: Sequence[Index], width: int
) -> None:
    """Replaces the elements from the indices on."""
    if width == 1:
        kernel.store(value, memory, indices)
        return
    at = [kernel.as_value(index) for index in indices]
    kernel.emit(StoreOp(value, memory, at))


def spread(kernel: Kernel, number: SSAValue, width: int) -> SSAValue:
    """So many times the same number."""
    if width == 1:
        return number
    type_ = vector_of(number.type, width)
    return kernel.shared(
        ("spread", number, width),
        (number,),
        lambda: kernel.emit(BroadcastOp(number, type_)).vector,
    )


def zeros(kernel: Kernel, element: Attribute, width: int) -> SSAValue:
    """So many times the number 0."""
    if width == 1:
        return numbers.zero(kernel, element)
    type_: VectorType[Any] = vector_of(element, width)

    def emit() -> SSAValue:
        nothing = splat_constant(type_, 0)
        return kernel.emit(arith.ConstantOp(nothing)).result

    return kernel.shared(("zeros", type_), (), emit)


def multiply_add(kernel: Kernel, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    """`a b + c`, of real numbers with one rounding."""
    type_ = c.type
    element = cast("VectorType[Attribute]", type_).element_type if _is_vector(c) else type_
    if isinstance(element, AnyFloat):
        return kernel.emit(math.FmaOp(a, b, c)).result
    return numbers.add(kernel, numbers.multiply(kernel, a, b), c)


def total(kernel: Kernel, values: Sequence[SSAValue]) -> SSAValue:
    """The sum of all numbers in vectors and numbers."""
    sums: dict[Attribute, SSAValue] = {}
    for value in values:
        before = sums.get(value.type)
        sums[value.type] = value if before is None else numbers.add(kernel, before, value)
    result, *others = (_inner_sum(kernel, value) for value in sums.values())
    for other in others:
        result = numbers.add(kernel, result, other)
    return result


def _inner_sum(kernel: Kernel, value: SSAValue) -> SSAValue:
    if not _is_vector(value):
        return value
    element = cast("VectorType[Attribute]", value.type).element_type
    operation = ReductionOp.build(
        operands=[value, None],
        result_types=[element],
        properties={"kind": CombiningKindAttr(CombiningKindFlag.ADD)},
    )
    return kernel.emit(operation).results[0]


def _is_vector(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType)
