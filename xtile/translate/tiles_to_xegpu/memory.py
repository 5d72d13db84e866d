"""Memory: memrefs as parts of arguments, allocations and addresses, and their single elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AffineMapAttr, IndexType, MemRefType, i1, i64
from xdsl.dialects.memref import (
    ExtractAlignedPointerAsIndexOp,
    ExtractStridedMetaDataOp,
    GetGlobalOp,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.hints import isa

from xtile.dialects.core.attributes import ComplexPart
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace
from xtile.dialects.memref.access import LoadOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, StoreScatterOp
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import kept_dimensions, layout_of, number_lists
from xtile.rewrite.rebuilder import Rule, copy
from xtile.translate.tiles_to_xegpu.lowering import Lowering, Memory, bytes_of, storage_type

AnyMemRef = MemRefType[Attribute]


def type_of(memory: SSAValue) -> AnyMemRef:
    """The type of a memref."""
    return cast("AnyMemRef", memory.type)


def memory_of(lowering: Lowering, base: SSAValue) -> Memory:
    """A memref of the result, as the memory that it is."""
    type_ = type_of(base)
    layout, rank = layout_of(type_), type_.get_num_dims()
    read: list[SSAValue] = []
    if layout.unknowns:
        made = lowering.shared(
            ("metadata", base), (base,), lambda: lowering.emit(ExtractStridedMetaDataOp(base))
        )
        read = list(made.results)
    return Memory(
        base,
        type_.element_type,
        read[1] if layout.offset is None else layout.offset,
        (0,) * rank,
        tuple(read[2 + i] if n is None else n for i, n in enumerate(layout.sizes)),
        tuple(read[2 + rank + i] if n is None else n for i, n in enumerate(layout.strides)),
    )


def local_type(type_: Attribute) -> AnyMemRef:
    """The type of local memory that holds the elements of an allocation one after the other."""
    memref = cast("AnyMemRef", type_)
    count = layout_of(memref).allocated_elements()
    space = AddressSpaceAttr(AddressSpace.WORKGROUP)
    return MemRefType(storage_type(memref.element_type), [count], memory_space=space)


def local_memory(type_: Attribute, buffer: SSAValue) -> Memory:
    """What is allocated in local memory."""
    memref = cast("AnyMemRef", type_)
    layout = layout_of(memref)
    offset, sizes, strides = layout.filled(())
    zeros = (0,) * len(sizes)
    return Memory(buffer, memref.element_type, offset, zeros, tuple(sizes), tuple(strides))


def folded(lowering: Lowering, memory: Memory) -> Memory:
    """The same memory, with all of where it begins in its first element."""
    outer = lowering.add(memory.outer, lowering.sum_of_products(memory.starts, memory.strides))
    return replace(memory, outer=outer, starts=(0,) * memory.rank)


def is_in_local_memory(type_: AnyMemRef) -> bool:
    """Whether memory is a work-group's own."""
    return isinstance(type_.memory_space, AddressSpaceAttr)


def address_of(lowering: Lowering, memory: Memory) -> SSAValue:
    """The address that the elements of memory are counted from, as an i64."""
    base = memory.base
    if memory.is_at_address:
        return base

    def emit() -> SSAValue:
        index = lowering.compute(ExtractAlignedPointerAsIndexOp, [base], IndexType())
        return lowering.compute(arith.IndexCastOp, [index], i64)

    return lowering.shared(("address", base), (base,), emit)


def moved_address(lowering: Lowering, memory: Memory, by: Index) -> SSAValue:
    """The address so many elements behind where the elements of memory are counted from."""
    address = address_of(lowering, memory)
    distance = lowering.multiply(by, bytes_of(memory.element))
    if distance == 0:
        return address
    moved = lowering.from_index(distance, i64)
    return lowering.pure(arith.AddiOp, address, moved)


def line_of(lowering: Lowering, memory: Memory) -> SSAValue:
    """What accesses of points count elements from: a memref of one dimension, or an address."""
    if not memory.is_at_address:
        type_ = type_of(memory.base)
        is_line = layout_of(type_).strides == (1,) and layout_of(type_).offset == 0
        if is_line and type_.element_type == storage_type(memory.element):
            return memory.base
    return address_of(lowering, memory)


