"""Accesses of elements anywhere: loads, stores and atomic updates of points under masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, i1, i64
from xdsl.dialects.memref import MemorySpaceCastOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.memory_orders import Ordering
from xtile.dialects.ub import is_poison
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.xegpu.attributes import (
    MEMORY_SPACE_NUMBERS,
    MemorySpace,
    ScatterTensorDescAttr,
)
from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.descriptors import CreateDescOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, StoreScatterOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.translate.tiles_to_xegpu.lowering import (
    ONE_BASE,
    Lowering,
    Memory,
    Points,
    storage_type,
    vector_like,
)
from xtile.translate.tiles_to_xegpu.memory import is_in_local_memory, line_of, position_of


@dataclass(frozen=True)
class Access:
    """Elements of memory.

    Attributes:
        base: A memref of one dimension, or an address as an i64.
        offsets: How many elements behind it each of them lies: a vector, or one index.
        mask: Which of them are accessed, in the same shape.
        element: Their type.
    """

    base: SSAValue
    offsets: SSAValue
    mask: SSAValue
    element: Attribute

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of what is accessed; a number has none."""
        return shape_of(self.offsets.type)


def load(lowering: Lowering, access: Access, padding: SSAValue | None = None) -> SSAValue:
    """The elements that the mask allows, and the padding, or else 0, in place of the others."""
    type_ = vector_like(access.shape, storage_type(access.element))
    layout = lowering.layout_of(access.shape) if access.shape else None
    made = LoadGatherOp(access.base, access.offsets, access.mask, type_, layout=layout)
    value = lowering.from_memory(lowering.emit(made).value, lowering.type_of(access.element))
    return padded(lowering, value, access.mask, padding)


def padded(
    lowering: Lowering, value: SSAValue, mask: SSAValue, padding: SSAValue | None
) -> SSAValue:
    """A vector, in which a padding other than 0 stands where a mask does not hold."""
    if padding is None or is_zero(padding):
        return value
    other = lowering.spread(padding, shape_of(value.type))
    return lowering.emit(SelectOp(mask, value, other)).result


def is_zero(value: SSAValue) -> bool:
    """Whether a value is a zero, of floats the positive one."""
    attribute = value.owner.properties.get("value") if isinstance(value.owner, Operation) else None
    if attribute is None:
        return False
    given: Any = attribute
    numbers = given.get_values() if hasattr(given, "get_values") else (given.value.data,)
    return all(str(float(number)) == "0.0" for number in numbers)


def store(lowering: Lowering, value: SSAValue, access: Access) -> None:
    """Writes the elements that the mask allows."""
    stored = lowering.to_memory(value)
    layout = lowering.layout_of(access.shape) if access.shape else None
    lowering.emit(StoreScatterOp(stored, access.base, access.offsets, access.mask, layout=layout))


# --- what operations of the core form access ---


def access_of(
    lowering: Lowering,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    mask: SSAValue | None,
    type_: Attribute,
) -> Access:
    """The elements of a memref at indices, or what pointers point to."""
    shape = shape_of(type_)
    allowed = lowering.constant(1, vector_like(shape, i1)) if mask is None else lowering.value(mask)
    meaning: Any = lowering.meaning(memory)
    if isinstance(meaning, Memory):
        offsets = offsets_in(lowering, meaning, lowering.values(indices), shape)
        return Access(line_of(lowering, meaning), offsets, allowed, meaning.element)
    element = _pointee(memory.type)
    if isinstance(meaning, Points):
        return Access(meaning.base, meaning.offsets, allowed, element)
    if shape:
        raise lowering.error(ONE_BASE)
    return Access(meaning, lowering.index(0), allowed, element)


def _pointee(type_: Attribute) -> Attribute:
    element: Any = type_.element_type if isa(type_, VectorType) else type_
    return element.pointee_type


def offsets_in(
    lowering: Lowering, memory: Memory, indices: Sequence[SSAValue], shape: tuple[int, ...]
) -> SSAValue:
    """The offset of each element from the memory's base.

    Args:
        lowering: Where to emit.
        memory: The memory.
        indices: For each of its dimensions an index, or a vector of one for each element.
        shape: The shape of what is accessed.
    """
    given = [lowering.as_indices(index) for index in indices]
    # Indices that all elements share come first, as numbers.
    shared = [0 if shape_of(each.type) else each for each in given]
    total = lowering.as_value(position_of(lowering, memory, shared))
    if not shape:
        return total
    whole = lowering.spread(total, shape)
    for index, stride in zip(given, memory.strides, strict=True):
        if shape_of(index.type):
            line = scaled(lowering, index, stride)
            whole = lowering.emit(arith.AddiOp(whole, lowering.spread(line, shape))).result
    return whole


def scaled(lowering: Lowering, indices: SSAValue, factor: Any) -> SSAValue:
    """A vector of indices, each of them so many times."""
    if factor == 1:
        return indices
    spread = lowering.spread(lowering.as_value(factor), shape_of(indices.type))
    return lowering.emit(arith.MuliOp(indices, spread)).result


