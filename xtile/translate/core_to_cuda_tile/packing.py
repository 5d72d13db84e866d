"""Elements in bytes, which CUDA Tile IR packs in rows only.

Source: CUDA Tile IR specification, "pack", "unpack".
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import i8
from xdsl.ir import SSAValue

from xtile.dialects.core.packing import PackOp, UnpackOp
from xtile.dialects.cuda_tile.ops import conversions, packing
from xtile.dialects.cuda_tile.types import element_bits
from xtile.dialects.vector.shapes import BitCastOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_of, element_type, tile_type
from xtile.translate.tiles.types import shape_of


def _in_row(lowering: Lowering, value: SSAValue, axis: int) -> SSAValue:
    """The elements of a tile as a row, in which those along a dimension follow each other."""
    shape = tile_type(value).get_shape()
    order = [*(i for i in range(len(shape)) if i != axis), axis]
    return lowering.reshape(lowering.permute(value, order), [math.prod(shape)])


def _from_row(lowering: Lowering, row: SSAValue, shape: tuple[int, ...], axis: int) -> SSAValue:
    """A tile of a shape, from the row that `_in_row` makes of it."""
    others = [i for i in range(len(shape)) if i != axis]
    tile = lowering.reshape(row, [*(shape[i] for i in others), shape[axis]])
    order = [len(others) if i == axis else others.index(i) for i in range(len(shape))]
    return lowering.permute(tile, order)


def _pack(operation: PackOp, lowering: Lowering) -> None:
    axis = operation.axis.value.data
    row = _in_row(lowering, lowering.value(operation.source), axis)
    packed = lowering.compute(packing.PackOp, row)
    shape = shape_of(operation.result.type)
    lowering.define(operation.result, _from_row(lowering, packed, shape, axis))


def _unpack(operation: UnpackOp, lowering: Lowering) -> None:
    axis = operation.axis.value.data
    row = _in_row(lowering, lowering.value(operation.source), axis)
    elements = lowering.compute(packing.UnpackOp, row, element_of(operation.result.type))
    shape = shape_of(operation.result.type)
    lowering.define(operation.result, _from_row(lowering, elements, shape, axis))


def _bitcast(operation: BitCastOp, lowering: Lowering) -> None:
    """The bits of rows as other elements: those of a row that has them all, by way of bytes."""
    value, made = lowering.value(operation.source), operation.result
    shape, element = shape_of(made.type), element_of(made.type)
    if element_bits(element) == element_bits(element_type(value)):
        target = tile_type(value).with_element_type(element)
        lowering.define(made, lowering.compute(conversions.BitcastOp, value, target))
        return
    row = lowering.reshape(value, [math.prod(tile_type(value).get_shape())])
    if element_type(row) != i8:
        row = lowering.compute(packing.PackOp, row)
    if element != i8:
        row = lowering.compute(packing.UnpackOp, row, element)
    lowering.define(made, lowering.reshape(row, shape))


RULES: dict[str, Rule] = {
    "core.pack": _pack,
    "core.unpack": _unpack,
    "vector.bitcast": _bitcast,
}
"""The rule of each operation, by name."""
