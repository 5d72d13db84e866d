"""Blocks of memory that a work-group loads and stores as a whole, and which accesses are some.

A block is a matrix with contiguous rows, or elements that follow each other. What no instruction of
the chip can do is an access of points instead, and a remark says why (`docs/intel-gpus.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from xtile.dialects.xegpu.attributes import BlockTensorDescAttr
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.convert_layout import ConvertLayoutOp
from xtile.dialects.xegpu.ops.descriptors import CreateNdDescOp
from xtile.dialects.xegpu.types import TensorDescType
from xtile.rewrite.indices import Index
from xtile.rewrite.transfers import Extent
from xtile.targets.blocks import Action, Bytes, Region, region_obstacles, shapes_of
from xtile.translate.tiles_to_xegpu.lowering import Lowering, Memory, bytes_of, storage_type
from xtile.translate.tiles_to_xegpu.memory import is_in_local_memory, moved_address, type_of

_ROW_LIMIT = 16
"""Elements that a row of memory has at least for each subgroup: one for each lane."""


@dataclass(frozen=True)
class Box(Extent):
    """A box of memory.

    Attributes:
        memory: The memory.
    """

    memory: Memory


@dataclass(frozen=True)
class Block:
    """A box as a block of a matrix in memory, or of a line.

    Attributes:
        memory: The memory, in which the block's dimensions are the last ones.
        offsets: Where the block begins in the region, along each of the block's dimensions.
        extents: The region's sizes.
        strides: The region's strides.
        outer: Elements from the memory's base to the region's first one.
        order: For each dimension of the block that of the box.
        is_checked: Whether what lies outside of the region is left out.
    """

    memory: Memory
    offsets: tuple[Index, ...]
    extents: tuple[Index, ...]
    strides: tuple[Index, ...]
    outer: Index
    order: tuple[int, ...]
    is_checked: bool


def block_of(lowering: Lowering, box: Box, action: Action) -> Block | str:
    """A box as a block, or why it is none."""
    memory = box.memory
    if not memory.is_at_address and is_in_local_memory(type_of(memory.base)):
        return "blocks are of global memory"
    wide = [i for i, size in enumerate(box.shape) if size > 1] or [len(box.shape) - 1]
    wide = _two_dimensions(box, wide)
    if not all(box.inside[i] for i in range(len(box.shape)) if i not in wide):
        return "a dimension of one element may lie outside of memory"
    if len(wide) > 2:
        return "blocks have one or two dimensions"
    strides = [memory.strides[box.axes[i]] for i in wide]
    contiguous = next((i for i in reversed(range(len(wide))) if strides[i] == 1), None)
    if contiguous is None:
        return "no dimension of the memory is known to be contiguous"
    order = tuple([wide[i] for i in range(len(wide)) if i != contiguous] + [wide[contiguous]])
    block = _block(lowering, box, order)
    return _obstacle(lowering, box, block, action) or block


def _two_dimensions(box: Box, wide: list[int]) -> list[int]:
    """The dimensions of a box that are the block's: also one of size 1 beside one that is checked.

    A line is never checked, but a matrix of one row is.
    """
    if len(wide) == 1 and len(box.shape) > 1:
        others = [i for i in range(len(box.shape)) if i not in wide]
        return sorted([others[-1], *wide])
    return wide


def _block(lowering: Lowering, box: Box, order: tuple[int, ...]) -> Block:
    memory = box.memory
    axes = [box.axes[i] for i in order]
    is_checked = not all(box.inside[i] for i in order) or (
        len(order) == 2 and all(_is_known_inside(box, i) for i in order)
    )
    outer = memory.outer
    for dimension, (start, first) in enumerate(zip(box.starts, memory.starts, strict=True)):
        if dimension not in axes:
            at = lowering.add(start, first)
            outer = lowering.add(outer, lowering.multiply(at, memory.strides[dimension]))
    offsets: list[Index] = []
    extents: list[Index] = []
    for i, axis in zip(order, axes, strict=True):
        start, first, size = box.starts[axis], memory.starts[axis], memory.sizes[axis]
        if first != 0 and not box.inside[i] and not lowering.facts.is_not_negative(start):
            # Elements before a view are elements of what it is a part of.
            outer = lowering.add(outer, lowering.multiply(first, memory.strides[axis]))
            first = 0
        at = lowering.add(first, start)
        offsets.append(at)
        is_whole = not box.inside[i] or not is_checked or _is_known_inside(box, i)
        is_known = axis not in memory.unbounded and is_whole
        extents.append(lowering.add(first, size) if is_known else lowering.add(at, box.shape[i]))
    strides = tuple(memory.strides[axis] for axis in axes)
    return Block(memory, tuple(offsets), tuple(extents), strides, outer, order, is_checked)


def _is_known_inside(box: Box, i: int) -> bool:
    """Whether a check along a dimension changes nothing."""
    start, size = box.starts[box.axes[i]], box.memory.sizes[box.axes[i]]
    if not isinstance(start, int) or not isinstance(size, int):
        return False
    return 0 <= start <= size - box.shape[i]


def _obstacle(lowering: Lowering, box: Box, block: Block, action: Action) -> str | None:
    """Why no instruction accesses a block; None if one does."""
    access, size = lowering.target.block_access, bytes_of(box.memory.element)
    shape = tuple(box.shape[i] for i in block.order)
    held = lowering.held(shape)
    if len(shape) == 1:
        if block.is_checked:
            return "elements that follow each other are not checked one by one"
        if held[0] % _ROW_LIMIT:
            return f"a subgroup has {held[0]} elements, no multiple of its lanes"
        return None
    if access is None:
        return f"{lowering.target.name} has no two-dimensional block accesses"
    shapes = shapes_of(access, action).get(size)
    if shapes is None:
        return f"there is no {action.value} of elements of {size * 8} bits"
    # LLVM gives each lane a column.
    width = max(shapes.widths)
    if held[1] % width:
        return f"a subgroup has {held[1]} columns, no multiple of {width}"
    if not any(held[0] % height == 0 for height in shapes.heights):
        return f"a subgroup has {held[0]} rows"
    region = Region(
        pitch=_bytes(block.strides[0], size),
        width=_bytes(block.extents[1], size) if block.is_checked else None,
        column=_bytes(block.offsets[1], size),
        height=block.extents[0] if isinstance(block.extents[0], int) else None,
    )
    return next(iter(region_obstacles(access, region)), None)


def _bytes(number: Index, size: int) -> Bytes | None:
    """A number of elements in bytes; None if it is known at run time only."""
    return Bytes.of(number * size) if isinstance(number, int) else None


# --- descriptors ---


def load_block(lowering: Lowering, block: Block, shape: Sequence[int]) -> SSAValue:
    """The elements of a block, 0 in place of those outside of its region."""
    layout, own = lowering.layout_of(shape), lowering.layout_of_block(shape)
    described = descriptor_of(lowering, block, shape)
    loaded = lowering.emit(LoadNdOp(described, block.offsets, layout=own)).value
    if own is None or layout is None or own == layout:
        return loaded
    return lowering.emit(ConvertLayoutOp(loaded, own, layout)).result


def store_block(lowering: Lowering, value: SSAValue, block: Block, shape: Sequence[int]) -> None:
    """Writes those elements of a block that its region has."""
    layout = lowering.layout_of_block(shape)
    described = descriptor_of(lowering, block, shape)
    lowering.emit(StoreNdOp(value, described, block.offsets, layout=layout))


def descriptor_of(lowering: Lowering, block: Block, shape: Sequence[int]) -> SSAValue:
    """The descriptor of a block, made once where its region is known."""
    element, layout = storage_type(block.memory.element), lowering.layout_of_block(shape)
    encoding = BlockTensorDescAttr(boundary_check=block.is_checked)
    type_ = TensorDescType(shape, element, encoding, layout)
    numbers = [*block.extents, *block.strides, block.outer]
    operands = [block.memory.base, *(n for n in numbers if isinstance(n, SSAValue))]

    def emit() -> SSAValue:
        if _is_whole(block, element):
            operation = CreateNdDescOp(block.memory.base, result_type=type_)
        else:
            base = _base(lowering, block, element)
            operation = CreateNdDescOp(base, None, block.extents, block.strides, result_type=type_)
        return lowering.emit(operation).TensorDesc

    key = ("block", block.memory.base, *block.extents, *block.strides, block.outer, type_)
    return lowering.shared(key, operands, emit)


def _base(lowering: Lowering, block: Block, element: object) -> SSAValue:
    """The memref whose region a block is in, or the region's address."""
    memory = block.memory
    if not memory.is_at_address and block.outer == 0:
        type_ = type_of(memory.base)
        if type_.element_type == element:
            return memory.base
    return moved_address(lowering, memory, block.outer)


def _is_whole(block: Block, element: object) -> bool:
    """Whether the type of a memref tells all that the descriptor needs."""
    if block.memory.is_at_address or block.outer != 0:
        return False
    type_ = type_of(block.memory.base)
    shape, strides = type_.get_shape(), type_.get_strides()
    return (
        type_.element_type == element
        and DYNAMIC_INDEX not in shape
        and tuple(block.extents) == tuple(shape)
        and strides is not None
        and tuple(block.strides) == tuple(strides)
    )
