"""Products: each subgroup computes its part of the sums from whole rows and whole columns."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp, product_of_matrices
from xtile.rewrite.contractions import as_matrices, iteration_maps, iteration_sizes
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.products import unit_for
from xtile.transforms.distribute_tiles.distribution import Distribution, Held, Parts, Tile
from xtile.transforms.distribute_tiles.exchange import (
    Staged,
    arena,
    bits_of,
    fetched,
    from_memory,
    stage,
    transfer_read,
    view,
    write,
)
from xtile.transforms.distribute_tiles.reductions import combine, reduce_kind
from xtile.transforms.distribute_tiles.shapes import broadcast, reshaped, transposed
from xtile.transforms.distribute_tiles.spreads import (
    WHOLE,
    Spread,
    box_of,
    part_of,
    spread_of,
    strides_of,
)

_DEPTH = 8
"""How deep the products are that are added up at once where there is no matrix unit."""


def _contract(operation: ContractionOp, distribution: Distribution) -> None:
    matrices = as_matrices(operation)
    kind = operation.kind.data
    if matrices is None or kind is not CombiningKindFlag.ADD or not shape_of(operation.acc.type):
        _as_reduction(operation, distribution)
        return
    a, b, c = (
        reshaped(distribution, transposed(distribution, tile, each.order), each.shape)
        for tile, each in zip(map(distribution.tile, operation.operands), matrices, strict=True)
    )
    sums = matrices[2]
    whole = reshaped(distribution, _product(operation, distribution, a, b, c), sums.sizes)
    distribution.define(operation.result, transposed(distribution, whole, sums.inverse))


def _product(
    operation: ContractionOp, distribution: Distribution, a: Tile, b: Tile, c: Tile
) -> Tile:
    """The products of lists of matrices, and sums."""
    count, rows, columns = c.shape
    depth = a.shape[2]
    spread = _spread_of_sums(distribution, c)
    sums = _matrices(distribution, c, spread)
    obstacle = _obstacle(operation, distribution, part_of((rows, columns), spread), depth)
    if obstacle is not None:
        distribution.remark(f"does not use the matrix unit: {obstacle}")
        made = _in_steps(distribution, a, b, sums, spread, c.element)
    else:
        left = _matrices(distribution, a, (spread[0], WHOLE))
        right = _matrices(distribution, b, (WHOLE, spread[1]))
        made = [
            distribution.emit(product_of_matrices(*each)).result
            for each in zip(left, right, sums, strict=True)
        ]
    assert len(made) == count
    return _of_matrices(distribution, c.shape, c.element, spread, made)


def _spread_of_sums(distribution: Distribution, c: Tile) -> Spread:
    """How the rows and the columns of each product are spread."""
    rows, columns = c.shape[1:]
    if isinstance(c, Held) and len(c.box) == len([size for size in c.shape[1:] if size > 1]):
        given = iter(c.spread)
        rest = (next(given) if size > 1 else WHOLE for size in (rows, columns))
        return tuple(rest)
    layout = distribution.layouts.of_shape((rows, columns))
    found = iter(spread_of(layout, (rows, columns)))
    return tuple(next(found) if size > 1 else WHOLE for size in (rows, columns))


def _matrices(distribution: Distribution, tile: Tile, spread: Spread) -> Parts:
    """The parts of a list of matrices, each with two dimensions."""
    count, *sizes = tile.shape
    kept = tuple(dealt for dealt, size in zip(spread, sizes, strict=True) if size > 1)
    shape = part_of(tuple(sizes), spread)
    if len(tile.box) == len([size for size in tile.shape if size > 1]):
        own = (*([WHOLE] if count > 1 else []), *kept)
        parts = tile.parts(distribution, own)
        return [distribution.reshape(part, shape) for part in parts] if count > 1 or parts else []
    # Many small matrices are held as a line, which each of them is read from.
    (staged,) = stage(distribution, tile)
    strides = strides_of(tile.shape)
    rows, columns = sizes
    return [
        _read_matrix(distribution, staged, number * strides[0], (rows, columns), spread)
        for number in range(count)
    ]


def _read_matrix(
    distribution: Distribution, staged: Staged, offset: int, sizes: tuple[int, int], spread: Spread
) -> SSAValue:
    memory = view(distribution, staged.arena, staged.offset + offset, sizes, strides_of(sizes))
    origin = distribution.origin(sizes, spread)
    loaded = transfer_read(distribution, memory, origin, part_of(sizes, spread))
    return from_memory(distribution, loaded, staged.element)


def _of_matrices(
    distribution: Distribution,
    shape: tuple[int, ...],
    element: Attribute,
    spread: Spread,
    parts: Parts,
) -> Tile:
    """A list of matrices as a tile."""
    count, *sizes = shape
    box = box_of(shape)
    kept = tuple(dealt for dealt, size in zip(spread, sizes, strict=True) if size > 1)
    element = value_type(parts[0].type)
    if len(box) == len([size for size in shape if size > 1]):
        own = (*([WHOLE] if count > 1 else []), *kept)
        if count > 1 and len(box) < 3:
            raise distribution.error("products of several rows or columns are no matrices")
        reduced = part_of(tuple(size for size in sizes if size > 1), kept)
        return Held(
            tuple(shape), element, own, [distribution.reshape(part, reduced) for part in parts]
        )
    bits = bits_of(element)
    distribution.barrier()
    where = Staged(arena(distribution, bits, prod(shape)), element, 0, tuple(shape))
    for number, part in enumerate(parts):
        own = tuple(sizes)
        write(distribution, where, own, strides_of(own), number * prod(own), spread, [part])
    distribution.barrier()
    return fetched(distribution, where, shape, strides_of(shape))


def _obstacle(
    operation: ContractionOp, distribution: Distribution, held: tuple[int, ...], depth: int
) -> str | None:
    """Why a subgroup's part of a product is no number of the matrix unit's products."""
    unit = unit_for(
        distribution.target,
        distribution.target.matrix_units,
        (value_type(operation.lhs.type), value_type(operation.rhs.type)),
        value_type(operation.result.type),
    )
    if isinstance(unit, str):
        return unit
    if held[1] % unit.columns:
        return f"a subgroup has {held[1]} columns, no multiple of {unit.columns}"
    if depth % unit.depth:
        return f"the depth is {depth}, no multiple of {unit.depth}"
    return None


def _in_steps(
    distribution: Distribution,
    a: Tile,
    b: Tile,
    sums: Parts,
    spread: Spread,
    element: Attribute,
) -> Parts:
    """Products whose factors are in local memory, a few of the depth at a time."""
    staged = stage(distribution, a, b)
    depth = a.shape[2]
    step = min(_DEPTH, depth)
    made: list[SSAValue] = []
    for number, total in enumerate(sums):
        shapes = [tuple(tile.shape[1:]) for tile in (a, b)]
        memories = [
            view(
                distribution,
                each.arena,
                each.offset + number * prod(shape),
                shape,
                strides_of(shape),
            )
            for each, shape in zip(staged, shapes, strict=True)
        ]
        sizes = shape_of(total.type)
        rows, columns = distribution.origin((a.shape[1], b.shape[2]), spread)
        with distribution.loop(0, depth, step, initial=[total], name="k") as loop:
            left = transfer_read(distribution, memories[0], [rows, loop.index], (sizes[0], step))
            right = transfer_read(
                distribution, memories[1], [loop.index, columns], (step, sizes[1])
            )
            left = from_memory(distribution, left, a.element)
            right = from_memory(distribution, right, b.element)
            product = product_of_matrices(left, right, loop.carried[0])
            loop.results = [distribution.emit(product).result]
        made.append(loop.results[0])
    return made


def _as_reduction(operation: ContractionOp, distribution: Distribution) -> None:
    """Any other contraction: products of all pairs, which are reduced."""
    maps = iteration_maps(operation)
    sizes = iteration_sizes(operation, maps)
    order = [*maps[2], *(d for d in sizes if d not in maps[2])]
    shape = [sizes[d] for d in order]
    factors = [
        _spread_along(distribution, distribution.tile(operand), own, order, shape)
        for operand, own in zip(operation.operands[:2], maps[:2], strict=True)
    ]
    spread = distribution.spread_of_shape(shape)
    pairs = zip(*(tile.parts(distribution, spread) for tile in factors), strict=True)
    element = factors[0].element
    products = Held(
        tuple(shape), element, spread, [combine(distribution, "mul", *each) for each in pairs]
    )
    axes = list(range(len(maps[2]), len(order)))
    acc = distribution.tile(operation.operands[2])
    total = reduce_kind(distribution, products, str(operation.kind.data), axes, acc)
    if shape_of(operation.result.type):
        distribution.define(operation.result, total)
    else:
        distribution.define_number(operation.result, total.parts(distribution, ())[0])


def _spread_along(
    distribution: Distribution,
    tile: Tile,
    own: Sequence[int],
    order: Sequence[int],
    shape: Sequence[int],
) -> Tile:
    """A factor repeated along the iterations that are not its own."""
    turned = transposed(distribution, tile, [own.index(d) for d in order if d in own])
    middle = [size if d in own else 1 for d, size in zip(order, shape, strict=True)]
    return broadcast(distribution, reshaped(distribution, turned, middle), shape)


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
"""The rule of each operation, by name."""
