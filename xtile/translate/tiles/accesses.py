"""Which elements of memory a tile is, and pointers to elements of memory anywhere.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import ComplexType, MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from xtile.dialects.core import atomics, scattered
from xtile.dialects.core.arguments import leads_to_memory, source_of
from xtile.dialects.core.attributes import BEGINS_INSIDE_ATTRIBUTE
from xtile.dialects.core.extents import carried
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.effects import read_operands, written_operands
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.facts import only_origin
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import layout_of
from xtile.rewrite.transfers import Extent, extent_of, order_of_mask, shape_before_repeating
from xtile.translate.tiles.descriptors import Descriptor, Group
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.types import (
    INDEX,
    memref_type,
    part_of,
    parts_per_element,
    shape_of,
    size_in_bytes,
)

# --- tiles in memory ---


@dataclass(frozen=True)
class Access(Extent):
    """A tile in memory.

    Attributes:
        memory: The memory.
        begins_inside: Whether the program promises that its first element is one of the memory's.
    """

    memory: Descriptor
    begins_inside: bool = False

    @property
    def single(self) -> list[int]:
        """The dimensions of memory that have one index."""
        return [i for i in range(self.memory.rank) if i not in self.axes]


def access_of(
    operation: TransferReadOp | TransferWriteOp, value: SSAValue, lowering: TileLowering
) -> Access:
    """The tile in memory that a transfer accesses, which has the elements of a vector."""
    memory = lowering.descriptor(operation.source)
    starts = lowering.numbers(operation.indices)
    extent = extent_of(operation, shape_of(value.type), starts, memory.sizes)
    begins = BEGINS_INSIDE_ATTRIBUTE in operation.attributes
    return Access(extent.starts, extent.shape, extent.axes, extent.inside, memory, begins)


def mask_of(operation: TransferReadOp | TransferWriteOp, lowering: TileLowering) -> SSAValue | None:
    """The mask in the order of the tile's dimensions."""
    if operation.mask is None:
        return None
    return lowering.permute(lowering.value(operation.mask), order_of_mask(operation))


def repeated(operation: TransferReadOp, loaded: SSAValue, lowering: TileLowering) -> SSAValue:
    """The tile in the shape of the result, repeated along what is no dimension of memory."""
    once = lowering.reshape(loaded, shape_before_repeating(operation))
    return lowering.broadcast(once, shape_of(operation.result.type))


def whole(memory: Descriptor, starts: Sequence[Index], shape: tuple[int, ...]) -> Access:
    """The elements from an index on, along the last dimensions, all of which memory has."""
    first = memory.rank - len(shape)
    axes = tuple(range(first, memory.rank))
    return Access(tuple(starts), shape, axes, (True,) * len(shape), memory)


# --- single elements ---


def pointer_to(
    lowering: TileLowering, memory: Descriptor, indices: Sequence[Index], part: int = 0
) -> SSAValue:
    """Points to an element, or to the imaginary part of one if `part` is 1."""
    distance = lowering.sum_of_products(indices, memory.strides)
    offset = lowering.add_all([memory.offset, distance, part])
    if offset == 0:
        return memory.pointer
    return lowering.pure_offset(memory.pointer, lowering.as_value(offset))


def parts_of(memory: Descriptor) -> range:
    """The parts of each element: a complex number has two."""
    return range(parts_per_element(memory.element))


# --- elements anywhere ---

Anywhere: TypeAlias = (
    atomics.AtomicCompareAndSwapOp
    | atomics.AtomicRMWOp
    | scattered.GatherLoadOp
    | scattered.ScatterStoreOp
)
"""An access to elements of memory anywhere."""


def pointers_at(
    lowering: TileLowering, described: Descriptor, indices: Sequence[SSAValue], positions: SSAValue
) -> SSAValue:
    """Points to the elements at positions along the last dimension, counted from an index."""
    first = pointer_to(lowering, described, lowering.numbers(indices))
    offsets = _offsets(lowering, positions, described.strides[-1])
    return lowering.offset(lowering.spread(first, lowering.shape(positions)), offsets)


