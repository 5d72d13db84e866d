"""Reads and writes of boxes of memory: blocks where the chip has them, else points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, VectorType, i1
from xdsl.ir import Operation, SSAValue

from xtile.dialects.ub import is_poison
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.rewrite.transfers import extent_of, order_of_mask, shape_before_repeating
from xtile.targets.blocks import Action
from xtile.translate.tiles_to_xegpu import points
from xtile.translate.tiles_to_xegpu.blocks import (
    Block,
    Box,
    block_of,
    load_block,
    store_block,
)
from xtile.translate.tiles_to_xegpu.lowering import Lowering
from xtile.translate.tiles_to_xegpu.memory import line_of, position_of


def box_of(operation: TransferReadOp | TransferWriteOp, value: SSAValue, lowering: Lowering) -> Box:
    """The box of memory that a transfer moves."""
    memory = lowering.memory(operation.source)
    starts = lowering.numbers(operation.indices)
    extent = extent_of(operation, shape_of(value.type), starts, memory.sizes)
    return Box(extent.starts, extent.shape, extent.axes, extent.inside, memory)


def _mask(operation: TransferReadOp | TransferWriteOp, lowering: Lowering) -> SSAValue | None:
    """The mask in the order of the box's dimensions."""
    if operation.mask is None:
        return None
    return lowering.transposed(lowering.value(operation.mask), order_of_mask(operation))


# --- reads ---


def _read(operation: TransferReadOp, lowering: Lowering) -> None:
    box, mask = box_of(operation, operation.result, lowering), _mask(operation, lowering)
    is_seen = mask is not None or not all(box.inside)
    other = None
    if is_seen and not is_poison(operation.padding):
        other = lowering.value(operation.padding)
    value = _read_block(operation, lowering, box, other) if mask is None else None
    if value is None:
        access = _points(lowering, box, mask)
        value = points.load(lowering, access, other)
    lowering.define(operation.result, _repeated(operation, value, lowering))


def _read_block(
    operation: TransferReadOp, lowering: Lowering, box: Box, padding: SSAValue | None
) -> SSAValue | None:
    """What a box holds, if it is a block."""
    block = block_of(lowering, box, Action.LOAD)
    if isinstance(block, str):
        lowering.remark(f"loads elements one by one: {block}")
        return None
    shape = [box.shape[i] for i in block.order]
    loaded = load_block(lowering, block, shape)
    value = lowering.from_memory(loaded, lowering.type_of(box.memory.element))
    value = _in_order(lowering, value, box, block)
    if padding is None or not block.is_checked:
        return value
    if points.is_zero(padding):
        return value
    inside = is_inside(lowering, box)
    return value if inside is None else points.padded(lowering, value, inside, padding)


def _in_order(lowering: Lowering, value: SSAValue, box: Box, block: Block) -> SSAValue:
    """A block's elements in the order of the box's dimensions, with those of size 1."""
    ranks = sorted(block.order)
    turned = lowering.transposed(value, [block.order.index(i) for i in ranks])
    return lowering.reshape(turned, box.shape)


def _repeated(operation: TransferReadOp, loaded: SSAValue, lowering: Lowering) -> SSAValue:
    """The box in the shape of the result, repeated along what is no dimension of memory."""
    once = lowering.reshape(loaded, shape_before_repeating(operation))
    return lowering.spread(once, shape_of(operation.result.type))


# --- writes ---


def _write(operation: TransferWriteOp, lowering: Lowering) -> None:
    box, mask = box_of(operation, operation.vector, lowering), _mask(operation, lowering)
    value = lowering.value(operation.vector)
    layout = lowering.spread_of(value)
    if layout is None:
        _write_box(lowering, value, box, mask)
        return
    with lowering.laid_out(box.shape, layout):
        _write_box(lowering, value, box, mask)


