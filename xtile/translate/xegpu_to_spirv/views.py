"""Memrefs that are made of others, and what is asked of them.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`; docs/semantics.md, 7, "Memory".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, UnrankedMemRefType, i64
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import kept_dimensions, number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.descriptors import Descriptor, Group, layout_of
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer
from xtile.translate.xegpu_to_spirv.types import memory_type, memref_type, natural_alignment


def _subview(operation: Operation, lowering: Lowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    numbers = lowering.numbers(operation.operands[1:])
    offsets, sizes, steps = number_lists(operation, numbers, "offsets", "sizes", "strides")
    offset = source.offset
    for start, stride in zip(offsets, source.strides, strict=True):
        offset = lowering.add(offset, lowering.multiply(start, stride))
    strides = [lowering.multiply(s, step) for s, step in zip(source.strides, steps, strict=True)]
    (result,) = operation.results
    kept = kept_dimensions(operation)
    view = source.with_location(offset, (sizes[i] for i in kept), (strides[i] for i in kept))
    lowering.define(result, view)


def _reinterpret_cast(operation: Operation, lowering: Lowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    lowering.define(operation.results[0], source.with_location(offset, sizes, strides))


def _same(operation: Operation, lowering: Lowering) -> None:
    """The same memory; what the result's type tells is known already, or wrong."""
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def _cast(operation: Operation, lowering: Lowering) -> None:
    """The same memref; what its new type tells is true of it."""
    (result,) = operation.results
    if isinstance(result.type, UnrankedMemRefType):
        raise lowering.error("a memref without a rank cannot be translated to SPIR-V")
    meaning = lowering.meaning(operation.operands[0])
    if isinstance(meaning, Descriptor):
        layout = layout_of(memref_type(result.type))
        own = (meaning.offset, *meaning.sizes, *meaning.strides)
        told = (layout.offset, *layout.sizes, *layout.strides)
        known = [a if b is None else b for a, b in zip(own, told, strict=True)]
        rank = len(meaning.sizes)
        meaning = meaning.with_location(known[0], known[1 : 1 + rank], known[1 + rank :])
    lowering.define(result, meaning)


def _unrealized_conversion_cast(operation: Operation, lowering: Lowering) -> None:
    """A memref's memory with elements of another type; its numbers stay.

    What changes no type in SPIR-V, such as index to i64, changes nothing.
    """
    if len(operation.operands) != 1 or len(operation.results) != 1:
        raise lowering.error("a conversion cast of several values cannot be translated to SPIR-V")
    (result,) = operation.results
    meaning = lowering.meaning(operation.operands[0])
    if isinstance(meaning, Descriptor) and isa(result.type, MemRefType):
        element = result.type.element_type
        pointer = bitcast_pointer(lowering, meaning.pointer, memory_type(element))
        lowering.define(result, replace(meaning, pointer=pointer, element=element))
        return
    if isinstance(meaning, Group) and isa(result.type, MemRefType):
        type_ = memref_type(result.type.element_type)
        if memory_type(type_.element_type) == memory_type(meaning.type.element_type):
            # Of bf16, whose memory is that of its bits.
            lowering.define(result, replace(meaning, type=type_))
            return
    given = tuple(value.type for value in lowering.flat(operation.operands))
    if lowering.flat_types(result.type) != given:
        raise lowering.error(
            f"a conversion cast from {operation.operands[0].type} to {result.type} cannot be "
            "translated to SPIR-V"
        )
    lowering.define(result, meaning)


def _view(operation: Operation, lowering: Lowering) -> None:
    """Bytes as elements of another type, without gaps."""
    source = lowering.descriptor(operation.operands[0])
    shift, *dynamic = lowering.numbers(operation.operands[1:])
    type_ = memref_type(operation.results[0].type)
    given = iter(dynamic)
    sizes = [next(given) if size == DYNAMIC_INDEX else size for size in type_.get_shape()]
    strides = _row_major(lowering, sizes)
    pointer = source.pointer
    byte = lowering.add(source.offset, shift)
    if byte != 0:
        pointer = lowering.shared_compute(
            "InBoundsPtrAccessChain", pointer.type, pointer, lowering.as_value(byte)
        )
    element = type_.element_type
    pointer = bitcast_pointer(lowering, pointer, memory_type(element))
    alignment = natural_alignment(element)
    view = Descriptor(pointer, element, 0, tuple(sizes), tuple(strides), alignment)
    lowering.define(operation.results[0], view)