def _offsets(lowering: TileLowering, positions: SSAValue, stride: Index) -> SSAValue:
    """How many elements positions along a dimension are apart from the first one."""
    offsets = lowering.resize(positions, INDEX)
    if stride == 1:
        return offsets
    factor = lowering.spread(lowering.as_value(stride), lowering.shape(positions))
    return lowering.arith("muli", offsets, factor)


def pointers_to(
    lowering: TileLowering, described: Descriptor, indices: Sequence[SSAValue], shape: Sequence[int]
) -> SSAValue:
    """Points to elements that have some indices in common, and others of their own."""
    own = {axis: index for axis, index in enumerate(indices) if isinstance(index.type, VectorType)}
    common = [0 if axis in own else lowering.number(index) for axis, index in enumerate(indices)]
    first = pointer_to(lowering, described, common)
    pointers = lowering.spread(first, shape) if shape else first
    for axis, index in own.items():
        offsets = _offsets(lowering, lowering.value(index), described.strides[axis])
        offsets = lowering.broadcast(offsets, shape)
        pointers = lowering.offset(pointers, offsets)
    return pointers


def pointers_of(lowering: TileLowering, operation: Anywhere, shape: Sequence[int]) -> SSAValue:
    """Points to the elements that an operation accesses.

    Raises:
        DiagnosticError: They are complex numbers.
    """
    memory, name = operation.memory, lowering.result_name
    pointer = pointer_of(memory.type)
    if pointer is None:
        described = lowering.descriptor(memory)
        if isinstance(described.element, ComplexType):
            raise lowering.error(f"{operation.name} of complex numbers has no form in {name}")
        return pointers_to(lowering, described, operation.indices, shape)
    if isinstance(pointer.pointee_type, ComplexType):
        raise lowering.error(
            f"complex numbers cannot be accessed through a pointer in {name}; use core.view"
        )
    return lowering.value(memory)


# --- memrefs of groups ---


def memref_of(lowering: TileLowering, group: Group, index: Index) -> Descriptor:
    """A memref of a group: its address, its sizes and its strides are loaded."""
    layout = layout_of(group.type)
    assert layout.offset is not None, "the calling convention has groups with one offset only"
    element = group.type.element_type
    scale = parts_per_element(element)
    address = _load_at(lowering, group.addresses, index)
    pointer = lowering.pointer_at(address, part_of(element))
    if group.alignment > size_in_bytes(element):
        pointer = lowering.promise_divisor(pointer, group.alignment)
    addresses = group.addresses.type

    def number_at(number: Index, promise: Callable[[SSAValue], SSAValue]) -> Index:
        """A size or stride, or the one at the index of those that a pointer points to."""
        if isinstance(number, int) or number.type != addresses:
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


def _load_at(lowering: TileLowering, pointer: SSAValue, index: Index) -> SSAValue:
    """A number of 64 bits that no kernel changes.

    It is loaded where the source loads the memref: a condition may keep the index inside the group.
    """

    def load() -> SSAValue:
        element = pointer
        if index != 0:
            element = lowering.pure_offset(pointer, lowering.as_value(index))
        return lowering.load_number(element)

    return lowering.reused(("load", pointer, index), load)


def memory_of(operation: Operation) -> list[SSAValue]:
    """The memrefs and pointers that an operation reads or writes."""
    accessed = written_operands(operation) or read_operands(operation)
    return [memory for memory in accessed if leads_to_memory(memory.type)]


def is_group(type_: Attribute) -> bool:
    """Whether a type is that of a memref of memrefs."""
    if type(type_) is not MemRefType:
        return False
    return type(memref_type(type_).element_type) is MemRefType


def root_of(memory: SSAValue) -> SSAValue | None:
    """What a memref or pointers are a part of: an argument or what is allocated.

    None if it is not known, or if it may be one of several.
    """
    return only_origin(memory, _sources)


def _sources(value: SSAValue) -> list[SSAValue] | None:
    """What a memref or pointers are made of; nothing for memory itself, None if not known."""
    sources = list(carried(value))
    owner = value.owner
    if sources or isinstance(owner, Block) or owner.name == "memref.alloca":
        return sources
    source = source_of(owner)
    return None if source is None else [source]
