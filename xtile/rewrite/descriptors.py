"""Memrefs where a target has none: a pointer, an offset, sizes and strides, as far as known.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR/MemRefOps.td`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.rewrite.indices import Index, IndexArithmetic
from xtile.rewrite.memref_layouts import kept_dimensions, layout_of, number_lists
from xtile.rewrite.rebuilder import Rebuilder, Rule


@dataclass(frozen=True)
class Descriptor:
    """A memref: element (i, j, ..) is `offset + i * strides[0] + j * strides[1] + ..`.

    Attributes:
        pointer: Points to element 0 of the memory.
        element: The type of the elements, as the memref's type names it.
        offset: Elements from there to the memref's first one.
        sizes: The size of each dimension.
        strides: Elements between neighbours in each dimension.
        alignment: Bytes that the pointer is a multiple of.
    """

    pointer: SSAValue
    element: Attribute
    offset: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    alignment: int

    def moved(self, offset: Index, sizes: Iterable[Index], strides: Iterable[Index]) -> Self:
        """Other elements of the same memory."""
        return replace(self, offset=offset, sizes=tuple(sizes), strides=tuple(strides))

    def transposed(self, order: Sequence[int]) -> Self:
        """The same elements; `order` names the dimension that each dimension of the result is."""
        return self.moved(
            self.offset, (self.sizes[i] for i in order), (self.strides[i] for i in order)
        )


@dataclass(frozen=True)
class Group:
    """A memref of memrefs, which kernels get as arrays of addresses, sizes and strides.

    Attributes:
        type: The type of the memrefs.
        addresses: Points to the addresses.
        sizes: For each dimension its size, or a pointer to the sizes of all memrefs.
        strides: For each dimension its stride, or a pointer to the strides of all memrefs.
        count: The number of memrefs.
        alignment: Bytes that the addresses are multiples of.
    """

    type: MemRefType[Attribute]
    addresses: SSAValue
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    count: Index
    alignment: int


class DescriptorLowering(Rebuilder, IndexArithmetic, ABC):
    """Rebuilds kernels in a language without memrefs.

    A memref becomes a `Descriptor`, and a memref of memrefs a `Group`.
    """

    @abstractmethod
    def number(self, old: SSAValue) -> Index:
        """What an index of the source has become; a constant is a number."""

    def numbers(self, old: Iterable[SSAValue]) -> list[Index]:
        """What indices of the source have become; constants are numbers."""
        return [self.number(value) for value in old]

    def descriptor(self, old: SSAValue) -> Descriptor:
        """What is known of a memref.

        Raises:
            DiagnosticError: It is a group.
        """
        meaning = self.meaning(old)
        if not isinstance(meaning, Descriptor):
            raise self.error(f"a value of type {old.type} has no elements that can be accessed")
        return meaning

    def parts_per_element(self, element: Attribute) -> int:
        """How many numbers an element is for offsets and strides."""
        return 1

    @abstractmethod
    def address(self, pointer: SSAValue) -> SSAValue:
        """The address that a pointer holds, as an integer."""

    @abstractmethod
    def is_number(self, value: SSAValue, number: int) -> SSAValue:
        """Whether an index is a number."""

    @abstractmethod
    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """One of two values, as a condition says."""

    def promise_divisor(self, value: SSAValue, divisor: int) -> SSAValue:
        """The same pointer, which is known to be a multiple of so many bytes."""
        return value


# --- memrefs that are made of others ---


def _subview(operation: Operation, lowering: DescriptorLowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    numbers = lowering.numbers(operation.operands[1:])
    offsets, sizes, steps = number_lists(operation, numbers, "offsets", "sizes", "strides")
    offset = lowering.add(source.offset, lowering.sum_of_products(offsets, source.strides))
    strides = [lowering.multiply(s, step) for s, step in zip(source.strides, steps, strict=True)]
    kept = kept_dimensions(operation)
    view = source.moved(offset, (sizes[i] for i in kept), (strides[i] for i in kept))
    lowering.define(operation.results[0], view)


def _reinterpret_cast(operation: Operation, lowering: DescriptorLowering) -> None:
    source = lowering.descriptor(operation.operands[0])
    scale = lowering.parts_per_element(source.element)
    numbers = lowering.numbers(operation.operands[1:])
    (offset,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    scaled = [lowering.multiply(number, scale) for number in (offset, *strides)]
    lowering.define(operation.results[0], source.moved(scaled[0], sizes, scaled[1:]))


def _cast(operation: Operation, lowering: DescriptorLowering) -> None:
    """The same memref; what its new type tells is true of it."""
    (result,) = operation.results
    meaning = lowering.meaning(operation.operands[0])
    if isinstance(meaning, Descriptor):
        layout = layout_of(cast("MemRefType[Attribute]", result.type))
        scale = lowering.parts_per_element(meaning.element)
        own = (meaning.offset, *meaning.strides)
        told = (layout.offset, *layout.strides)
        known = [a if b is None else b * scale for a, b in zip(own, told, strict=True)]
        sizes = zip(meaning.sizes, layout.sizes, strict=True)
        meaning = replace(
            meaning,
            offset=known[0],
            sizes=tuple(a if b is None else b for a, b in sizes),
            strides=tuple(known[1:]),
        )
    lowering.define(result, meaning)


def _same(operation: Operation, lowering: DescriptorLowering) -> None:
    """The same memory; what the result's type tells is known already, or wrong."""
    lowering.define(operation.results[0], lowering.meaning(operation.operands[0]))


