"""Transfers: blocks and points as for work-groups, matrices in local memory, and prefetches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from xtile.dialects.core.subgroup import PrefetchOp
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.dialects.xegpu.attributes import MemLayoutAttr
from xtile.dialects.xegpu.ops.block import prefetch_into
from xtile.dialects.xegpu.ops.matrix import CreateMemDescOp, LoadMatrixOp, StoreMatrixOp
from xtile.dialects.xegpu.types import MemDescType
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.blocks import Action
from xtile.translate.tiles_to_xegpu.blocks import Block, Box, block_of, descriptor_of
from xtile.translate.tiles_to_xegpu.lowering import Lowering, Memory, storage_type
from xtile.translate.tiles_to_xegpu.memory import is_in_local_memory, type_of
from xtile.translate.tiles_to_xegpu.transfers import RULES as OF_TILES
from xtile.translate.tiles_to_xegpu.transfers import box_of

# --- local memory ---


@dataclass(frozen=True)
class _Matrix:
    """A part of a matrix in local memory.

    Attributes:
        base: The local memory, of which the matrix is the whole.
        type: The matrix.
        offsets: Where the part begins.
        shape: The shape of the part: two dimensions, or a line along the one with stride 1.
    """

    base: SSAValue
    type: MemDescType
    offsets: tuple[Index, ...]
    shape: tuple[int, ...]


def _matrix_of(
    lowering: Lowering, operation: TransferReadOp | TransferWriteOp, value: SSAValue
) -> _Matrix | None:
    """What a transfer moves as a part of a matrix in local memory; None if it is none."""
    if operation.mask is not None:
        return None
    box = box_of(operation, value, lowering)
    memory = box.memory
    is_moved_once = box.shape == shape_of(value.type)
    if not is_moved_once or not all(box.inside) or not _is_in_local_memory(memory):
        return None
    if memory.rank == 1:
        return _line(lowering, memory, box)
    return _part(lowering, memory, box) if memory.rank == 2 else None


def _is_in_local_memory(memory: Memory) -> bool:
    return not memory.is_at_address and is_in_local_memory(type_of(memory.base))


def _line(lowering: Lowering, memory: Memory, box: Box) -> _Matrix | None:
    """A part of a line, as that of a matrix with one row."""
    if memory.strides != (1,):
        return None
    type_ = MemDescType([1, _elements(memory)], storage_type(memory.element))
    first = lowering.add_all([memory.outer, memory.starts[0], box.starts[0]])
    return _Matrix(memory.base, type_, (0, first), box.shape)


def _part(lowering: Lowering, memory: Memory, box: Box) -> _Matrix | None:
    """A part of a matrix whose rows, or columns, fill the memory."""
    if 1 not in memory.strides or not isinstance(memory.outer, int):
        return None
    inner = 1 if memory.strides[1] == 1 else 0
    pitch, count = memory.strides[1 - inner], _elements(memory)
    if not isinstance(pitch, int) or pitch == 0 or count % pitch:
        return None
    if box.axes != ((inner,) if len(box.shape) == 1 else (0, 1)):
        return None
    lines, within = divmod(memory.outer, pitch)
    before = (within, lines) if inner == 0 else (lines, within)
    sizes = (pitch, count // pitch) if inner == 0 else (count // pitch, pitch)
    if len(box.shape) == 2 and any(a > b for a, b in zip(box.shape, sizes, strict=True)):
        return None
    layout = None if inner == 1 else MemLayoutAttr(stride=[1, pitch])
    offsets = [
        lowering.add_all(each) for each in zip(before, memory.starts, box.starts, strict=True)
    ]
    type_ = MemDescType(sizes, storage_type(memory.element), layout)
    return _Matrix(memory.base, type_, tuple(offsets), box.shape)


def _elements(memory: Memory) -> int:
    return prod(type_of(memory.base).get_shape())


def _described(lowering: Lowering, matrix: _Matrix) -> SSAValue:
    return lowering.shared(
        ("matrix", matrix.base, matrix.type),
        (matrix.base,),
        lambda: lowering.emit(CreateMemDescOp(matrix.base, matrix.type)).mem_desc,
    )


def _read(operation: TransferReadOp, lowering: Lowering) -> None:
    matrix = _matrix_of(lowering, operation, operation.result)
    if matrix is None:
        OF_TILES[operation.name](operation, lowering)
        return
    type_ = VectorType(matrix.type.element_type, matrix.shape)
    described = _described(lowering, matrix)
    loaded = lowering.emit(LoadMatrixOp(described, matrix.offsets, type_)).res
    element = lowering.type_of(operation.result.type.element_type)
    lowering.define(operation.result, lowering.from_memory(loaded, element))


def _write(operation: TransferWriteOp, lowering: Lowering) -> None:
    matrix = _matrix_of(lowering, operation, operation.vector)
    if matrix is None:
        OF_TILES[operation.name](operation, lowering)
        return
    stored = lowering.to_memory(lowering.value(operation.vector))
    lowering.emit(StoreMatrixOp(stored, _described(lowering, matrix), matrix.offsets))


# --- prefetches ---


def _prefetch(operation: PrefetchOp, lowering: Lowering) -> None:
    """A prefetch of a block, or nothing where the chip has none of this shape."""
    memory = lowering.memory(operation.memory)
    shape: Sequence[int] = operation.block.get_values()
    starts = tuple(lowering.numbers(operation.indices))
    box = Box(starts, tuple(shape), (0, 1), (True, True), memory)
    block = block_of(lowering, box, Action.PREFETCH)
    if not isinstance(block, Block):
        return
    sizes = [box.shape[i] for i in block.order]
    described = descriptor_of(lowering, block, sizes)
    lowering.emit(prefetch_into(described, block.offsets, operation.level.value.data))


RULES: dict[str, Rule] = {
    **OF_TILES,
    PrefetchOp.name: _prefetch,
    TransferReadOp.name: _read,
    TransferWriteOp.name: _write,
}
"""The rule of each operation, by name."""
