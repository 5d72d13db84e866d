"""Matrices as one work-item has them: in its private memory, or as what computes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from xtile.rewrite.indices import Index


@dataclass(frozen=True)
class Place:
    """Where consecutive components of a matrix begin.

    Attributes:
        flat: The number of the first component, row by row.
        row: Its row.
        column: Its column.
    """

    flat: Index
    row: Index
    column: Index


Piece = Callable[[Place, int], SSAValue]
"""Emits so many components from a place on: a vector, or a scalar for one component."""


@dataclass(frozen=True)
class Matrix:
    """A matrix of R rows and C columns; a vector of N components is a column.

    Attributes:
        shape: R and C.
        element: The type of its components as they are carried.
        piece: Emits a part of a row.
        is_flat: Whether `piece` needs nothing of a place but `flat`, and may pass the end of a row.
        aligned: The buffers of which `piece` reads the components that it is asked for.
        others: The buffers of which it reads other ones.
        width: The most components that `piece` should be asked for.
        cost: The number of operations that `piece` emits.
        buffer: The private memory that holds the matrix row by row, if some does.
        scalar: What all components are, if they are the same.
    """

    shape: tuple[int, int]
    element: Attribute
    piece: Piece
    is_flat: bool
    aligned: frozenset[SSAValue]
    others: frozenset[SSAValue]
    width: int
    cost: int = 1
    buffer: SSAValue | None = None
    scalar: SSAValue | None = None

    @property
    def count(self) -> int:
        """The number of components."""
        return self.shape[0] * self.shape[1]

    @property
    def reads(self) -> frozenset[SSAValue]:
        """All buffers that the matrix is computed from."""
        return self.aligned | self.others


def shape_of(type_: Attribute) -> tuple[int, int]:
    """Rows and columns of a vector type; a vector of one dimension is a column.

    Raises:
        ValueError: It is no vector of one or two dimensions.
    """
    from xdsl.dialects.builtin import VectorType

    if not isinstance(type_, VectorType) or type_.get_num_dims() > 2:
        raise ValueError(f"{type_} is no matrix")
    shape = type_.get_shape()
    return (shape[0], shape[1]) if len(shape) == 2 else (shape[0], 1)
