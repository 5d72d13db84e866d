"""Tiles of `foreach_tile` whose products are computed together, as one larger tile.

The tiles of a loop are independent, so that they are what subgroups are elsewhere: each value that
differs between them gets an axis (docs/lift.md, "Lift"). How many there are together is the
chip's choice. Where there are fewer at the end, memory ends for those that are left.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import permutations
from math import prod

from xdsl.dialects import scf, vector
from xdsl.ir import Attribute, Block, Operation

from xtile.dialects.effects import updates_memory, written_operands
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.walk import walk
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.lift.divergence import Divergence
from xtile.transforms.lift.rests import most_tiles
from xtile.transforms.lift.rules import widening_of
from xtile.transforms.lift.widening import Rest, Widening
from xtile.transforms.lift.work_group import INNER, OUTER, Axes, WorkGroup, grid_of_tiles
from xtile.transforms.tile_linalg.foreach.pattern import Dimension, Turns, is_numbering
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.products import product_tile
from xtile.transforms.tile_linalg.spans import power_of_two


@dataclass(frozen=True)
class _Arrangement:
    """How tiles of a loop lie side by side.

    Attributes:
        axes: The axis of each dimension of the space of tiles.
        counts: How many tiles are together along each.
    """

    axes: Sequence[int]
    counts: Sequence[int]

    @property
    def group(self) -> WorkGroup:
        """The tiles as subgroups; nothing tells lanes apart."""
        sizes = {OUTER: 1, INNER: 1, **dict(zip(self.axes, self.counts, strict=True))}
        return grid_of_tiles(sizes[OUTER], sizes[INNER])

    def divergence(self, body: Block, dimensions: Sequence[Dimension]) -> Divergence:
        """Along which axes values of the loop differ."""
        sizes = self.group.sizes
        seeds = {
            number: frozenset({axis}) & sizes.keys()
            for axis, dimension in zip(self.axes, dimensions, strict=True)
            for number in dimension.numbers
        }
        return Divergence(body, self.group, seeds)


def tiles_side_by_side(turns: Turns, dimensions: Sequence[Dimension], kernel: Kernel) -> bool:
    """Translates a loop over tiles, if several are computed together; returns whether it has."""
    body = turns.loop.body.block
    arrangement = _arrangement(body, dimensions, kernel)
    if arrangement is None:
        return False
    counts = " x ".join(map(str, reversed(arrangement.counts)))
    kernel.remark(f"{counts} tiles are computed together", turns.loop)
    with ExitStack() as around:
        firsts = [
            around.enter_context(_turns_of(dimension.size, count, kernel))
            for dimension, count in zip(dimensions, arrangement.counts, strict=True)
        ]
        with kernel.in_order():
            _lift(turns, dimensions, arrangement, firsts, kernel)
    return True


@contextmanager
def _turns_of(size: Index, count: int, kernel: Kernel) -> Generator[Index]:
    """What is done for each turn of so many tiles; gives the number of the first one."""
    most = most_tiles(size)
    if isinstance(size, int) or most is None or most > count:
        with kernel.loop(0, size, count, name="tile") as loop:
            yield loop.index
        return
    with kernel.when(kernel.compare("sgt", size, 0)):
        yield 0


def _lift(
    turns: Turns,
    dimensions: Sequence[Dimension],
    arrangement: _Arrangement,
    firsts: Sequence[Index],
    kernel: Kernel,
) -> None:
    body = turns.loop.body.block
    widening = widening_of(kernel, arrangement.group, arrangement.divergence(body, dimensions))
    for dimension, axis, first in zip(dimensions, arrangement.axes, firsts, strict=True):
        number = widening.add(widening.line(axis), first)
        for old in dimension.numbers:
            widening.define(old, widening.as_wide(number))
        _leave_out(widening, axis, first, dimension.size)
    for operation in body.ops:
        is_done = isinstance(operation, scf.YieldOp)
        if not is_done and not is_numbering(operation, turns.loop, dimensions):
            widening.lift(operation)


def _leave_out(widening: Widening, axis: int, first: Index, size: Index) -> None:
    """Leaves out tiles behind the last one along an axis."""
    count = widening.sizes.get(axis, 1)
    if count == 1 or (isinstance(size, int) and size % count == 0):
        return
    widening.leave_out(axis, Rest(first, size))


# --- how many ---


def _arrangement(
    body: Block, dimensions: Sequence[Dimension], kernel: Kernel
) -> _Arrangement | None:
    """How tiles are computed together; None if they are not."""
    products = [op for each in body.ops for op in walk(each) if isinstance(op, ContractionOp)]
    if not products or len(dimensions) > 2 or not all(map(_is_simple, body.ops)):
        return None
    orders = permutations((OUTER, INNER), len(dimensions))
    tries = [_Arrangement(order, [2] * len(order)) for order in orders]
    found = [(each, each.divergence(body, dimensions)) for each in tries]
    chosen = next((each for each, divergence in found if _is_one_tile(body, divergence)), None)
    if chosen is None:
        return None
    counts = _counts(chosen, products, dimensions, kernel)
    return None if prod(counts) == 1 else _Arrangement(chosen.axes, counts)


def _is_simple(operation: Operation) -> bool:
    """Whether it is known how an operation, and those in it, are done for several tiles."""
    for each in walk(operation):
        types = [value.type for value in (*each.operands, *each.results)]
        if updates_memory(each) or any(map(_has_padding, types)):
            return False
        is_write = isinstance(each, vector.TransferWriteOp)
        if written_operands(each) and not is_write:
            return False
        if isinstance(each, vector.TransferReadOp | vector.TransferWriteOp) and each.mask:
            return False
    return True


def _has_padding(type_: Attribute) -> bool:
    """Whether a matrix is no tile, or has other than two dimensions."""
    shape = shape_of(type_)
    is_matrix = len(shape) == 2 and all(size == power_of_two(size) for size in shape)
    return bool(shape) and not is_matrix


_SAME_FOR_ALL = frozenset({"scf.for", "scf.if", "scf.while"})


def _is_one_tile(body: Block, divergence: Divergence) -> bool:
    """Whether tiles lie along the sides of larger products, in control flow that is the same."""
    if divergence.crossings:
        return False
    for outer in body.ops:
        for operation in walk(outer):
            if operation.name in _SAME_FOR_ALL and _decides(operation, divergence):
                return False
    return True


def _decides(operation: Operation, divergence: Divergence) -> Axes:
    """Along which axes it differs what control flow does."""
    if isinstance(operation, scf.ForOp):
        return divergence.of_all((operation.lb, operation.ub, operation.step))
    if isinstance(operation, scf.WhileOp):
        return divergence.of_loop(operation)
    return divergence.of_all(operation.operands)


def _counts(
    arrangement: _Arrangement,
    products: Sequence[ContractionOp],
    dimensions: Sequence[Dimension],
    kernel: Kernel,
) -> list[int]:
    """How many tiles are together along each dimension: all, or as many as a chip's tile has."""
    largest = max(products, key=lambda product: prod(shape_of(product.result.type)))
    rows, columns = shape_of(largest.result.type)
    own = {OUTER: rows, INNER: columns}
    factor = value_type(largest.lhs.type)
    most = {
        axis: _most(dimension.size)
        for axis, dimension in zip(arrangement.axes, dimensions, strict=True)
    }
    limits = [None if most.get(a, 1) is None else own[a] * (most.get(a, 1) or 1) for a in own]
    known = [limit for limit in limits if limit is not None]
    greatest = max(tile.rows * tile.columns for tile in kernel.target.tiles.products_of(factor))
    if len(known) == len(limits) and prod(known) * len(products) <= greatest:
        sides = dict(zip(own, known, strict=True))
    else:
        tile = product_tile(kernel, factor, limits)
        sides = {OUTER: tile.rows, INNER: tile.columns}
        while prod(sides.values()) * len(products) > tile.rows * tile.columns:
            sides[max(sides, key=lambda axis: sides[axis] // own[axis])] //= 2
    wanted = {axis: max(1, sides[axis] // own[axis]) for axis in own}
    return [min(wanted[axis], most[axis] or wanted[axis]) for axis in arrangement.axes]


def _most(size: Index) -> int | None:
    """A power of two that a number of tiles does not exceed; None if none is known."""
    limit = most_tiles(size)
    return None if limit is None else power_of_two(limit)
