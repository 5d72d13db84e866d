"""Operations that add up along a dimension: sum, gemv and cumsum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import SSAValue

from xtile.dialects.core.blas import CumsumOp, GemvOp, SumOp
from xtile.dialects.vector.reductions import MultiDimReductionOp, ScanOp
from xtile.rewrite.indices import Index
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.kernel import Kernel
from xtile.transforms.tile_linalg.operands import operand_of, separated, spans_of
from xtile.transforms.tile_linalg.spans import Span
from xtile.transforms.tile_linalg.tiles import Tile
from xtile.transforms.tile_linalg.update import Update, update_of

_ADD = CombiningKindAttr(CombiningKindFlag.ADD)

Terms: TypeAlias = Callable[[Sequence[Index]], Tile]
"""Emits a tile of what is added up, in the accumulation type."""


def sum_(operation: SumOp, kernel: Kernel) -> None:
    """Computes b := alpha op(A) 1 + beta b."""
    a, update = operand_of(kernel, operation.a), update_of(operation, kernel)
    axis = 0 if operation.transpose_a is not None or a.rank == 1 else 1
    rows = [0 if dimension != axis else None for dimension in range(a.rank)]
    most = kernel.target.tiles.sum_elements
    spans = spans_of(kernel, [(a, range(a.rank)), (update.output, rows)], most)

    def terms(at: Sequence[Index]) -> Tile:
        return tiles.converted(kernel, a.read(at, spans, clean=(axis,)), update.wide)

    _add_up(update, spans, axis, terms)


def gemv(operation: GemvOp, kernel: Kernel) -> None:
    """Computes c := alpha op(A) b + beta c."""
    a, update = operand_of(kernel, operation.a), update_of(operation, kernel)
    b = operand_of(kernel, operation.b)
    axis = 0 if operation.transpose_a is not None else 1
    of_b = (0, None) if axis == 0 else (None, 0)
    operands = [(a, (0, 1)), (b, of_b), (update.output, of_b[::-1])]
    spans = spans_of(kernel, operands, kernel.target.tiles.sum_elements)
    b = separated(kernel, b, update.output, spans[1 - axis : 2 - axis])
    shape, depth = [span.tile for span in spans], spans[axis : axis + 1]

    def terms(at: Sequence[Index]) -> Tile:
        x = tiles.converted(kernel, a.read(at, spans, clean=(axis,)), update.wide)
        y = b.read(at[axis : axis + 1], depth, clean=(0,))
        y = tiles.converted(kernel, y, update.wide)
        return tiles.multiply(kernel, x, tiles.broadcast(kernel, y, shape, [axis]))

    _add_up(update, spans, axis, terms)


def _add_up(update: Update, spans: Sequence[Span], axis: int, terms: Terms) -> None:
    """Updates each row with the sum of its terms, after whole tiles have been added up."""
    kernel, depth = update.kernel, spans[axis]
    rows = [span for span in spans if span is not depth]
    shape = [span.tile for span in spans]
    with kernel.tiles(rows) as row:

        def at(number: Index) -> list[Index]:
            return [*row[:axis], number, *row[axis:]]

        if depth.is_one:
            total = tiles.complete(kernel, terms(at(0)))
        else:
            nothing = tiles.zeros(kernel, update.wide, shape)
            with kernel.loop(0, depth.size, depth.tile, nothing.parts, "k") as loop:
                before = Tile(tuple(loop.carried), update.wide, tuple(shape))
                loop.results = tiles.add(kernel, before, terms(at(loop.index))).parts
            total = Tile(tuple(loop.results), update.wide, tuple(shape))
        update.apply(_reduced(kernel, total, axis), row, rows)


def _reduced(kernel: Kernel, tile: Tile, axis: int) -> Tile:
    """The sums along a dimension."""
    shape = [*tile.shape[:axis], *tile.shape[axis + 1 :]]
    element = tiles.part_of(tile.element)
    nothing = tiles.constant(kernel, 0, element, shape)

    def reduce(part: SSAValue) -> SSAValue:
        operation = MultiDimReductionOp.build(
            operands=[part, nothing],
            result_types=[tiles.shaped(element, shape)],
            properties={"kind": _ADD, "reduction_dims": DenseArrayBase.from_list(i64, [axis])},
        )
        return kernel.emit(operation).dest

    return tiles.each_part(tile, shape, reduce)


def cumsum(operation: CumsumOp, kernel: Kernel) -> None:
    """Computes B := alpha cumulative sum of A along a dimension + beta B."""
    a, update = operand_of(kernel, operation.a), update_of(operation, kernel)
    dimension, order = operation.dimension.value.data, range(a.rank)
    spans = spans_of(kernel, [(update.output, order), (a, order)])
    lines = [span for axis, span in enumerate(spans) if axis != dimension]
    depth, shape = spans[dimension], [span.tile for span in spans]
    # A tile of one line has a dimension more, because sums of lines are vectors.
    matrix, along = (shape, dimension) if lines else ([1, *shape], 1)
    with kernel.tiles(lines) as line:
        nothing = tiles.zeros(kernel, update.wide, [*matrix[:along], *matrix[along + 1 :]])
        stop = depth.tile if depth.is_one else depth.size
        with kernel.loop(0, stop, depth.tile, nothing.parts, "k") as loop:
            at = [*line[:dimension], loop.index, *line[dimension:]]
            value = tiles.converted(kernel, a.read(at, spans, clean=(dimension,)), update.wide)
            value = tiles.reshaped(kernel, tiles.complete(kernel, value), matrix)
            before = Tile(tuple(loop.carried), update.wide, nothing.shape)
            total, last = _scanned(kernel, value, nothing, along)
            if not depth.is_single:
                others = [axis for axis in range(len(matrix)) if axis != along]
                spread = tiles.broadcast(kernel, before, matrix, others)
                total = tiles.add(kernel, spread, total)
                loop.results = tiles.add(kernel, before, last).parts
            update.apply(tiles.reshaped(kernel, total, shape), at, spans)


def _scanned(kernel: Kernel, tile: Tile, nothing: Tile, dimension: int) -> tuple[Tile, Tile]:
    """The cumulative sums along a dimension, and the last ones."""
    sums, last = list[SSAValue](), list[SSAValue]()
    for part, start in zip(tile.parts, nothing.parts, strict=True):
        operation = ScanOp.build(
            operands=[part, start],
            result_types=[part.type, start.type],
            properties={
                "kind": _ADD,
                "reduction_dim": IntegerAttr(dimension, i64),
                "inclusive": BoolAttr.from_bool(True),
            },
        )
        dest, accumulated = kernel.emit(operation).results
        sums.append(dest)
        last.append(accumulated)
    return (
        Tile(tuple(sums), tile.element, tile.shape),
        Tile(tuple(last), tile.element, nothing.shape),
    )
