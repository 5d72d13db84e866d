"""Reads and writes of single elements, and of the memrefs of groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from xdsl.dialects.builtin import i64
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.ops import conversions, core, memory
from xtile.dialects.cuda_tile.types import PointerType
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.descriptors import Complex, Descriptor, Group
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.pointers import from_memory, to_memory
from xtile.translate.core_to_cuda_tile.types import (
    element_type,
    part_of,
    parts_per_element,
    pointer_tile,
    size_in_bytes,
)


def pointer_to(
    lowering: Lowering, memory_: Descriptor, indices: Sequence[Index], part: int = 0
) -> SSAValue:
    """Points to an element, or to the imaginary part of one if `part` is 1."""
    distance = lowering.sum_of_products(indices, memory_.strides)
    offset = lowering.add_all([memory_.offset, distance, part])
    if offset == 0:
        return memory_.pointer
    return lowering.pure(core.OffsetOp, memory_.pointer, lowering.as_value(offset))


def parts_of(memory_: Descriptor) -> range:
    """The parts of each element: a complex number has two."""
    return range(parts_per_element(memory_.element))


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    numbers = lowering.numbers(indices)
    meaning = lowering.meaning(source)
    if isinstance(meaning, Group):
        memref = _memref_of(lowering, meaning, numbers[0])
        lowering.define(result, replace(memref, alias_set=lowering.plan.alias_set_of(result)))
        return
    described = lowering.descriptor(source)
    token = lowering.order.before_read(described.alias_set)
    values: list[SSAValue] = []
    for part in parts_of(described):
        pointer = pointer_to(lowering, described, numbers, part)
        value, done = lowering.emit(memory.LoadPtrTkoOp(pointer, None, None, token)).results
        lowering.order.after_read(operation, described.alias_set, done)
        values.append(from_memory(lowering, value, result.type))
    lowering.define(result, Complex(*values) if len(values) > 1 else values[0])


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    described, numbers = lowering.descriptor(target), lowering.numbers(indices)
    meaning = lowering.meaning(value)
    parts = (meaning.real, meaning.imaginary) if isinstance(meaning, Complex) else (meaning,)
    for part, number in enumerate(parts):
        token = lowering.order.before_write(described.alias_set)
        pointer = pointer_to(lowering, described, numbers, part)
        given = to_memory(lowering, number)
        stored = lowering.emit(memory.StorePtrTkoOp(pointer, given, None, token))
        lowering.order.after_write(described.alias_set, stored.results[0])


def _memref_of(lowering: Lowering, group: Group, index: Index) -> Descriptor:
    """A memref of a group: its address, its sizes and its strides are loaded."""
    layout = layout_of(group.type)
    assert layout.offset is not None, "the calling convention has groups with one offset only"
    element = group.type.element_type
    scale = parts_per_element(element)
    address = _load_at(lowering, group.addresses, index)
    pointer = lowering.pure(conversions.IntToPtrOp, address, pointer_tile(part_of(element)))
    if group.alignment > size_in_bytes(element):
        pointer = lowering.promise_divisor(pointer, group.alignment)

    def number_at(number: Index, promise: Callable[[SSAValue], SSAValue]) -> Index:
        """A size or stride, or the one at the index of those that a pointer points to."""
        if isinstance(number, int) or not isinstance(element_type(number), PointerType):
            return number
        return promise(_load_at(lowering, number, index))

    strides = (number_at(stride, lowering.promise_stride) for stride in group.strides)
    return Descriptor(
        pointer,
        element,
        layout.offset * scale,
        tuple(number_at(size, lowering.promise_size) for size in group.sizes),
        tuple(lowering.multiply(stride, scale) for stride in strides),
        group.alignment,
    )


def _load_at(lowering: Lowering, pointer: SSAValue, index: Index) -> SSAValue:
    """A number of 64 bits that is the same for the whole kernel."""
    assert element_type(pointer) == PointerType(i64)

    def load() -> SSAValue:
        element = pointer
        if index != 0:
            element = lowering.pure(core.OffsetOp, pointer, lowering.as_value(index))
        return lowering.compute(memory.LoadPtrTkoOp, element)

    operands = (pointer,) if isinstance(index, int) else (pointer, index)
    return lowering.shared(("load", pointer, index), operands, load)


# --- complex numbers ---


def _create(operation: Operation, lowering: Lowering) -> None:
    lowering.define(operation.results[0], Complex(*lowering.values(operation.operands)))


def _real(operation: Operation, lowering: Lowering) -> None:
    lowering.define(operation.results[0], lowering.complex(operation.operands[0]).real)


def _imaginary(operation: Operation, lowering: Lowering) -> None:
    lowering.define(operation.results[0], lowering.complex(operation.operands[0]).imaginary)


RULES: dict[str, Rule] = {
    "complex.create": _create,
    "complex.im": _imaginary,
    "complex.re": _real,
    "memref.load": _load,
    "memref.store": _store,
}
"""The rule of each operation, by name."""
