"""Tiles as one work-item has them: in its private memory, or as what computes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from xtile.dialects.shapes import as_vector
from xtile.dialects.vector.types import vector_of
from xtile.rewrite.indices import Index


@dataclass(frozen=True)
class Position:
    """Where neighbouring components of a tile begin.

    Attributes:
        flat: The number of the first component, row by row.
        indices: Its index in each dimension; none where only `flat` is asked for.
    """

    flat: Index
    indices: tuple[Index, ...] = ()

    @property
    def row(self) -> Index:
        """The row of a matrix."""
        return self.indices[-2]

    @property
    def column(self) -> Index:
        """The index along the last dimension."""
        return self.indices[-1]


Piece = Callable[[Position, int], SSAValue]
"""Emits so many components from a position on: a vector, or a scalar for one component."""


@dataclass(frozen=True)
class Tile:
    """A vector that belongs to a subgroup or to a work-group, of any number of dimensions.

    Attributes:
        shape: Its sizes.
        element: The type of its components as they are carried.
        piece: Emits a part of a row: of neighbours along the last dimension.
        is_flat: Whether `piece` needs nothing of a position but `flat`, and may pass the end of a
            row.
        aligned: The buffers of which `piece` reads the components that it is asked for.
        others: The buffers of which it reads other ones.
        width: The most components that `piece` should be asked for.
        cost: The number of operations that `piece` emits.
        buffer: The private memory that holds the tile row by row, if some does.
        scalar: What all components are, if they are the same.
        guards: The conditions under which `piece` needs to check nothing.
    """

    shape: tuple[int, ...]
    element: Attribute
    piece: Piece
    is_flat: bool
    aligned: frozenset[SSAValue]
    others: frozenset[SSAValue]
    width: int
    cost: int = 1
    buffer: SSAValue | None = None
    scalar: SSAValue | None = None
    guards: tuple[SSAValue, ...] = ()

    @property
    def count(self) -> int:
        """The number of components."""
        return math.prod(self.shape)

    @property
    def reads(self) -> frozenset[SSAValue]:
        """All buffers that the tile is computed from."""
        return self.aligned | self.others


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The sizes of a vector type.

    Raises:
        ValueError: It is no vector.
    """
    from xdsl.dialects.builtin import VectorType

    if not isinstance(type_, VectorType):
        raise ValueError(f"{type_} is no vector")
    return type_.get_shape()


def piece_type(type_: Attribute, width: int) -> Attribute:
    """The type of a part of a tile, or of a vector of such scalars."""
    vector = as_vector(type_)
    element = type_ if vector is None else vector.element_type
    return element if width == 1 else vector_of(element, width)
