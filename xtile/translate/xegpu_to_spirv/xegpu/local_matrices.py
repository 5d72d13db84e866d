"""Matrices in local memory, of which a lane accesses elements or its part.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `create_mem_desc`, `load_matrix` and
`store_matrix`; docs/semantics.md, "XeGPU".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Self

from typing_extensions import override
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.xegpu.attributes import BlockTensorDescAttr, MemorySpace
from xtile.dialects.xegpu.operation import shape_of
from xtile.dialects.xegpu.ops.matrix import CreateMemDescOp, LoadMatrixOp, StoreMatrixOp
from xtile.dialects.xegpu.types import MemDescType, TensorDescType
from xtile.rewrite.descriptors import Descriptor
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.targets.blocks import Action
from xtile.translate.xegpu_to_spirv.lowering import Carried, Lowering
from xtile.translate.xegpu_to_spirv.memory import (
    Location,
    bitcast_pointer,
    load_piece,
    location,
    pointer_to,
    store_piece,
)
from xtile.translate.xegpu_to_spirv.types import legal_lengths, memory_type, natural_alignment
from xtile.translate.xegpu_to_spirv.vectors.entries import (
    Entry,
    assemble,
    define_entries,
    element,
    entries,
    entries_of,
)
from xtile.translate.xegpu_to_spirv.xegpu import plain_blocks
from xtile.translate.xegpu_to_spirv.xegpu.block_access import is_row, load_row, store_row
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import (
    BlockAccess,
    BlockDescriptor,
    numbers_of,
)
from xtile.translate.xegpu_to_spirv.xegpu.lane_code import check_part, check_row


@dataclass(frozen=True)
class LocalMatrix(Carried):
    """A matrix in local memory.

    Attributes:
        type: Its type, which says where its elements are.
        pointer: Points to the first one.
    """

    type: MemDescType
    pointer: SSAValue

    @property
    def memory(self) -> Descriptor:
        """The memory, with one dimension."""
        element = self.type.element_type
        return Descriptor(self.pointer, element, 0, (), (1,), natural_alignment(element))

    def index(self, lowering: Lowering, coordinates: Sequence[Index]) -> Index:
        """The number of an element in memory."""
        if self.type.block_shape == self.type.get_shape():
            return lowering.add(*lowering.linear(0, coordinates, self.type.strides))
        inner, outer = self.type.blocked_strides
        pairs = list(zip(coordinates, self.type.block_shape, strict=True))
        blocks = [lowering.divide(number, size) for number, size in pairs]
        rests = [lowering.remainder(number, size) for number, size in pairs]
        return lowering.add(*lowering.linear(0, [*blocks, *rests], [*outer, *inner]))

    @override
    def flat(self, lowering: Lowering) -> list[SSAValue]:
        return [self.pointer]

    @classmethod
    @override
    def rebuilt(cls, type_: Attribute, values: Iterator[SSAValue]) -> Self:
        assert isinstance(type_, MemDescType)
        return cls(type_, next(values))


def _create_mem_desc(operation: CreateMemDescOp, lowering: Lowering) -> None:
    type_ = operation.mem_desc.type
    assert isinstance(type_, MemDescType)
    source = lowering.descriptor(operation.source)
    start = (0, source.offset) if isinstance(source.offset, int) else (source.offset, 0)
    pointer = pointer_to(lowering, source, Location(*start))
    pointer = bitcast_pointer(lowering, pointer, memory_type(type_.element_type))
    lowering.define(operation.mem_desc, LocalMatrix(type_, pointer))


def _locations(
    operation: LoadMatrixOp | StoreMatrixOp, data: SSAValue, lowering: Lowering
) -> Iterator[tuple[Location, int]]:
    """The location and the length of each part of what a lane accesses that can be a vector."""
    check_part(operation, data.type, operation.layout, operation.offsets, lowering)
    matrix = _matrix(operation, lowering)
    start = numbers_of(lowering, operation.mixed_offsets)
    shape = shape_of(data.type)
    if len(shape) == 1:
        # A lane's elements follow each other in memory, whatever the matrix's layout is.
        first = location(lowering, matrix.memory, [matrix.index(lowering, start)])
        for length in legal_lengths(shape[0]):
            yield first, length
            first = first.after(length)
        return
    for move in product(*map(range, shape)):
        coordinates = [lowering.add(a, b) for a, b in zip(start, move, strict=True)]
        yield location(lowering, matrix.memory, [matrix.index(lowering, coordinates)]), 1


def _matrix(operation: LoadMatrixOp | StoreMatrixOp, lowering: Lowering) -> LocalMatrix:
    meaning = lowering.meaning(operation.mem_desc)
    assert isinstance(meaning, LocalMatrix)
    return meaning


def _row(
    operation: LoadMatrixOp | StoreMatrixOp, data: SSAValue, lowering: Lowering
) -> BlockAccess:
    """What the lanes access together: a block of one dimension.

    Raises:
        DiagnosticError: The data is a subgroup's.
    """
    check_row(operation, data.type, operation.layout, lowering)
    matrix = _matrix(operation, lowering)
    lanes = lowering.kernel.lanes_together
    size = prod(shape_of(data.type)) * lanes
    encoding = BlockTensorDescAttr(MemorySpace.SLM)
    type_ = TensorDescType([size], matrix.type.element_type, encoding)
    first = matrix.index(lowering, numbers_of(lowering, operation.mixed_offsets))
    block = BlockDescriptor(type_, matrix.pointer, 0, (size,), (1,), (first,))
    return BlockAccess(block, lanes)


def _load_matrix(operation: LoadMatrixOp, lowering: Lowering) -> None:
    loaded: list[Entry] = []
    if operation.subgroup_block_io is not None:
        access = _row(operation, operation.res, lowering)
        if is_row(lowering, access, Action.LOAD):
            loaded = entries_of([load_row(lowering, access)])
        else:
            loaded = [(value, 0) for value in plain_blocks.load(lowering, access)]
    else:
        memory = _matrix(operation, lowering).memory
        for first, length in _locations(operation, operation.res, lowering):
            loaded += entries_of([load_piece(lowering, memory, first, length)])
    define_entries(lowering, operation.res, loaded)


def _store_matrix(operation: StoreMatrixOp, lowering: Lowering) -> None:
    rest = entries(operation.data, lowering)
    if operation.subgroup_block_io is not None:
        access = _row(operation, operation.data, lowering)
        if is_row(lowering, access, Action.STORE):
            store_row(lowering, access, assemble(lowering, rest))
        else:
            values = [element(lowering, entry) for entry in rest]
            plain_blocks.store(lowering, access, values)
        return
    memory = _matrix(operation, lowering).memory
    for first, length in _locations(operation, operation.data, lowering):
        store_piece(lowering, memory, first, assemble(lowering, rest[:length]))
        rest = rest[length:]


RULES: dict[str, Rule] = {
    CreateMemDescOp.name: _create_mem_desc,
    LoadMatrixOp.name: _load_matrix,
    StoreMatrixOp.name: _store_matrix,
}
"""The rule of each operation, by name."""
