"""How a subgroup's matrix is spread over its lanes (docs/core-form.md, section "Fragments")."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.shared_attributes import vector_of

if TYPE_CHECKING:
    from xtile.layouts.intel import VectorLayout

PIECE = 8
"""How many entries of a fragment one vector holds: the rows of the largest matrix product."""

_POWERS_OF_TWO = (8, 4, 2, 1)


@dataclass(frozen=True)
class BlockForm:
    """How a matrix is cut into the blocks that are loaded.

    Attributes:
        rows: The most rows of a block.
        neighbours: How many neighbours of a row a lane gets.
        is_packed: Whether rows are packed in words of 32 bits.
        width: The columns of a block where these are fewer than the lanes.
    """

    rows: int = PIECE
    neighbours: int = 1
    is_packed: bool = False
    width: int | None = None


@dataclass(frozen=True)
class Fragment:
    """The vectors that hold a lane's part of a matrix.

    Attributes:
        layout: Which component each entry is.
        blocks: For each block of columns the pieces, vectors of consecutive entries, whose lengths
            are `piece_lengths`.
        piece: The length of the longest pieces.
        neighbours: How many neighbours of a row a lane holds one after the other. Where it is not
            1, blocks have as many columns more, the pieces are as much longer, and the matrix is
            only a left operand of products.
    """

    layout: VectorLayout
    blocks: tuple[tuple[SSAValue, ...], ...]
    piece: int = PIECE
    neighbours: int = 1

    @property
    def values(self) -> list[SSAValue]:
        """All pieces, block by block."""
        return [piece for block in self.blocks for piece in block]

    def location_of(self, entry: int) -> tuple[int, int]:
        """The piece of a block that holds an entry, and the entry's location in it."""
        found = enumerate(spans(self.layout, self.piece))
        return next((i, entry - at) for i, (at, length) in found if entry < at + length)

    def with_values(self, values: list[SSAValue]) -> Fragment:
        """A fragment of the same form with other pieces."""
        remaining = iter(values)
        blocks = tuple(tuple(next(remaining) for _ in block) for block in self.blocks)
        return Fragment(self.layout, blocks, self.piece)


def piece_lengths(layout: VectorLayout, piece: int = PIECE) -> list[int]:
    """The lengths of one block's pieces, all of them powers of two.

    Only these are rows of block accesses and products. LLVM's SPIR-V backend fails on many
    operations on vectors of 5, 6 or 7 elements.
    """
    full, rest = divmod(layout.entries, piece)
    return [piece] * full + [n for n in _POWERS_OF_TWO if rest & n]


def piece_types(layout: VectorLayout, element: Attribute, piece: int = PIECE) -> list[VectorType]:
    """The types of all pieces, block by block."""
    return [vector_of((n,), element) for n in piece_lengths(layout, piece)] * layout.blocks


def build(layout: VectorLayout, make: Callable[[int, int, int], SSAValue]) -> Fragment:
    """A fragment whose pieces are `make(block, first entry, length)`."""
    return Fragment(
        layout,
        tuple(
            tuple(make(block, first, length) for first, length in spans(layout))
            for block in range(layout.blocks)
        ),
    )


def spans(layout: VectorLayout, piece: int = PIECE) -> Iterator[tuple[int, int]]:
    """The first entry and the length of each piece of a block."""
    first = 0
    for length in piece_lengths(layout, piece):
        yield first, length
        first += length


def of_values(
    layout: VectorLayout, values: list[SSAValue], piece: int = PIECE, neighbours: int = 1
) -> Fragment:
    """A fragment from all of its pieces, block by block."""
    count = len(piece_lengths(layout, piece))
    blocks = [tuple(values[i : i + count]) for i in range(0, len(values), count)]
    return Fragment(layout, tuple(blocks), piece * neighbours, neighbours)