def position_of(lowering: Lowering, memory: Memory, indices: Sequence[Index]) -> Index:
    """How many elements behind the base an element lies."""
    at = [lowering.add(a, b) for a, b in zip(memory.starts, indices, strict=True)]
    return lowering.add(memory.outer, lowering.sum_of_products(at, memory.strides))


# --- memrefs that are made of others ---


def _view(operation: ViewOp, lowering: Lowering) -> None:
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    memory = Memory(
        lowering.value(operation.pointer),
        type_of(operation.result).element_type,
        offset,
        (0,) * len(sizes),
        tuple(sizes),
        tuple(strides),
        operation.unknown_extents,
    )
    lowering.define(operation.result, memory)


def _subview(operation: Operation, lowering: Lowering) -> None:
    source = lowering.memory(operation.operands[0])
    numbers = lowering.numbers(operation.operands[1:])
    offsets, sizes, steps = number_lists(operation, numbers, "offsets", "sizes", "strides")
    kept = kept_dimensions(operation)
    outer = source.outer
    dimensions: list[tuple[Index, Index, Index]] = []
    for i, (offset, size, step) in enumerate(zip(offsets, sizes, steps, strict=True)):
        start, stride = lowering.add(source.starts[i], offset), source.strides[i]
        if i in kept and step == 1:
            dimensions.append((start, size, stride))
            continue
        outer = lowering.add(outer, lowering.multiply(start, stride))
        if i in kept:
            dimensions.append((0, size, lowering.multiply(stride, step)))
    starts, kept_sizes, strides = zip(*dimensions, strict=True) if dimensions else ((), (), ())
    view = Memory(source.base, source.element, outer, starts, kept_sizes, strides)
    lowering.define(operation.results[0], view)


def _reinterpret_cast(operation: Operation, lowering: Lowering) -> None:
    source = lowering.memory(operation.operands[0])
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    zeros = (0,) * len(sizes)
    view = Memory(source.base, source.element, offset, zeros, tuple(sizes), tuple(strides))
    lowering.define(operation.results[0], view)


def _same(operation: Operation, lowering: Lowering) -> None:
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def is_group(type_: Attribute) -> bool:
    """Whether a type is that of a memref of memrefs, which stays what it is."""
    return isa(type_, MemRefType) and isinstance(type_.element_type, MemRefType)


def _dim(operation: Operation, lowering: Lowering) -> None:
    if is_group(operation.operands[0].type):
        copy(operation, lowering)
        return
    sizes = lowering.memory(operation.operands[0]).sizes
    number = lowering.number(operation.operands[1])
    if not isinstance(number, int) or not 0 <= number < len(sizes):
        raise lowering.error("the dimension that memref.dim asks for must be a known one")
    lowering.define(operation.results[0], lowering.as_value(sizes[number]))


def _rank(operation: Operation, lowering: Lowering) -> None:
    rank = lowering.memory(operation.operands[0]).rank
    lowering.define(operation.results[0], lowering.index(rank))


def _extract_strided_metadata(operation: Operation, lowering: Lowering) -> None:
    memory = folded(lowering, lowering.memory(operation.operands[0]))
    base, *numbers = operation.results
    lowering.define(base, replace(memory, outer=0, starts=(), sizes=(), strides=()))
    given = (memory.outer, *memory.sizes, *memory.strides)
    for result, number in zip(numbers, given, strict=True):
        lowering.define(result, lowering.as_value(number))


def _pointer(operation: Operation, lowering: Lowering) -> None:
    address = address_of(lowering, lowering.memory(operation.operands[0]))
    lowering.define(operation.results[0], lowering.as_indices(address))