def _row_major(lowering: Lowering, sizes: Sequence[Index]) -> list[Index]:
    strides: list[Index] = []
    stride: Index = 1
    for size in reversed(sizes):
        strides.insert(0, stride)
        stride = lowering.multiply(stride, size)
    return strides


def _dim(operation: Operation, lowering: Lowering) -> None:
    source, dimension = operation.operands
    memory = lowering.meaning(source)
    number = lowering.number(dimension)
    (result,) = operation.results
    if isinstance(memory, Group):
        lowering.define(result, lowering.as_value(memory.count))
        return
    sizes = lowering.descriptor(source).sizes
    if isinstance(number, int):
        if not 0 <= number < len(sizes):
            raise lowering.error(
                f"there is no dimension {number}: the memref has {len(sizes)} dimensions"
            )
        lowering.define(result, lowering.as_value(sizes[number]))
        return
    lowering.define(result, _chosen(lowering, sizes, number))


def _chosen(lowering: Lowering, sizes: Sequence[Index], number: Index) -> Any:
    """The size of a dimension that is known at run time."""
    from xdsl.dialects.builtin import i1

    value = lowering.as_value(sizes[-1])
    for i, size in enumerate(sizes[:-1]):
        is_it = lowering.compute("IEqual", i1, lowering.as_value(number), lowering.integer(i, i64))
        value = lowering.select(is_it, lowering.as_value(size), value)
    return value


def _rank(operation: Operation, lowering: Lowering) -> None:
    rank = memref_type(operation.operands[0].type).get_num_dims()
    lowering.define(operation.results[0], lowering.integer(rank, i64))


def _extract_strided_metadata(operation: Operation, lowering: Lowering) -> None:
    memory = lowering.descriptor(operation.operands[0])
    base, *numbers = operation.results
    lowering.define(base, memory.with_location(0, (), ()))
    own = (memory.offset, *memory.sizes, *memory.strides)
    for result, number in zip(numbers, own, strict=True):
        lowering.define(result, lowering.as_value(number))


def _pointer(operation: Operation, lowering: Lowering) -> None:
    """The address of the memory's first element, whatever the memref's offset."""
    memory = lowering.meaning(operation.operands[0])
    pointer = memory.pointers if isinstance(memory, Group) else memory.pointer
    address = lowering.shared_compute("ConvertPtrToU", i64, pointer)
    lowering.define(operation.results[0], address)


def _assume_alignment(operation: Operation, lowering: Lowering) -> None:
    """A promise; older text has no result, and so promises it of the operand."""
    memory = lowering.descriptor(operation.operands[0])
    promised = cast("IntegerAttr[Any]", operation.properties["alignment"]).value.data
    # The promise is of the first element of the memref.
    if memory.offset == 0:
        memory = replace(memory, alignment=max(promised, memory.alignment))
    lowering.define((*operation.results, operation.operands[0])[0], memory)


def _distinct_objects(operation: Operation, lowering: Lowering) -> None:
    for source, result in zip(operation.operands, operation.results, strict=True):
        lowering.define(result, lowering.meaning(source))


RULES: dict[str, Rule] = {
    "builtin.unrealized_conversion_cast": _unrealized_conversion_cast,
    "memref.assume_alignment": _assume_alignment,
    "memref.cast": _cast,
    "memref.dim": _dim,
    "memref.distinct_objects": _distinct_objects,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.extract_strided_metadata": _extract_strided_metadata,
    "memref.memory_space_cast": _same,
    "memref.rank": _rank,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.subview": _subview,
    "memref.view": _view,
}
"""The rule of each operation, by name."""