def _check_order(lowering: Lowering, operation: Operation) -> None:
    """Lets the work-group wait where accesses are ordered with those of others.

    Raises:
        DiagnosticError: It is an atomic access, which XeGPU has none of.
    """
    if operation.properties.get("order") is not None:
        raise lowering.error(
            f"{operation.name} with an order is an atomic access, and XeGPU has atomic updates only"
        )


def _gather_load(operation: GatherLoadOp, lowering: Lowering) -> None:
    _check_order(lowering, operation)
    type_ = operation.result.type
    access = access_of(lowering, operation.memory, operation.indices, operation.mask, type_)
    padding = operation.padding
    other = None if padding is None or is_poison(padding) else lowering.value(padding)
    lowering.define(operation.result, load(lowering, access, other))


def _scatter_store(operation: ScatterStoreOp, lowering: Lowering) -> None:
    _check_order(lowering, operation)
    type_ = operation.value.type
    access = access_of(lowering, operation.memory, operation.indices, operation.mask, type_)
    store(lowering, lowering.value(operation.value), access)


def _vector_access(
    lowering: Lowering, base: SSAValue, indices: Sequence[SSAValue], at: SSAValue, mask: SSAValue
) -> Access:
    """Elements along the last dimension of a memref, from the indices on."""
    memory = lowering.memory(base)
    shape = shape_of(at.type)
    first = lowering.as_value(position_of(lowering, memory, lowering.numbers(indices)))
    along = scaled(lowering, lowering.as_indices(lowering.value(at)), memory.strides[-1])
    offsets = lowering.emit(arith.AddiOp(lowering.spread(first, shape), along)).result
    return Access(line_of(lowering, memory), offsets, lowering.value(mask), memory.element)


def _gather(operation: GatherOp, lowering: Lowering) -> None:
    base, *indices, at, mask, padding = operation.operands
    access = _vector_access(lowering, base, indices, at, mask)
    other = None if is_poison(padding) else lowering.value(padding)
    lowering.define(operation.results[0], load(lowering, access, other))


def _scatter(operation: ScatterOp, lowering: Lowering) -> None:
    base, *indices, at, mask, value = operation.operands
    store(lowering, lowering.value(value), _vector_access(lowering, base, indices, at, mask))


# --- atomic updates ---


def update(
    lowering: Lowering,
    kind: AtomicRMWKind,
    value: SSAValue,
    access: Access,
    ordering: Ordering,
) -> SSAValue:
    """The old elements, each of which one subgroup updates.

    Points that are fewer than the lanes, or no multiple of them, are filled up with some that the
    mask leaves out.
    """
    shape, count = access.shape, prod(access.shape)
    whole = -(-count // lowering.points_at_once) * lowering.points_at_once
    layout = lowering.layout_of_points(whole)
    offsets, mask, given = (
        _line(lowering, each, count, whole) for each in (access.offsets, access.mask, value)
    )
    element = storage_type(access.element)
    if given.type != vector_like([whole], element):
        raise lowering.error(f"XeGPU has no atomic updates of {access.element}")
    descriptor = descriptor_of_points(lowering, access.base, offsets, element, layout)
    operation = AtomicRMWOp(kind, descriptor, mask, given, layout=layout)
    operation.attributes |= ordering.attributes
    old = lowering.emit(operation).result
    if not shape:
        return lowering.part(old, [0])
    return lowering.reshape(lowering.slice(old, [0], [count]), shape)


def descriptor_of_points(
    lowering: Lowering,
    base: SSAValue,
    offsets: SSAValue,
    element: Attribute,
    layout: LayoutAttr | None = None,
) -> SSAValue:
    """The descriptor of points that are counted from a base, which is memory or an address."""
    is_local = isa(base.type, MemRefType) and is_in_local_memory(base.type)
    space = MemorySpace.SLM if is_local else MemorySpace.GLOBAL
    type_ = TensorDescType(shape_of(offsets.type), element, ScatterTensorDescAttr(space), layout)
    if is_local:
        base = _numbered(lowering, base)
    return lowering.emit(CreateDescOp(base, offsets, type_)).TensorDesc


def _numbered(lowering: Lowering, local: SSAValue) -> SSAValue:
    """Local memory whose space is said by the number that descriptors want."""
    old = cast("MemRefType[Attribute]", local.type)
    number = IntegerAttr(MEMORY_SPACE_NUMBERS[MemorySpace.SLM], i64)
    type_ = MemRefType(old.element_type, old.shape, old.layout, number)

    def emit() -> SSAValue:
        return lowering.compute(MemorySpaceCastOp, [local], type_)

    return lowering.shared(("numbered", local), (local,), emit)


def _line(lowering: Lowering, value: SSAValue, count: int, whole: int) -> SSAValue:
    """Numbers one after the other, with zeros behind them."""
    line = lowering.reshape(value, [count])
    if count == whole:
        return line
    zeros = lowering.constant(0, vector_like([whole], cast("Any", line.type).element_type))
    return lowering.with_slice(zeros, line, [0])


RULES: dict[str, Rule] = {
    "core.gather_load": _gather_load,
    "core.scatter_store": _scatter_store,
    "vector.gather": _gather,
    "vector.scatter": _scatter,
}
"""The rule of each operation, by name."""
