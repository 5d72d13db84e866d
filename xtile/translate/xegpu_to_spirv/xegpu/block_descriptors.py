"""Descriptors of blocks of memory: what they are while a kernel is translated, and their rules.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `create_nd_tdesc` and `update_nd_offset`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

from typing_extensions import override
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.spirv.types import pointer_type
from xtile.dialects.xegpu.attributes import BlockTensorDescAttr, MemorySpace
from xtile.dialects.xegpu.operation import tensor_desc
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp, UpdateNdOffsetOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.lowering import Carried, Lowering
from xtile.translate.xegpu_to_spirv.types import bit_width, memory_type, natural_alignment

STORAGE_CLASSES = {MemorySpace.GLOBAL: "CrossWorkgroup", MemorySpace.SLM: "Workgroup"}
"""The storage class of each memory that a descriptor can describe."""


@dataclass(frozen=True)
class BlockDescriptor(Carried):
    """A block of a region of memory with one or two dimensions, in elements.

    Dimensions that the block has not are gone: it lies in one slice of the region.

    Attributes:
        type: The descriptor's type, which says the shape of the block.
        pointer: Points to the memory.
        start: Elements from there to the first one of the region's slice.
        sizes: The region's size in each dimension of the block.
        strides: The distance of neighbours in each of them.
        offsets: Where the block begins in each of them.
    """

    type: TensorDescType
    pointer: SSAValue
    start: Index
    sizes: tuple[Index, ...]
    strides: tuple[Index, ...]
    offsets: tuple[Index, ...]

    @property
    def is_checked(self) -> bool:
        """Whether what lies outside of the region is left out; with one dimension it never is."""
        encoding = cast(BlockTensorDescAttr, self.type.encoding)
        return self.type.rank > 1 and encoding.is_boundary_checked

    @property
    def memory(self) -> Descriptor:
        """The region as memory, whose elements have the block's dimensions as indices."""
        element = self.type.element_type
        return Descriptor(
            self.pointer, element, self.start, self.sizes, self.strides, natural_alignment(element)
        )

    def moved(self, lowering: Lowering, offsets: Sequence[Index]) -> BlockDescriptor:
        """The block further by offsets; none leave it where it is."""
        if not offsets:
            return self
        pairs = zip(self.offsets, offsets, strict=True)
        return replace(self, offsets=tuple(lowering.add(a, b) for a, b in pairs))

    @override
    def flat(self, lowering: Lowering) -> list[SSAValue]:
        numbers = (self.start, *self.sizes, *self.strides, *self.offsets)
        return [self.pointer, *map(lowering.as_value, numbers)]

    @classmethod
    @override
    def rebuilt(cls, type_: Attribute, values: Iterator[SSAValue]) -> Self:
        assert isinstance(type_, TensorDescType)
        pointer, start = next(values), next(values)
        sizes, strides, offsets = (tuple(next(values) for _ in range(type_.rank)) for _ in range(3))
        return cls(type_, pointer, start, sizes, strides, offsets)


@dataclass(frozen=True)
class BlockAccess:
    """What one operation loads, stores or prefetches.

    Attributes:
        descriptor: The block, whose first element is where the access begins.
        lanes: Lanes of a subgroup.
        is_packed: Whether elements of several rows that fill 32 bits stand next to each other.
        is_transposed: Whether rows and columns are swapped.
    """

    descriptor: BlockDescriptor
    lanes: int
    is_packed: bool = False
    is_transposed: bool = False

    @property
    def type(self) -> TensorDescType:
        """The type of the descriptor."""
        return self.descriptor.type

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of one block in memory; a block of one dimension is a row."""
        *rows, columns = self.type.get_shape()
        return (rows[0] if rows else 1), columns

    @property
    def bits(self) -> int:
        """The width of an element."""
        return bit_width(memory_type(self.type.element_type))

    @property
    def entries(self) -> int:
        """How many elements of one block a lane has."""
        rows, columns = self.shape
        return rows * columns // self.lanes


def numbers_of(lowering: Lowering, mixed: Sequence[SSAValue | int]) -> list[Index]:
    """What indices have become, of which some are known in the source."""
    return [n if isinstance(n, int) else lowering.number(n) for n in mixed]


def pointer_from_address(
    lowering: Lowering, address: SSAValue, element: Attribute, space: MemorySpace
) -> SSAValue:
    """Points to the elements at an address, which is an integer."""
    type_ = pointer_type(memory_type(element), STORAGE_CLASSES[space])
    return lowering.shared_compute("ConvertUToPtr", type_, address)


def _create_nd_tdesc(operation: CreateNdDescOp, lowering: Lowering) -> None:
    type_ = tensor_desc(operation.TensorDesc)
    source = lowering.meaning(operation.source)
    if isinstance(source, Descriptor):
        pointer, start = source.pointer, source.offset
    else:
        pointer = pointer_from_address(lowering, source, type_.element_type, type_.memory_space)
        start, source = 0, None
    sizes = _filled(lowering, operation.mixed_sizes, source.sizes if source else ())
    strides = _filled(lowering, operation.mixed_strides, source.strides if source else ())
    offsets = numbers_of(lowering, operation.mixed_offsets) or [0] * len(sizes)
    outer = len(sizes) - type_.rank
    start = lowering.add(*lowering.linear(start, offsets[:outer], strides[:outer]))
    parts = (tuple(numbers[outer:]) for numbers in (sizes, strides, offsets))
    lowering.define(operation.TensorDesc, BlockDescriptor(type_, pointer, start, *parts))


def _filled(
    lowering: Lowering, given: Sequence[SSAValue | int | None], known: Sequence[Index]
) -> list[Index]:
    """Numbers of an operation, and those of the memref where the operation leaves them to it."""
    return [
        known[i] if n is None else n if isinstance(n, int) else lowering.number(n)
        for i, n in enumerate(given)
    ]


def _update_nd_offset(operation: UpdateNdOffsetOp, lowering: Lowering) -> None:
    descriptor = lowering.meaning(operation.TensorDesc)
    assert isinstance(descriptor, BlockDescriptor)
    offsets = numbers_of(lowering, operation.mixed_offsets)
    lowering.define(operation.result, descriptor.moved(lowering, offsets))


RULES: dict[str, Rule] = {
    CreateNdDescOp.name: _create_nd_tdesc,
    UpdateNdOffsetOp.name: _update_nd_offset,
}
"""The rule of each operation, by name."""
