"""Which part of a tile each subgroup holds.

A tile is held as its box: its sizes that are not 1, so that a row, a column and a line are held
alike. Each dimension of a box is dealt to subgroups in equal parts, or is every subgroup's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from xtile.dialects.xegpu.layout import LayoutAttr, SliceAttr

Box = tuple[int, ...]

_MOST_MATRICES = 16
"""How many matrices a tile of more dimensions is held as; one of more is held as a line."""

_LEAST_MATRIX = 64
"""The elements of a matrix that is worth registers of its own."""


@dataclass(frozen=True)
class Dealt:
    """How a dimension is dealt out: subgroup s holds part `s // stride % count`.

    Attributes:
        count: How many parts there are; 1 if every subgroup has all of it.
        stride: How many subgroups follow each other that have the same part.
    """

    count: int = 1
    stride: int = 1


WHOLE = Dealt()
"""A dimension that every subgroup has all of."""

Spread = tuple[Dealt, ...]
"""How each dimension of a box is dealt out."""


def box_of(shape: Sequence[int]) -> Box:
    """The box of a tile of a shape.

    Up to two sizes that are not 1 are a line or a matrix. More are a list of matrices, or where
    there would be many small ones, a line of all elements.
    """
    sizes = tuple(size for size in shape if size != 1)
    if len(sizes) <= 2 or _is_list(sizes):
        return sizes
    return (prod(sizes),)


def _is_list(sizes: Box) -> bool:
    return prod(sizes[:-2]) <= _MOST_MATRICES and prod(sizes[-2:]) >= _LEAST_MATRIX


def part_of(box: Box, spread: Spread) -> Box:
    """The sizes of what a subgroup holds."""
    return tuple(size // dealt.count for size, dealt in zip(box, spread, strict=True))


def matrices_of(box: Box) -> int:
    """How many matrices, lines or numbers a box is."""
    return prod(box[:-2])


def strides_of(sizes: Sequence[int], padding: int = 0) -> tuple[int, ...]:
    """How far apart neighbours along each dimension are in row-major order.

    Args:
        sizes: The sizes.
        padding: How many elements lie between rows.
    """
    padded = [*sizes[:-1], sizes[-1] + padding] if sizes else []
    return tuple(prod(padded[i + 1 :]) for i in range(len(sizes)))


def strides_of_box(shape: Sequence[int], strides: Sequence[int]) -> list[int] | None:
    """How far apart neighbours along each dimension of a shape's box are.

    Args:
        shape: The shape.
        strides: How far apart they are along its dimensions.

    Returns:
        The strides; None if the box is a line whose elements are not equally far apart.
    """
    kept = [(size, stride) for size, stride in zip(shape, strides, strict=True) if size != 1]
    if len(box_of(shape)) == len(kept):
        return [stride for _, stride in kept]
    is_line = all(outer == size * inner for (_, outer), (size, inner) in pairwise(kept))
    return [kept[-1][1]] if is_line else None


def spread_of(layout: LayoutAttr | SliceAttr, shape: Sequence[int]) -> Spread:
    """How a layout deals out the dimensions of a shape that are not 1."""
    whole = layout.layout if isinstance(layout, SliceAttr) else layout
    sliced = layout.sliced_dimensions if isinstance(layout, SliceAttr) else ()
    strides = strides_of(whole.effective_sg_layout)
    kept = [number for number in range(whole.rank) if number not in sliced]
    dealt: list[Dealt] = []
    for size, number in zip(shape, kept, strict=True):
        count, data = whole.effective_sg_layout[number], whole.effective_sg_data[number]
        if size != 1:
            dealt.append(Dealt(count, strides[number]) if data * count == size else WHOLE)
    return tuple(each if each.count > 1 else WHOLE for each in dealt)


def is_shared(spread: Spread, subgroups: int) -> bool:
    """Whether several subgroups hold the same part."""
    return prod(each.count for each in spread) < subgroups
