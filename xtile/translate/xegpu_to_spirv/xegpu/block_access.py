"""Loads, stores and prefetches of blocks, in the spelling that the device's driver takes.

Where there is no instruction for an access, each lane accesses its elements.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `load_nd`, `store_nd` and `prefetch_nd`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from xdsl.dialects.builtin import IntegerType, i16, i32
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.xegpu.attributes import MemorySpace
from xtile.dialects.xegpu.operation import shape_of, shape_text, tensor_desc
from xtile.dialects.xegpu.ops.block import LoadNdOp, PrefetchNdOp, StoreNdOp
from xtile.rewrite.rebuilder import Rule
from xtile.targets import blocks
from xtile.targets.blocks import Action, Bytes, Region
from xtile.targets.spellings import Means
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.memory import bitcast_pointer
from xtile.translate.xegpu_to_spirv.types import bit_width, of_length, register_type
from xtile.translate.xegpu_to_spirv.vectors.entries import define_entries, element, entries_of
from xtile.translate.xegpu_to_spirv.words import as_bits_of, as_words
from xtile.translate.xegpu_to_spirv.xegpu import plain_blocks
from xtile.translate.xegpu_to_spirv.xegpu.block_descriptors import (
    BlockAccess,
    BlockDescriptor,
    numbers_of,
)
from xtile.translate.xegpu_to_spirv.xegpu.block_functions import BlockFunctions
from xtile.translate.xegpu_to_spirv.xegpu.block_surfaces import row_pointer
from xtile.translate.xegpu_to_spirv.xegpu.inline_visa import InlineVisa


class BlockInstructions(Protocol):
    """A spelling of the instructions on two-dimensional blocks."""

    def load(
        self, lowering: Lowering, access: BlockAccess, action: Action, word: Attribute, count: int
    ) -> list[SSAValue]:
        """What a lane gets: so many words, as vectors of legal lengths."""
        ...

    def store(self, lowering: Lowering, access: BlockAccess, pieces: Sequence[SSAValue]) -> None:
        """Stores what a lane has: words, as vectors of legal lengths."""
        ...

    def prefetch(self, lowering: Lowering, access: BlockAccess) -> None:
        """Brings a block into the caches."""
        ...


_MEANS: Mapping[Means, BlockInstructions] = {
    Means.EXTENSION: BlockFunctions(are_instructions=True),
    Means.FUNCTION: BlockFunctions(are_instructions=False),
    Means.VISA: InlineVisa(),
}


def _instructions(lowering: Lowering) -> BlockInstructions:
    means = lowering.target.spelling.blocks
    assert means is not None
    return _MEANS[means]


def _word(access: BlockAccess, action: Action) -> Attribute:
    """What a lane has of a row of a block, or of the rows that are packed: 16 or 32 bits.

    Where that is one element, it is the element: a cast is no instruction of the GPU, but what
    drivers put together element by element moves through more registers than one that is whole.
    """
    word = i16 if access.bits <= i16.bitwidth and action is not Action.LOAD_TRANSFORMED else i32
    element = register_type(access.type.element_type)
    return element if bit_width(element) == word.bitwidth else word


def _access(
    operation: LoadNdOp | StoreNdOp | PrefetchNdOp,
    lowering: Lowering,
    *,
    is_packed: bool = False,
    is_transposed: bool = False,
) -> BlockAccess:
    descriptor = lowering.meaning(operation.TensorDesc)
    assert isinstance(descriptor, BlockDescriptor)
    offsets = numbers_of(lowering, operation.mixed_offsets)
    lanes = lowering.kernel.lanes_together
    return BlockAccess(descriptor.moved(lowering, offsets), lanes, is_packed, is_transposed)


def _load_action(access: BlockAccess) -> Action | None:
    """The action of a load; None if no instruction does it."""
    if access.is_packed and access.is_transposed:
        return None
    if access.is_transposed:
        return Action.LOAD_TRANSPOSED
    return Action.LOAD_TRANSFORMED if access.is_packed else Action.LOAD


def _misfit(lowering: Lowering, access: BlockAccess, action: Action | None) -> str | None:
    """Why there is no instruction for an access; None if there is one.

    What is known at run time only is taken to be legal.
    """
    target, type_ = lowering.target, access.type
    if target.spelling.blocks is None:
        return f"the spelling '{target.spelling.name}' has no accesses of blocks"
    limits = blocks.access_for(
        target, access.lanes, is_global=type_.memory_space is MemorySpace.GLOBAL
    )
    if isinstance(limits, str):
        return limits
    if type_.rank != 2:
        return "it needs a block with two dimensions"
    if action is None:
        return "there is no load that transposes and packs"
    (rows, columns), size = access.shape, access.bits // 8
    width, (pitch, inner) = access.descriptor.sizes[1], access.descriptor.strides
    if isinstance(inner, int) and inner != 1:
        return "the elements of a row are not next to each other"
    region = Region(
        pitch=Bytes.of(pitch * size) if isinstance(pitch, int) else None,
        width=Bytes.of(width * size) if isinstance(width, int) else None,
    )
    problem = blocks.shape_obstacle(limits, action, size, rows, columns, type_.array_length)
    return next(filter(None, (problem, *blocks.region_obstacles(limits, region))), None)


def is_row(lowering: Lowering, access: BlockAccess, action: Action) -> bool:
    """Whether one instruction does an access of a block of one dimension.

    Source: SPIR-V extension SPV_INTEL_subgroups, `OpSubgroupBlockReadINTEL` and
    `OpSubgroupBlockWriteINTEL`; MLIR (LLVM 22), `Conversion/XeGPUToXeVM`.
    """
    if access.type.rank != 1 or access.type.array_length != 1:
        return False
    (step,) = access.descriptor.strides
    known = step if isinstance(step, int) else None
    target, (_, columns) = lowering.target, access.shape
    return blocks.row_obstacle(target, action, access.lanes, columns, known) is None


def load_row(lowering: Lowering, access: BlockAccess) -> SSAValue:
    """A lane's elements."""
    word = IntegerType(access.bits)
    type_ = of_length(word, access.entries)
    pointer = bitcast_pointer(lowering, row_pointer(lowering, access), word)
    loaded = lowering.compute("SubgroupBlockReadINTEL", type_, pointer)
    element = register_type(access.type.element_type)
    return as_bits_of(lowering, loaded, of_length(element, access.entries))


