"""Reductions and scans: what a subgroup holds first, and then across subgroups."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseArrayBase,
    Float16Type,
    IndexType,
    IntegerType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from xtile.dialects.arith.casts import ExtFOp, ExtUIOp, TruncFOp, TruncIOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.reductions import AggregateOperation, ReduceOp, ScanOp
from xtile.dialects.core.subgroup import YieldOp
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.attributes import neutral_float, neutral_integer
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.combinations import COMBINING, kind_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.transforms.distribute_tiles.distribution import (
    Computed,
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.elementwise import emit_on
from xtile.transforms.distribute_tiles.exchange import (
    Staged,
    arena,
    bits_of,
    fetched,
    from_memory,
    stage,
    transfer_read,
    view,
    write_part,
)
from xtile.transforms.distribute_tiles.shapes import reshaped, transposed
from xtile.transforms.distribute_tiles.spreads import (
    Dealt,
    Spread,
    box_of,
    part_of,
    strides_of,
)

# --- one operation on each pair ---


def reduce_kind(
    distribution: Distribution,
    tile: Tile,
    kind: str,
    axes: Sequence[int],
    start: Tile | None = None,
) -> Tile:
    """Combines the elements of a tile along some dimensions.

    Args:
        distribution: Where to emit.
        tile: The tile.
        kind: How, as `vector` calls it.
        axes: The dimensions.
        start: What is combined with the results; None if nothing is.
    """
    kept = [i for i in range(len(tile.shape)) if i not in axes]
    shape = tuple(tile.shape[i] for i in kept)
    total = _reduced(distribution, _as_matrix(distribution, tile, kept, axes), kind)
    total = reshaped(distribution, total, shape)
    if start is None:
        return total
    spread = distribution.preferred(total)
    own, given = total.parts(distribution, spread), start.parts(distribution, spread)
    made = [combine(distribution, kind, a, b) for a, b in zip(own, given, strict=True)]
    return Held(shape, tile.element, spread, made)


def combine(distribution: Distribution, kind: str, a: SSAValue, b: SSAValue) -> SSAValue:
    """Two numbers, or parts of tiles, as a kind of reduction combines them."""
    of_floats = isinstance(value_type(a.type), AnyFloat)
    operation = COMBINING[kind][1 if of_floats else 0]
    return distribution.emit(operation(a, b)).results[0]


class _Lines:
    """A line, or the lines of a matrix along one of its dimensions.

    Attributes:
        tile: The tile.
        axis: Which dimension of its box the lines are along; None if it has one element.
    """

    def __init__(self, tile: Tile, axis: int | None) -> None:
        self.tile = tile
        self.axis = axis


def _as_matrix(
    distribution: Distribution, tile: Tile, kept: Sequence[int], axes: Sequence[int]
) -> _Lines:
    """A tile as a matrix or a line, of which one dimension is what is reduced."""
    reduced = [i for i in axes if tile.shape[i] != 1]
    staying = [i for i in kept if tile.shape[i] != 1]
    if not reduced:
        return _Lines(tile, None)
    if len(reduced) == 1 and len(staying) <= 1 and len(tile.box) == len(reduced) + len(staying):
        return _Lines(tile, 0 if not staying or reduced[0] < staying[0] else 1)
    sizes = tuple(prod(tile.shape[i] for i in each) for each in (kept, axes))
    turned = transposed(distribution, tile, [*kept, *axes])
    matrix = reshaped(distribution, turned, sizes)
    return _Lines(matrix, len(matrix.box) - 1)


def _reduced(distribution: Distribution, lines: _Lines, kind: str) -> Tile:
    """The combination of each line."""
    tile, axis = lines.tile, lines.axis
    if axis is None:
        return tile
    spread = distribution.preferred(tile)
    (part,) = tile.parts(distribution, spread)
    total = _of_part(distribution, part, kind, axis)
    others = tuple(each for i, each in enumerate(spread) if i != axis)
    shape = tuple(size for i, size in enumerate(tile.box) if i != axis)
    if spread[axis].count > 1:
        total = _of_subgroups(distribution, total, kind, shape, others, spread[axis])
    return Held(shape, tile.element, others, [total])


def _of_part(distribution: Distribution, part: SSAValue, kind: str, axis: int) -> SSAValue:
    """The combinations of what a subgroup holds."""
    element, shape = value_type(part.type), list(shape_of(part.type))
    del shape[axis]
    type_ = with_shape(element, shape)
    start = distribution.constant(neutral(kind, element), type_)
    return distribution.compute(
        MultiDimReductionOp,
        [part, start],
        type_,
        {
            "kind": CombiningKindAttr(CombiningKindFlag(kind)),
            "reduction_dims": DenseArrayBase.from_list(i64, [axis]),
        },
    )


def neutral(kind: str, element: Attribute) -> float:
    """The number that a kind of reduction leaves out of account."""
    if isinstance(element, AnyFloat):
        return neutral_float(kind)
    width = 64 if isinstance(element, IndexType) else cast(IntegerType, element).width.data
    return neutral_integer(kind, width)


def _of_subgroups(
    distribution: Distribution,
    total: SSAValue,
    kind: str,
    shape: tuple[int, ...],
    others: Spread,
    along: Dealt,
) -> SSAValue:
    """Combines what several subgroups have of a line, or of several.

    Each writes a line of memory, and everybody reads all of them.
    """
    element = value_type(total.type)
    size, count = prod(shape), along.count
    distribution.barrier()
    memory = arena(distribution, bits_of(element), size * count)
    where = Staged(memory, element, 0, (count, *shape))
    number = distribution.number_of(along)
    first = distribution.multiply(number, size)
    with distribution.by_owners((along, *others)):
        write_part(distribution, where, shape, [1] * len(shape), first, others, [total])
    distribution.barrier()
    if not shape:
        line = transfer_read(
            distribution, view(distribution, memory, 0, [count], [1]), [0], [count]
        )
        return _of_part(distribution, from_memory(distribution, line, element), kind, 0)
    sizes, origin = part_of(shape, others), distribution.origin(shape, others)
    rows = view(distribution, memory, 0, [count, size], [size, 1])

    def row(index: Index) -> SSAValue:
        from xdsl.ir.affine import AffineExpr, AffineMap

        start = [index, *origin]
        map_ = AffineMap(2, 0, (AffineExpr.dimension(1),))
        loaded = transfer_read(distribution, rows, start, sizes, None, map_)
        return from_memory(distribution, loaded, element)

    with distribution.loop(1, count, initial=[row(0)], name="subgroup") as loop:
        loop.results = [combine(distribution, kind, loop.carried[0], row(loop.index))]
    return loop.results[0]


def _multi_reduction(operation: MultiDimReductionOp, distribution: Distribution) -> None:
    axes = list(operation.reduction_dims.get_values())
    kind = str(operation.kind.data)
    tile, start = (distribution.tile(each) for each in operation.operands)
    made = _widened_reduction(distribution, tile, kind, axes, start)
    _define(distribution, operation.dest, made)


def _widened_reduction(
    distribution: Distribution, tile: Tile, kind: str, axes: Sequence[int], start: Tile
) -> Tile:
    """A reduction of narrow numbers, in wider ones and rounded once."""
    wide = _wide(tile.element)
    if wide is None:
        return reduce_kind(distribution, tile, kind, axes, start)
    widening, narrowing, element = wide
    given = [_cast(distribution, each, widening, element) for each in (tile, start)]
    made = reduce_kind(distribution, given[0], kind, axes, given[1])
    return _cast(distribution, made, narrowing, tile.element)


def _wide(
    element: Attribute,
) -> tuple[type[IRDLOperation], type[IRDLOperation], Attribute] | None:
    """How numbers become those in which they are combined, and back; None if they are that."""
    if isinstance(element, Float16Type | BFloat16Type):
        return ExtFOp, TruncFOp, f32
    return (ExtUIOp, TruncIOp, i32) if element == i1 else None


def _cast(
    distribution: Distribution, tile: Tile, kind: type[IRDLOperation], element: Attribute
) -> Tile:
    spread = distribution.preferred(tile)
    parts = [
        distribution.compute(kind, [part], with_element(part.type, element))
        for part in tile.parts(distribution, spread)
    ]
    return Held(tile.shape, element, spread, parts)


def _reduction(operation: Operation, distribution: Distribution) -> None:
    """`vector.reduction`."""
    source, *start = operation.operands
    kind = str(cast(CombiningKindAttr, operation.properties["kind"]).data)
    tile = distribution.tile(source)
    first = distribution.tile(start[0]) if start else None
    made = reduce_kind(distribution, tile, kind, list(range(len(tile.shape))), first)
    _define(distribution, operation.results[0], made)


def _define(distribution: Distribution, result: SSAValue, tile: Tile) -> None:
    if not shape_of(result.type):
        distribution.define_number(result, tile.parts(distribution, ())[0])
    else:
        distribution.define(result, tile)


# --- any combination ---


def _reduce(operation: ReduceOp, distribution: Distribution) -> None:
    axis = operation.axis.value.data
    tiles = [distribution.tile(source) for source in operation.sources]
    kind = kind_of(operation)
    if kind is not None:
        _define(
            distribution, operation.totals[0], reduce_kind(distribution, tiles[0], kind, [axis])
        )
        return
    kept = [i for i in range(len(tiles[0].shape)) if i != axis]
    shape = tuple(tiles[0].shape[i] for i in kept)
    order = [*kept, axis]
    turned = [transposed(distribution, tile, order) for tile in tiles]
    size = tiles[0].shape[axis]
    matrices = [reshaped(distribution, tile, (prod(shape), size)) for tile in turned]
    while size > 1:
        half = size // 2
        staged = stage(distribution, *matrices)
        halves = [
            [
                fetched(distribution, each, (prod(shape), half), (size, 1), offset=start)
                for each in staged
            ]
            for start in (0, half)
        ]
        matrices = combined(distribution, operation, *halves)
        size = half
    for total, matrix in zip(operation.totals, matrices, strict=True):
        _define(distribution, total, reshaped(distribution, matrix, shape))


def combined(
    distribution: Distribution,
    operation: AggregateOperation,
    first: Sequence[Tile],
    second: Sequence[Tile],
) -> list[Tile]:
    """What a region makes of two tuples of tiles of one shape."""
    spread = distribution.preferred(first[0])
    given = [tile.parts(distribution, spread) for tile in (*first, *second)]
    made: list[list[SSAValue]] = [[] for _ in operation.totals]
    for parts in zip(*given, strict=True):
        for result, value in zip(
            made, _of_region(distribution, operation, list(parts)), strict=True
        ):
            result.append(value)
    return [
        Held(tile.shape, tile.element, spread, parts)
        for tile, parts in zip(first, made, strict=True)
    ]


def _of_region(
    distribution: Distribution, operation: AggregateOperation, parts: list[SSAValue]
) -> list[SSAValue]:
    """The region on parts of tiles: its operations are elementwise."""
    shape = shape_of(parts[0].type)
    known: dict[SSAValue, SSAValue] = {}
    known.update(zip(operation.body.block.args, parts, strict=True))
    for inner in operation.body.block.ops:
        if isinstance(inner, YieldOp):
            return [_part(distribution, known, value, shape) for value in inner.values]
        if inner.regions or inner.dialect_name() not in ("arith", "math"):
            raise distribution.error(
                "the region of a reduction is dealt out to lanes only if it is arithmetic", inner
            )
        if not inner.operands:
            distribution.translate(inner)
            continue
        operands = [_part(distribution, known, value, shape) for value in inner.operands]
        made = emit_on(distribution, inner, operands, shape)
        known.update(zip(inner.results, made, strict=True))
    raise distribution.error("the region must end with core.yield")


def _part(
    distribution: Distribution,
    known: dict[SSAValue, SSAValue],
    value: SSAValue,
    shape: Sequence[int],
) -> SSAValue:
    if value in known:
        return known[value]
    return distribution.reshape(distribution.value(value), shape)


def _scan(operation: ScanOp, distribution: Distribution) -> None:
    axis = operation.axis.value.data
    tiles = [distribution.tile(source) for source in operation.sources]
    shape = tiles[0].shape
    order = [*(i for i in range(len(shape)) if i != axis), axis]
    turned = [transposed(distribution, tile, order) for tile in tiles]
    outer = tuple(shape[i] for i in order)
    lines = (prod(outer[:-1]), outer[-1])
    matrices = [reshaped(distribution, tile, lines) for tile in turned]
    distance = 1
    while distance < lines[1]:
        matrices = _scan_step(distribution, operation, matrices, distance)
        distance *= 2
    back = [order.index(i) for i in range(len(shape))]
    for total, matrix in zip(operation.totals, matrices, strict=True):
        whole = reshaped(distribution, matrix, outer)
        distribution.define(total, transposed(distribution, whole, back))


def _scan_step(
    distribution: Distribution, operation: ScanOp, matrices: Sequence[Tile], distance: int
) -> list[Tile]:
    """Combines each element with the one so many elements before it, if there is one."""
    shape = matrices[0].shape
    size = shape[-1]
    spread = distribution.preferred(matrices[0])
    staged = stage(distribution, *matrices)
    moved = distance if operation.reverse else -distance
    others: list[Tile] = []
    for each in staged:
        others.append(_shifted(distribution, each, shape, spread, moved))
    own = [Held(shape, each.element, spread, each.parts(distribution, spread)) for each in matrices]
    made = combined(distribution, operation, others, own)
    there = _is_there(distribution, shape, size, distance, is_reverse=bool(operation.reverse))
    masks = there.parts(distribution, spread)
    result: list[Tile] = []
    for before, after in zip(own, made, strict=True):
        values = [
            distribution.emit(SelectOp(*each)).result
            for each in zip(masks, after.parts(distribution, spread), before.values, strict=True)
        ]
        result.append(Held(shape, before.element, spread, values))
    return result


def _shifted(
    distribution: Distribution, staged: Staged, shape: Sequence[int], spread: Spread, moved: int
) -> Held:
    """The element so far behind each one, and 0 where there is none."""
    box = box_of(shape)
    origin = distribution.origin(box, spread)
    sizes = part_of(box, spread)
    memory = view(distribution, staged.arena, staged.offset, box, strides_of(box))
    # A negative index is outside, as is one beyond the end.
    start = [*origin[:-1], distribution.add(origin[-1], moved)]
    inside = [True] * (len(box) - 1) + [False]
    loaded = transfer_read(distribution, memory, start, sizes, inside)
    return Held(
        tuple(shape), staged.element, spread, [from_memory(distribution, loaded, staged.element)]
    )


def _is_there(
    distribution: Distribution,
    shape: tuple[int, ...],
    size: int,
    distance: int,
    *,
    is_reverse: bool,
) -> Tile:
    """Whether there is an element so far before each one."""
    seed = Uniform(shape, IndexType(), distribution.index(0))

    def is_there(at: list[Index], _: list[SSAValue]) -> list[SSAValue]:
        if is_reverse:
            return [distribution.compare("ult", at[-1], size - distance)]
        return [distribution.compare("uge", at[-1], distance)]

    def make(spread: Spread) -> Parts:
        sources = [seed.parts(distribution, spread)]
        return each_element(distribution, shape, seed.box, spread, sources, [i1], is_there)[0]

    return Computed(shape, i1, make)


RULES: dict[str, Rule] = {
    "core.reduce": _reduce,
    "core.scan": _scan,
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
}
"""The rule of each operation, by name."""