def _write_box(lowering: Lowering, value: SSAValue, box: Box, mask: SSAValue | None) -> None:
    block = "it has a mask" if mask else block_of(lowering, box, Action.STORE)
    if isinstance(block, str):
        lowering.remark(f"stores elements one by one: {block}")
        points.store(lowering, value, _points(lowering, box, mask))
        return
    ranks = sorted(block.order)
    stored = lowering.reshape(lowering.to_memory(value), [box.shape[i] for i in ranks])
    turned = lowering.transposed(stored, [ranks.index(i) for i in block.order])
    store_block(lowering, turned, block, [box.shape[i] for i in block.order])


# --- points ---


def _points(lowering: Lowering, box: Box, mask: SSAValue | None) -> points.Access:
    """The elements of a box one by one, without those outside of memory."""
    memory, shape = box.memory, box.shape
    first = lowering.as_value(position_of(lowering, memory, box.starts))
    offsets = lowering.spread(first, shape)

    def steps(size: int, axis: int) -> SSAValue:
        return points.scaled(lowering, lowering.step(size), memory.strides[axis])

    for i, axis in enumerate(box.axes):
        if shape[i] > 1:
            along = lowering.line(shape, i, lambda i=i, axis=axis: steps(shape[i], axis))
            offsets = lowering.emit(arith.AddiOp(offsets, along)).result
    inside = is_inside(lowering, box)
    if mask is not None:
        inside = lowering.both(inside, mask)
    if inside is None:
        inside = lowering.constant(1, VectorType(i1, shape))
    return points.Access(line_of(lowering, memory), offsets, inside, memory.element)


def is_inside(lowering: Lowering, box: Box) -> SSAValue | None:
    """Which elements of a box memory has; None if it has all."""
    mask: SSAValue | None = None
    for i, (axis, inside) in enumerate(zip(box.axes, box.inside, strict=True)):
        if inside:
            continue
        ends = (box.starts[axis], box.shape[i], box.memory.sizes[axis])
        along = lowering.line(box.shape, i, lambda ends=ends: _is_inside_along(lowering, *ends))
        mask = lowering.both(mask, along)
    return mask


def _is_inside_along(lowering: Lowering, start: Index, length: int, size: Index) -> SSAValue:
    """Which of the indices from `start` on are from 0 to a size."""
    indices = lowering.step(length)
    if start != 0:
        first = lowering.spread(lowering.as_value(start), [length])
        indices = lowering.emit(arith.AddiOp(indices, first)).result
    limit = lowering.spread(lowering.as_value(size), [length])
    below = lowering.compare("slt", indices, limit)
    if lowering.facts.is_not_negative(start):
        return below
    zero = lowering.constant(0, VectorType(IndexType(), [length]))
    from_0 = lowering.compare("sge", indices, zero)
    return lowering.emit(arith.AndIOp(from_0, below)).result


# --- whole vectors ---


def _whole(
    lowering: Lowering, memory: SSAValue, indices: Sequence[SSAValue], value: SSAValue
) -> Box:
    """The elements from an index on, along the last dimensions, all of which memory has."""
    shape, described = shape_of(value.type), lowering.memory(memory)
    axes = tuple(range(described.rank - len(shape), described.rank))
    return Box(tuple(lowering.numbers(indices)), shape, axes, (True,) * len(shape), described)


def _load(operation: Operation, lowering: Lowering) -> None:
    source, *indices = operation.operands
    (result,) = operation.results
    access = _points(lowering, _whole(lowering, source, indices, result), None)
    lowering.define(result, points.load(lowering, access))


def _store(operation: Operation, lowering: Lowering) -> None:
    value, target, *indices = operation.operands
    _write_box(lowering, lowering.value(value), _whole(lowering, target, indices, value), None)


def box_access(
    lowering: Lowering,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    value: SSAValue,
    checked: Sequence[bool],
) -> points.Access:
    """The elements from an index on, one by one, as far as memory has them where it is checked."""
    box = _whole(lowering, memory, indices, value)
    inside = tuple(not each for each in checked)
    return _points(lowering, replace(box, inside=inside), None)


RULES: dict[str, Rule] = {
    "vector.load": _load,
    "vector.store": _store,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation, by name."""
