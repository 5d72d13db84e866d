"""Where in a block each element of a loaded or stored vector stands, and which a lane holds.

A matrix is cut into units of elements that follow each other: those that fill 32 bits in a packed
one, and in any other as many as a row of the left matrix of `dpas` has for each lane. The units are
dealt to the lanes in turn, row by row.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `load_nd` and `store_nd`; RFC, `load_nd`
(`vnni_axis`, `transpose_bit_width`) and "sg_map"; `Conversion/XeGPUToXeVM` and
`Dialect/LLVMIR/XeVMOps.td`; OpenCL, `cl_intel_subgroup_2d_block_io` and
`cl_intel_subgroup_matrix_multiply_accumulate`.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import StringAttr

from xtile.dialects.xegpu.layout import LayoutAttr
from xtile.dialects.xegpu.operation import element_type, shape_of, shape_text
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.rfc.names import MODE, TRANSPOSE_BIT_WIDTH, VNNI_AXIS
from xtile.dialects.xegpu.types import TensorDescType, bit_width
from xtile.semantics.values import Array

Coordinates = list[Array]
"""For each dimension of a block an array, with the blocks that one load fetches along axis 0."""

BlockAccess = LoadNdOp | StoreNdOp

SYSTOLIC_DEPTH = 8
"""The registers of 32 bits that a row of the left matrix of `dpas` fills."""

REGISTER_BITS = 32


def coordinates(operation: BlockAccess, descriptor: TensorDescType, lanes: int) -> Coordinates:
    """Where each element of an access stands, counted from the first element of the block.

    Returns:
        Arrays with the shape (1, 1, *shape of the vector) or, where the vector is a lane's part,
        (1, lanes, *shape of the vector).

    Raises:
        ValueError: The vector is no lane's part of the block.
    """
    shape = shape_of(operation.value.type)
    layout = descriptor.layout_or_none
    if operation.attributes.get(MODE) == StringAttr("simt") and layout is not None:
        fragments = [
            _arranged(operation, fragment_coordinates(layout, descriptor, lane), shape[-1])
            for lane in range(lanes)
        ]
        axes = zip(*fragments, strict=True)
        return [np.stack(numbers).reshape(1, lanes, *shape) for numbers in axes]
    if operation.is_for_lane:
        return _lane_parts(operation, descriptor, lanes)
    whole = _arranged(operation, _blocks(descriptor), shape[-1])
    return [numbers.reshape(1, 1, *shape) for numbers in whole]


def _blocks(descriptor: TensorDescType) -> Coordinates:
    """The coordinates of all elements, of blocks that follow each other horizontally."""
    blocks, *block = np.indices((descriptor.array_length, *descriptor.get_shape()))
    block[-1] = block[-1] + blocks * descriptor.get_shape()[-1]
    return block


def fragment_coordinates(layout: LayoutAttr, descriptor: TensorDescType, lane: int) -> Coordinates:
    """The coordinates of the elements that a layout gives a lane."""
    shape, counts = descriptor.get_shape(), layout.unit_layout
    own = tuple(size // count for size, count in zip(shape, counts, strict=True))
    blocks, *fragment = np.indices((descriptor.array_length, *own))
    data, position = layout.block_shape(shape), layout.delinearize_id(lane)
    block = [
        (index // part * count + at) * part + index % part
        for index, part, count, at in zip(fragment, data, counts, position, strict=True)
    ]
    block[-1] = block[-1] + blocks * shape[-1]
    return block


def _arranged(operation: BlockAccess, block: Coordinates, pack: int) -> Coordinates:
    """The coordinates in the order in which an access moves the elements.

    Args:
        operation: The access.
        block: The coordinates in the order of the block.
        pack: How many elements stand next to each other where they are packed.
    """
    if not isinstance(operation, LoadNdOp):
        return block
    if TRANSPOSE_BIT_WIDTH in operation.attributes:
        pack = elements_of_a_register(_bits(operation))
        return [_split(numbers, pack).swapaxes(1, 2) for numbers in block]
    if VNNI_AXIS in operation.attributes:
        return [_split(numbers, pack) for numbers in block]
    order = operation.permutation
    if order is not None:
        axes = (0, *(1 + dimension for dimension in order))
        block = [numbers.transpose(axes) for numbers in block]
    if not _is_packed(operation, block):
        return block
    return [_split(numbers.swapaxes(1, 2), pack).swapaxes(1, 2) for numbers in block]


def _split(numbers: Array, pack: int) -> Array:
    """The last axis as groups of so many elements.

    Raises:
        ValueError: It is no multiple of them.
    """
    size = numbers.shape[-1]
    if size % pack:
        raise ValueError(f"{size} elements are no multiple of a pack of {pack}")
    return numbers.reshape(*numbers.shape[:-1], size // pack, pack)


def _is_packed(operation: BlockAccess, block: Coordinates) -> bool:
    """Whether elements of several rows stand next to each other."""
    # Upstream ignores `packed` on a block of one dimension.
    return isinstance(operation, LoadNdOp) and operation.packed is not None and len(block) == 2


def _bits(operation: BlockAccess) -> int:
    return bit_width(element_type(operation.value.type))


def _lane_parts(operation: BlockAccess, descriptor: TensorDescType, lanes: int) -> Coordinates:
    """The coordinates of the parts with one dimension: one block after the other."""
    bits = _bits(operation)
    blocks = _blocks(descriptor)
    pack = elements_of_a_register(bits)
    arranged = _arranged(operation, blocks, pack)
    if _is_packed(operation, blocks):
        neighbours = pack
    else:
        neighbours = unit(arranged[0].shape[-1], bits, lanes) if len(blocks) > 1 else 1
    _check_part(operation, descriptor, neighbours, lanes)
    return [
        to_lanes(numbers.reshape(len(numbers), -1), neighbours, lanes)
        .swapaxes(0, 1)
        .reshape(1, lanes, -1)
        for numbers in arranged
    ]


def _check_part(
    operation: BlockAccess, descriptor: TensorDescType, neighbours: int, lanes: int
) -> None:
    """Raises a ValueError if a vector is not the part of a block that a lane has."""
    block = shape_text(descriptor.get_shape())
    elements = descriptor.number_of_elements
    if elements % (neighbours * lanes):
        raise ValueError(f"a block of {block} cannot be dealt to a subgroup of {lanes} lanes")
    (given,) = shape_of(operation.value.type)
    entries = elements // lanes * descriptor.array_length
    if given != entries:
        raise ValueError(
            f"a lane's vector has {given} elements, but in a subgroup of {lanes} lanes a lane has "
            f"{entries} of a block of {block}"
        )


def elements_of_a_register(bits: int) -> int:
    """How many elements of a width fill 32 bits; at least 1."""
    return max(1, REGISTER_BITS // bits)


def unit(width: int, bits: int, lanes: int) -> int:
    """How many neighbouring elements of a row of `width` a lane holds."""
    largest = SYSTOLIC_DEPTH * elements_of_a_register(bits) // lanes
    return max(1, min(width // lanes, largest))


def to_lanes(matrix: Array, unit: int, lanes: int) -> Array:
    """The parts of a flat matrix, as an array (..., lanes, entries).

    Args:
        matrix: The elements in row-major order along the last axis.
        unit: How many neighbouring elements a lane holds.
        lanes: The number of lanes, of which units times lanes is a divisor of the elements.
    """
    outer = matrix.shape[:-1]
    units = matrix.reshape(*outer, -1, lanes, unit)
    return units.swapaxes(-3, -2).reshape(*outer, lanes, -1)


def from_lanes(parts: Array, unit: int) -> Array:
    """The flat matrix of which an array (..., lanes, entries) has the parts."""
    *outer, lanes, entries = parts.shape
    units = parts.reshape(*outer, lanes, entries // unit, unit)
    return units.swapaxes(-3, -2).reshape(*outer, lanes * entries)
