"""Which point, and which element of its chunk, each element of a scattered access is.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`, `load` and `store`; RFC, `load_gather`
(`transpose`) and "sg_map".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from xtile.dialects.xegpu.operation import shape_of, shape_text
from xtile.dialects.xegpu.rfc.names import MODE, TRANSPOSE
from xtile.dialects.xegpu.types import TensorDescType
from xtile.semantics.values import Array
from xtile.semantics.xegpu.block_coordinates import fragment_coordinates


@dataclass(frozen=True)
class Points:
    """The points of an access.

    Attributes:
        point: The number of the point of each element, an array (1, lanes or 1, *shape).
        element: Which element of the point's chunk it is, in the same shape.
        count: The number of points.
        is_for_lane: Whether the vector belongs to one lane.
    """

    point: Array
    element: Array
    count: int
    is_for_lane: bool

    def of_each(self, vector: Array) -> Array:
        """What a vector with a number for each point, or for each element, has for each element."""
        flat = vector.reshape(*vector.shape[:2], -1)
        chunk = flat.shape[-1] // self.count
        position = self.point * chunk + (self.element if chunk > 1 else 0)
        taken = np.take_along_axis(flat, position.reshape(1, position.shape[1], -1), axis=2)
        return taken.reshape(*taken.shape[:2], *position.shape[2:])


def point_coordinates(
    operation: Operation,
    source: SSAValue,
    value: SSAValue,
    points: tuple[int, ...],
    chunk_size: int,
    lanes: int,
) -> Points:
    """The points of a load or store of vectors.

    Args:
        operation: The access.
        source: The descriptor, or the base that offsets are counted from.
        value: What is loaded or stored.
        points: The shape of what has a number for each point.
        chunk_size: The number of elements of each point.
        lanes: The number of lanes of a subgroup.

    Raises:
        ValueError: The value does not fit the points.
    """
    shape = shape_of(value.type)
    count = prod(points)
    if operation.attributes.get(MODE) == StringAttr("simt"):
        return _fragments(operation, source, count, shape, lanes)
    if count > 1 and shape == (chunk_size,) and points != shape:
        return _of_lanes(count, chunk_size, lanes)
    if prod(shape) != count * chunk_size:
        raise ValueError(
            f"the value has the shape {shape_text(shape)}, but there are {count} points of "
            f"{chunk_size} elements"
        )
    number = np.arange(count * chunk_size)
    if TRANSPOSE in operation.attributes:
        number = number.reshape(count, chunk_size).T
    number = number.reshape(1, 1, *shape)
    return Points(number // chunk_size, number % chunk_size, count, is_for_lane=count == 1)


def _of_lanes(count: int, chunk_size: int, lanes: int) -> Points:
    """One of the points for each lane."""
    if count != lanes:
        raise ValueError(
            f"the value is the part of one lane, but there are {count} points; in a subgroup of "
            f"{lanes} lanes there must be one for each"
        )
    point = np.arange(lanes).reshape(1, lanes, 1) + np.zeros(chunk_size, np.int64)
    return Points(point, np.arange(chunk_size) + np.zeros_like(point), count, is_for_lane=True)


def _fragments(
    operation: Operation, source: SSAValue, count: int, shape: tuple[int, ...], lanes: int
) -> Points:
    """The points of the fragments that the lanes own, as the layout of the descriptor says."""
    descriptor = source.type
    assert isinstance(descriptor, TensorDescType)
    layout = descriptor.layout_or_none
    assert layout is not None
    fragments = [fragment_coordinates(layout, descriptor, lane) for lane in range(lanes)]
    axes = [np.concatenate(numbers) for numbers in zip(*fragments, strict=True)]
    if TRANSPOSE in operation.attributes:
        axes = [numbers.swapaxes(1, 2) for numbers in axes]
    point, *element = (numbers.reshape(1, lanes, *shape) for numbers in axes)
    return Points(point, element[0] if element else np.zeros_like(point), count, is_for_lane=True)
