"""Fragments as operands of dpas, whose rows need not be as long as there are lanes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import BFloat16Type, VectorType, bf16
from xdsl.ir import Attribute, SSAValue

from xtile.layouts.intel import vector_layout
from xtile.rewrite.indices import share
from xtile.targets.target import MatrixUnit
from xtile.translate.core_to_xegpu.fragments import PIECE, Fragment, build
from xtile.translate.core_to_xegpu.lowering import Lowering
from xtile.translate.core_to_xegpu.pieces import (
    from_scalars,
    interleaved,
    length_of,
    to_scalars,
    vector_bitcast,
    with_piece,
)
from xtile.translate.core_to_xegpu.subgroup import exchange

_Parts = Sequence[Sequence[SSAValue]]
"""For each block of columns of a matrix its pieces."""


def operands(
    lowering: Lowering, unit: MatrixUnit, left: Fragment, right: Fragment
) -> tuple[_Parts, _Parts]:
    """What products of a unit take of A and B, for each step along the depth."""
    neighbours = unit.depth // unit.columns
    if neighbours == 0:
        left = _narrowed(lowering, left, unit.depth)
    elif left.neighbours != neighbours:
        return _as_neighbours(
            lowering,
            with_piece(lowering, left, PIECE),
            with_piece(lowering, right, unit.columns),
            neighbours,
        )
    rows = with_piece(lowering, left, PIECE * unit.depth // unit.columns).blocks
    return rows, with_piece(lowering, right, unit.depth).blocks


def as_operand(lowering: Lowering, piece: SSAValue, element: Attribute) -> SSAValue:
    """The operand of dpas: bf16 numbers, where their bits are carried."""
    if not isinstance(element, BFloat16Type):
        return piece
    owner = piece.owner
    if isinstance(owner, arith.BitcastOp) and owner.input.type == VectorType(
        bf16, [length_of(piece)]
    ):
        return owner.input
    return vector_bitcast(lowering, piece, VectorType(bf16, [length_of(piece)]))


def _as_neighbours(
    lowering: Lowering, left: Fragment, right: Fragment, count: int
) -> tuple[_Parts, _Parts]:
    """The operands of a unit with rows of A that are `count` times as long as there are lanes.

    A lane holds so many neighbours of a row of A, and of a column of B. Which elements of A they
    are does not matter, as long as those of B have the same numbers: of L lanes lane p has columns
    p, p + L, ... of A, as fragments do, so rows p, p + L, ... of B are neighbours. No element moves
    between lanes.
    """
    groups = [left.blocks[i : i + count] for i in range(0, len(left.blocks), count)]
    rows = [
        [interleaved(lowering, pieces) for pieces in zip(*blocks, strict=True)] for blocks in groups
    ]
    columns = [
        [interleaved(lowering, pieces[i : i + count]) for i in range(0, len(pieces), count)]
        for pieces in right.blocks
    ]
    return rows, columns


def _narrowed(lowering: Lowering, fragment: Fragment, width: int) -> Fragment:
    """The same matrix in blocks of half as many columns, of which lanes hold two rows each.

    A lane of the lower half has the first columns of one row and the last ones of the next, and a
    lane of the upper half the others; each gives the other what it has too much.
    """
    old = fragment.layout
    if old.width == width:
        return fragment
    assert old.width == 2 * width == old.lanes
    new = vector_layout(old.rows, old.columns, old.lanes, width)
    row = share(lowering, new.layout, ("lane", "dim0"), lowering.lane())
    is_upper = lowering.is_equal(row, 1)
    halves: list[list[SSAValue]] = []
    for block in fragment.blocks:
        rows = [scalar for piece in block for scalar in to_scalars(lowering, piece)]
        # Beyond the last row there may be anything.
        rows += rows[len(rows) - len(rows) % 2 :]
        first, last = list[SSAValue](), list[SSAValue]()
        for a, b in zip(rows[::2], rows[1::2], strict=True):
            received = exchange(lowering, lowering.select(is_upper, a, b), width)
            first.append(lowering.select(is_upper, received, a))
            last.append(lowering.select(is_upper, b, received))
        halves += [first, last]
    return build(
        new, lambda w, first, length: from_scalars(lowering, halves[w][first : first + length])
    )
