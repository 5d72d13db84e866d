"""Tensors in memory, and which of their elements make the tile at an index.

Source: CUDA Tile IR specification, "Tensor View" and "Subview Types", with the position of a tile
as devices have it: the tile at index I of a partition view begins at element I T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xtile.dialects.cuda_tile.types import (
    GatherScatterViewType,
    TileView,
)
from xtile.semantics.addresses import AddressSpace
from xtile.semantics.memory import View
from xtile.semantics.observer import IntArray
from xtile.semantics.positions import Position, base_of
from xtile.semantics.storage import Storage
from xtile.semantics.values import Array

_LARGEST = 2**62
"""Positions beyond this one may not fit into 64 bits, with what is added to them."""


class TensorView:
    """A tensor in memory; views that cut it into tiles are held as the tensor itself.

    Attributes:
        address: The pointer to its first element.
        shape: Its sizes in elements.
        strides: The distances of neighbours in elements.
    """

    __slots__ = ("address", "shape", "strides")

    def __init__(self, address: int, shape: Sequence[int], strides: Sequence[int]) -> None:
        self.address = address
        self.shape = tuple(shape)
        self.strides = tuple(strides)


@dataclass(frozen=True, slots=True)
class Box:
    """The part of a tile that lies inside of its tensor.

    Attributes:
        offset: The element of the tensor's memory at which it begins.
        shape: Its sizes.
        strides: The distances of neighbours in elements, along the tile's dimensions.
        rows: Where the elements along one dimension are any, their distances from `offset`.
        along: This dimension.
        kept: Which elements of the tile it has: slices, and the indices of the rows.
        outside: The first dimension in which the index lies outside of the view's index space,
            where the box is empty; None if there is none.
    """

    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    rows: IntArray | None
    along: int
    kept: tuple[Any, ...]
    outside: int | None

    def elements(self) -> IntArray:
        """The positions of its elements in the tensor's memory.

        Raises:
            OverflowError: A position does not fit into 64 bits.
        """
        last = self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.strides, strict=True))
        if last > _LARGEST:
            raise OverflowError
        positions = np.full(self.shape, self.offset, np.int64)
        for dimension, (size, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            distances = np.arange(size) * stride
            if dimension == self.along and self.rows is not None:
                distances = self.rows
            positions += distances.reshape(-1, *(1,) * (len(self.shape) - dimension - 1))
        return positions

    def position(self, tensor: TensorView, storage: Storage, addresses: AddressSpace) -> Position:
        """Where its elements lie.

        Raises:
            UnlocatedError: The tensor's pointer points to no memory.
        """
        buffer, first = base_of(tensor.address, storage, addresses)
        return Position(buffer, first + self.elements(), self.kept)

    def array(self, tensor: TensorView, storage: Storage, addresses: AddressSpace) -> Array:
        """Its elements as an array on the memory itself, if none are packed and no rows are any.

        Raises:
            UnlocatedError: They do not lie in the memory.
        """
        buffer, first = base_of(tensor.address, storage, addresses)
        return View(buffer, first + self.offset, self.shape, self.strides).array()


class Tiling:
    """How a view's type cuts a tensor into tiles."""

    def __init__(self, type: TileView) -> None:
        self.tile_shape = type.get_tile_shape()
        self.padding = type.padding
        self._order = type.get_dim_map()
        self._steps = type.get_traversal_strides()
        self._sparse = type.sparse_dim.data if isinstance(type, GatherScatterViewType) else None

    @property
    def is_sparse(self) -> bool:
        """Whether the elements along one dimension are any."""
        return self._sparse is not None

    def index_space(self, tensor: TensorView) -> tuple[int, ...]:
        """How many indices there are along each dimension of the tiles."""
        sizes = (tensor.shape[dimension] for dimension in self._order)
        return tuple(-(-size // step) for size, step in zip(sizes, self._steps, strict=True))

    def box(self, tensor: TensorView, indices: Sequence[Any]) -> Box:
        """The part of the tile at an index that lies inside of the tensor.

        Args:
            tensor: The tensor.
            indices: A number for each dimension; for that of gathered rows an array.
        """
        offset = 0
        outside: int | None = None
        shape: list[int] = []
        kept: list[Any] = []
        rows: IntArray | None = None
        strides = tuple(tensor.strides[dimension] for dimension in self._order)
        for dimension, index in enumerate(indices):
            size = tensor.shape[self._order[dimension]]
            if dimension == self._sparse:
                inside = np.flatnonzero(index < size)
                rows = np.asanyarray(index[inside], np.int64) * strides[dimension]
                if size * strides[dimension] > _LARGEST:
                    raise OverflowError
                shape.append(len(inside))
                kept.append(inside)
                continue
            start = index * self._steps[dimension]
            count = max(0, min(self.tile_shape[dimension], size - start))
            if count == 0 and outside is None:
                outside = dimension
            offset += start * strides[dimension]
            shape.append(count)
            kept.append(slice(count))
        along = -1 if self._sparse is None else self._sparse
        return Box(offset, tuple(shape), strides, rows, along, tuple(kept), outside)

    def outside_message(self, tensor: TensorView, indices: Sequence[Any], dimension: int) -> str:
        """Says that an index lies outside of the view's index space in a dimension."""
        given = ", ".join("..." if np.ndim(index) else str(index) for index in indices)
        sizes = ", ".join(map(str, self.index_space(tensor)))
        return (
            f"the index [{given}] lies outside of the view's index space [{sizes}] in dimension "
            f"{dimension}"
        )