def _transpose(operation: Operation, lowering: DescriptorLowering) -> None:
    map_ = cast(AffineMapAttr, operation.properties["permutation"]).data
    order = [cast(AffineDimExpr, result).position for result in map_.results]
    source = lowering.descriptor(operation.operands[0])
    lowering.define(operation.results[0], source.transposed(order))


def _assume_alignment(operation: Operation, lowering: DescriptorLowering) -> None:
    """A promise; older text has no result, and so promises it of the operand."""
    memory = lowering.descriptor(operation.operands[0])
    promised = cast(Any, operation.properties["alignment"]).value.data
    # The promise is of the first element of the memref.
    if memory.offset == 0 and promised > memory.alignment:
        pointer = lowering.promise_divisor(memory.pointer, promised)
        memory = replace(memory, alignment=promised, pointer=pointer)
    lowering.define((*operation.results, operation.operands[0])[0], memory)


# --- what is asked of them ---


def _dim(operation: Operation, lowering: DescriptorLowering) -> None:
    source, dimension = operation.operands
    memory, number = lowering.meaning(source), lowering.number(dimension)
    (result,) = operation.results
    if isinstance(memory, Group):
        lowering.define(result, lowering.as_value(memory.count))
        return
    sizes = lowering.descriptor(source).sizes
    if not isinstance(number, int):
        lowering.define(result, _chosen(lowering, sizes, number))
    elif 0 <= number < len(sizes):
        lowering.define(result, lowering.as_value(sizes[number]))
    else:
        raise lowering.error(
            f"there is no dimension {number}: the memref has {len(sizes)} dimensions"
        )


def _chosen(lowering: DescriptorLowering, sizes: Sequence[Index], number: SSAValue) -> SSAValue:
    """The size of a dimension that is known at run time."""
    value = lowering.as_value(sizes[-1])
    for i, size in enumerate(sizes[:-1]):
        value = lowering.select(lowering.is_number(number, i), lowering.as_value(size), value)
    return value


def _rank(operation: Operation, lowering: DescriptorLowering) -> None:
    rank = cast("MemRefType[Attribute]", operation.operands[0].type).get_num_dims()
    lowering.define(operation.results[0], lowering.as_value(rank))


def _extract_strided_metadata(operation: Operation, lowering: DescriptorLowering) -> None:
    memory = lowering.descriptor(operation.operands[0])
    base, *numbers = operation.results
    lowering.define(base, memory.moved(0, (), ()))
    scale = lowering.parts_per_element(memory.element)
    offset, *strides = (
        lowering.divide_exactly(number, scale) for number in (memory.offset, *memory.strides)
    )
    for result, number in zip(numbers, (offset, *memory.sizes, *strides), strict=True):
        lowering.define(result, lowering.as_value(number))


def _pointer(operation: Operation, lowering: DescriptorLowering) -> None:
    """The address of the memory's first element, whatever the memref's offset."""
    memory = lowering.meaning(operation.operands[0])
    pointer = memory.addresses if isinstance(memory, Group) else memory.pointer
    lowering.define(operation.results[0], lowering.address(pointer))


RULES: dict[str, Rule] = {
    "memref.assume_alignment": _assume_alignment,
    "memref.cast": _cast,
    "memref.dim": _dim,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.extract_strided_metadata": _extract_strided_metadata,
    "memref.memory_space_cast": _same,
    "memref.rank": _rank,
    "memref.reinterpret_cast": _reinterpret_cast,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
}
"""The rule of each operation, by name."""