def _transpose(operation: Operation, lowering: Lowering) -> None:
    source = lowering.memory(operation.operands[0])
    results = cast(AffineMapAttr, operation.properties["permutation"]).data.results
    order = [cast(AffineDimExpr, result).position for result in results]
    own = (source.starts, source.sizes, source.strides)
    starts, sizes, strides = (tuple(numbers[i] for i in order) for numbers in own)
    unbounded = frozenset(i for i, dimension in enumerate(order) if dimension in source.unbounded)
    turned = replace(source, starts=starts, sizes=sizes, strides=strides, unbounded=unbounded)
    lowering.define(operation.results[0], turned)


def _assume_alignment(operation: Operation, lowering: Lowering) -> None:
    for result in operation.results:
        lowering.define(result, lowering.meaning(operation.operands[0]))


def _complex_part(operation: ComplexPartOp, lowering: Lowering) -> None:
    """The numbers of one part, which lie two apart, at the address of the complex ones."""
    source = folded(lowering, lowering.memory(operation.source))
    base = _address_of_complex(lowering, source)
    outer = lowering.multiply(source.outer, 2)
    outer = lowering.add(outer, int(operation.part.data is ComplexPart.IMAGINARY))
    part = replace(
        source,
        base=base,
        element=type_of(operation.result).element_type,
        outer=outer,
        strides=tuple(lowering.multiply(stride, 2) for stride in source.strides),
    )
    lowering.define(operation.result, part)


def _address_of_complex(lowering: Lowering, memory: Memory) -> SSAValue:
    return memory.base if memory.is_at_address else address_of(lowering, memory)


def _get_global(operation: Operation, lowering: Lowering) -> None:
    """A variable, which stays one of the module."""
    (result,) = operation.results
    base = lowering.shared(
        ("global", str(operation.properties["name"])),
        (),
        lambda: lowering.emit(cast(Any, GetGlobalOp).clone(operation)).results[0],
    )
    assert base.type == result.type
    lowering.define(result, memory_of(lowering, base))


# --- single elements ---


def _load(operation: Operation, lowering: Lowering) -> None:
    """An element of memory, or the memref that is an entry of a group."""
    source, *indices = operation.operands
    (result,) = operation.results
    if isa(result.type, MemRefType):
        copied = [lowering.value(source), *lowering.values(indices)]
        entry = lowering.emit(
            LoadOp.build(operands=[copied[0], copied[1:]], result_types=[result.type])
        )
        lowering.define(result, memory_of(lowering, entry.results[0]))
        return
    value = load_one(lowering, lowering.memory(source), lowering.numbers(indices))
    lowering.define(result, lowering.from_memory(value, lowering.type_of(result.type)))


def load_one(
    lowering: Lowering, memory: Memory, indices: Sequence[Index], mask: SSAValue | None = None
) -> SSAValue:
    """The number at the indices, as memory holds it."""
    at = lowering.as_value(position_of(lowering, memory, indices))
    base = line_of(lowering, memory)
    allowed = lowering.constant(1, i1) if mask is None else mask
    load = LoadGatherOp(base, at, allowed, storage_type(memory.element))
    return lowering.emit(load).value


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    store_one(
        lowering, lowering.value(value), lowering.memory(target), lowering.numbers(indices), None
    )


def store_one(
    lowering: Lowering,
    value: SSAValue,
    memory: Memory,
    indices: Sequence[Index],
    mask: SSAValue | None,
) -> None:
    """Writes a number, which all work-items have, to where the indices say."""
    at = lowering.as_value(position_of(lowering, memory, indices))
    allowed = lowering.constant(1, i1) if mask is None else mask
    base, stored = line_of(lowering, memory), lowering.to_memory(value)
    lowering.emit(StoreScatterOp(stored, base, at, allowed))


def _nothing(operation: Operation, lowering: Lowering) -> None:
    """What kernels.py has done already."""


RULES: dict[str, Rule] = {
    "core.complex_part": _complex_part,
    "core.view": _view,
    "memref.alloca": _nothing,
    "memref.assume_alignment": _assume_alignment,
    "memref.cast": _same,
    "memref.dim": _dim,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.extract_strided_metadata": _extract_strided_metadata,
    "memref.get_global": _get_global,
    "memref.load": _load,
    "memref.memory_space_cast": _same,
    "memref.rank": _rank,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
}
"""The rule of each operation, by name."""
