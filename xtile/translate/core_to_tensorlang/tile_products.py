"""Products of tiles: `gemm` of matrices in local memory, or sums of products in loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap

from xtile.dialects.core.attributes import Level
from xtile.dialects.tensorlang.ops import collective
from xtile.dialects.tensorlang.ops.arithmetic import AddOp, MulOp
from xtile.dialects.tensorlang.ops.memory import SubviewOp
from xtile.dialects.tensorlang.types import is_promotable, promote
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.semantics import accumulation
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.tile_reductions import kind_of
from xtile.translate.core_to_tensorlang.tiles import (
    Position,
    Tile,
    for_each,
    in_memory,
    in_some_memory,
    merged,
    new_buffer,
    put,
    record,
    stored,
    tile_of,
)


def _maps(operation: Operation) -> list[AffineMap]:
    given = cast("ArrayAttr[Attribute]", operation.properties["indexing_maps"])
    return [cast("AffineMapAttr", each).data for each in given]


def _dimensions(map_: AffineMap) -> list[int]:
    return [each.position for each in map_.results if isinstance(each, AffineDimExpr)]


def _contract(operation: Operation, r: Lowering) -> None:
    left, right, sum_ = (tile_of(r, operand) for operand in operation.operands[:3])
    a, b, c = (_dimensions(map_) for map_ in _maps(operation))
    depth = [each for each in a if each in b and each not in c]
    batch = [each for each in a if each in b and each in c]
    rows = [each for each in a if each not in b and each in c]
    columns = [each for each in b if each not in a and each in c]
    kind = operation.properties.get("kind")
    is_sum = kind is None or kind_of(operation) == "add"
    is_matrix = (len(depth), len(rows), len(columns)) == (1, 1, 1)
    element = _common(left.element, right.element)
    is_matrix = is_matrix and r.level is Level.TILE
    if not (is_sum and is_matrix and sum_.shape and _is_gemm(element, sum_.element)):
        _in_loops(operation, r, [left, right, sum_], [a, b, c])
        return
    total = _accumulator(operation.operands[2], r, sum_, operation.results[0])
    factors = [
        _factor(r, left, [*batch, rows[0], depth[0]], a),
        _factor(r, right, [*batch, depth[0], columns[0]], b),
    ]
    order = [*batch, rows[0], columns[0]]
    if c != order:
        total = stored(r, _permuted(total, [c.index(each) for each in order]))
    _multiply(r, factors, total, len(batch))
    if c != order:
        total = stored(r, _permuted(total, [order.index(each) for each in c]))
    r.define(operation.results[0], total)


def _common(a: Attribute, b: Attribute) -> Attribute | None:
    return promote(a, b)


def _is_gemm(factor: Attribute | None, sum_: Attribute) -> bool:
    return factor is not None and is_promotable(factor, sum_)


def _permuted(tile: Tile, order: Sequence[int]) -> Tile:
    """A tile with its dimensions in another order."""

    def at(r: Lowering, position: Position) -> SSAValue:
        return tile.at(r, tuple(position[order.index(i)] for i in range(len(order))))

    shape = tuple(tile.shape[each] for each in order)
    return Tile(shape, tile.element, at, tile.cost, reads=merged([tile], is_same=False))


def _factor(r: Lowering, tile: Tile, wanted: Sequence[int], given: Sequence[int]) -> Tile:
    """A factor in memory, with its dimensions in an order."""
    if [*wanted] == [*given]:
        return in_some_memory(r, tile)
    return stored(r, _permuted(tile, [given.index(each) for each in wanted]))


def _accumulator(old: SSAValue, r: Lowering, tile: Tile, result: SSAValue) -> Tile:
    """Memory that holds the sum, and may be overwritten because nobody else uses it."""
    uses = [*old.uses]
    is_own = tile.buffer is not None and len(uses) == 1 and uses[0].operation.parent is not None
    owner = old.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    if is_own and block is uses[0].operation.parent:
        return tile
    return stored(r, tile, result.name_hint)


def _multiply(r: Lowering, factors: Sequence[Tile], total: Tile, batches: int) -> None:
    """C := A B + C of row-major tiles is C^T := B^T A^T + C^T here."""
    a, b = factors

    def product(at: Position) -> None:
        left, right, sum_ = (_matrix(r, tile, at) for tile in (a, b, total))
        alpha = r.constant(1, cast(Attribute, promote(a.element, b.element)))
        beta = r.constant(1, total.element)
        r.emit(collective.GemmOp(alpha, right, left, beta, sum_))

    def along(number: int, at: Position) -> None:
        if number == batches:
            product(at)
            return

        def turn(index: SSAValue, _: Values) -> Values:
            along(number + 1, (*at, index))
            return ()

        r.for_(0, a.shape[number], 1, (), turn)

    along(0, ())


def _matrix(r: Lowering, tile: Tile, at: Position) -> SSAValue:
    """One of the matrices of a tile in memory."""
    assert tile.buffer is not None
    view = accesses.with_view(r, tile.buffer)
    if not at:
        return view
    slices: list[tuple[Any, Any]] = [(0, size) for size in reversed(tile.shape[len(at) :])]
    return r.number(SubviewOp(view, [*slices, *((index, 0) for index in reversed(at))]))


def _in_loops(
    operation: Operation,
    r: Lowering,
    tiles: Sequence[Tile],
    maps: Sequence[Sequence[int]],
) -> None:
    """For each element of the result the sum of products, in the type of sums."""
    left, right, sum_ = tiles
    kind = kind_of(operation) if operation.properties.get("kind") is not None else "add"
    if kind != "add":
        raise r.error(f"a product that combines by {kind} cannot be translated")
    a, b, c = maps
    sizes = {**dict(zip(a, left.shape, strict=True)), **dict(zip(b, right.shape, strict=True))}
    inner = [each for each in sizes if each not in c]
    wide = accumulation.accumulation_type(sum_.element)

    def total(position: Position) -> SSAValue:
        def along(number: int, known: dict[int, Index], carried: SSAValue) -> SSAValue:
            if number == len(inner):
                x = r.cast(left.at(r, tuple(known[each] for each in a)), wide)
                y = r.cast(right.at(r, tuple(known[each] for each in b)), wide)
                return r.pure(AddOp, carried, r.pure(MulOp, x, y))

            def turn(index: SSAValue, values: Values) -> Values:
                return [along(number + 1, {**known, inner[number]: index}, values[0])]

            return r.for_(0, sizes[inner[number]], 1, [carried], turn)[0]

        start = r.cast(sum_.at(r, position), wide)
        known: dict[int, Index] = dict(zip(c, position, strict=True))
        return r.cast(along(0, known, start), sum_.element)

    result = operation.results[0]
    if not sum_.shape:
        r.define(result, total(()))
        return
    buffer = new_buffer(r, sum_.shape, sum_.element, result.name_hint)
    for_each(r, sum_.shape, lambda at: put(r, total(at), buffer, at))
    record(r, result, in_memory(buffer, sum_.shape))


def _outerproduct(operation: Operation, r: Lowering) -> None:
    left, right, *sums = (tile_of(r, operand) for operand in operation.operands)

    def at(r: Lowering, position: Position) -> SSAValue:
        x = left.at(r, position[:1])
        y = right.at(r, position[1:] if right.shape else ())
        product = r.pure(MulOp, x, y)
        return r.pure(AddOp, sums[0].at(r, position), product) if sums else product

    shape = (*left.shape, *right.shape)
    reads = merged([left, right, *sums], is_same=False)
    tile = Tile(shape, left.element, at, left.cost + right.cost + 2, reads=reads)
    record(r, operation.results[0], stored(r, tile))


RULES: dict[str, Rule] = {
    "vector.contract": _contract,
    "vector.outerproduct": _outerproduct,
}
"""The rule of each operation, by name."""