def store_row(lowering: Lowering, access: BlockAccess, value: SSAValue) -> None:
    """Stores a lane's elements."""
    word = IntegerType(access.bits)
    pointer = bitcast_pointer(lowering, row_pointer(lowering, access), word)
    stored = as_bits_of(lowering, value, of_length(word, access.entries))
    lowering.do("SubgroupBlockWriteINTEL", pointer, stored)


def _load_nd(operation: LoadNdOp, lowering: Lowering) -> None:
    _check_part(lowering, operation, operation.value.type)
    is_matrix = tensor_desc(operation.TensorDesc).rank > 1
    access = _access(
        operation,
        lowering,
        is_packed=operation.packed is not None and is_matrix,
        is_transposed=operation.permutation == (1, 0),
    )
    if is_row(lowering, access, Action.LOAD):
        lowering.define_pieces(operation.value, [load_row(lowering, access)])
        return
    action = _load_action(access)
    reason = _misfit(lowering, access, action)
    if reason is not None or action is None:
        _tell(lowering, "loads", reason)
        entries = [(value, 0) for value in plain_blocks.load(lowering, access)]
        define_entries(lowering, operation.value, entries)
        return
    word = _word(access, action)
    count = access.entries * access.type.array_length * access.bits // bit_width(word)
    words = _instructions(lowering).load(lowering, access, action, word, count)
    elements = as_words(lowering, words, register_type(access.type.element_type))
    lowering.define_pieces(operation.value, elements)


def _store_nd(operation: StoreNdOp, lowering: Lowering) -> None:
    _check_part(lowering, operation, operation.value.type)
    access = _access(operation, lowering)
    pieces = lowering.pieces(operation.value)
    if is_row(lowering, access, Action.STORE):
        store_row(lowering, access, pieces[0])
        return
    reason = _misfit(lowering, access, Action.STORE)
    if reason is not None:
        _tell(lowering, "stores", reason)
        values = [element(lowering, entry) for entry in entries_of(pieces)]
        plain_blocks.store(lowering, access, values)
        return
    words = as_words(lowering, pieces, _word(access, Action.STORE))
    _instructions(lowering).store(lowering, access, words)


def _prefetch_nd(operation: PrefetchNdOp, lowering: Lowering) -> None:
    access = _access(operation, lowering)
    reason = _misfit(lowering, access, Action.PREFETCH)
    if reason is not None:
        lowering.remark(f"prefetches nothing: {reason}")
        return
    _instructions(lowering).prefetch(lowering, access)


def _tell(lowering: Lowering, verb: str, reason: str | None) -> None:
    lowering.remark(f"{verb} element by element: {reason}")


def _check_part(lowering: Lowering, operation: LoadNdOp | StoreNdOp, type_: Attribute) -> None:
    """Checks that a vector is what one lane has of a block.

    Raises:
        DiagnosticError: It is not.
    """
    descriptor = tensor_desc(operation.TensorDesc)
    lanes = lowering.kernel.lanes_together
    block = shape_text(descriptor.get_shape())
    if not operation.is_for_lane:
        raise lowering.error(
            f"{shape_text(shape_of(type_))} is the block of a subgroup; only code of one lane can "
            f"be translated to SPIR-V, whose part of a block of {block} is a vector of one "
            "dimension"
        )
    if descriptor.number_of_elements % lanes:
        raise lowering.error(f"a block of {block} cannot be dealt to a subgroup of {lanes} lanes")
    count = descriptor.number_of_elements // lanes
    count *= descriptor.array_length if isinstance(operation, LoadNdOp) else 1
    if shape_of(type_) != (count,):
        raise lowering.error(
            f"a lane's vector has {shape_text(shape_of(type_))} elements, but in a subgroup of "
            f"{lanes} lanes a lane has {count} of a block of {block}"
        )


RULES: dict[str, Rule] = {
    LoadNdOp.name: _load_nd,
    PrefetchNdOp.name: _prefetch_nd,
    StoreNdOp.name: _store_nd,
}
"""The rule of each operation, by name."""
