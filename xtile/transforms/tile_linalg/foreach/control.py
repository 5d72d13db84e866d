"""Branches and loops at the points of a tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, i1, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.scf.loops import UNSIGNED, ForOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.foreach.trip import Trip
from xtile.transforms.tile_linalg.tiles import Tile

Lift = Callable[[Operation], None]
"""Translates an operation at the points of a tile."""


def branch(operation: scf.IfOp, trip: Trip, lift: Lift) -> None:
    """A branch that differs between points executes both sides, each at its points."""
    if trip.is_varying(operation.cond):
        _both(operation, trip, lift)
    else:
        _either(operation, trip, lift)


def _both(operation: scf.IfOp, trip: Trip, lift: Lift) -> None:
    kernel, condition = trip.kernel, trip.vector(operation.cond)
    with trip.where(condition):
        chosen = _side(operation.true_region, trip, lift)
    others: Sequence[SSAValue] = []
    if operation.false_region.blocks.first is not None:
        everywhere = tiles.constant(kernel, 1, i1, trip.shape)
        with trip.where(kernel.pure(arith.XOrIOp, condition, everywhere)):
            others = _side(operation.false_region, trip, lift)
    for result, a, b in zip(operation.results, chosen, others, strict=False):
        trip.define(result, selected(trip, condition, trip.tile(a), trip.tile(b)))


def selected(trip: Trip, condition: SSAValue, a: Tile, b: Tile) -> Tile:
    """`a` where a condition holds, `b` elsewhere."""
    a, b = tiles.complete(trip.kernel, a), tiles.complete(trip.kernel, b)
    parts = [
        trip.kernel.emit(SelectOp(condition, x, y)).result
        for x, y in zip(a.parts, b.parts, strict=True)
    ]
    return Tile(tuple(parts), a.element, a.shape)


def _side(region: Region, trip: Trip, lift: Lift) -> Sequence[SSAValue]:
    """Translates one side in place; returns the values of the source that it yields."""
    for nested in region.block.ops:
        if isinstance(nested, scf.YieldOp):
            return nested.operands
        lift(nested)
    return []


def _either(operation: scf.IfOp, trip: Trip, lift: Lift) -> None:
    kernel, regions = trip.kernel, list[Region]()
    for region in operation.regions:
        if region.blocks.first is None:
            regions.append(Region())
            continue
        block = Block()
        with kernel.at_end_of(block):
            yielded = _side(region, trip, lift)
            kernel.emit(scf.YieldOp(*_parts(trip, operation.results, yielded)))
        regions.append(Region(block))
    types = [type_ for result in operation.results for type_ in _types(trip, result)]
    if_true, if_false = regions
    new = scf.IfOp(kernel.value(operation.cond), types, if_true, if_false)
    new.attributes |= operation.attributes
    _define(trip, operation.results, kernel.emit(new).results)


def _types(trip: Trip, old: SSAValue) -> list[Attribute]:
    """The types of the parts of what becomes of a value."""
    if not trip.is_varying(old):
        return [old.type]
    part = tiles.shaped(tiles.part_of(old.type), trip.shape)
    return [part] * tiles.count_of(old.type)


def _parts(trip: Trip, positions: Sequence[SSAValue], values: Sequence[SSAValue]) -> list[SSAValue]:
    """The parts of values that are handed on to places, which may differ where values do not."""
    result: list[SSAValue] = []
    for position, value in zip(positions, values, strict=True):
        if trip.is_varying(position):
            result += tiles.complete(trip.kernel, trip.tile(value)).parts
        else:
            result.append(trip.kernel.value(value))
    return result


def _define(trip: Trip, positions: Sequence[SSAValue], parts: Sequence[SSAValue]) -> None:
    """Records the parts that have been handed on to places."""
    given = iter(parts)
    for position in positions:
        if trip.is_varying(position):
            count = tiles.count_of(position.type)
            tile = Tile(tuple(next(given) for _ in range(count)), position.type, trip.shape)
            trip.define(position, tile)
        else:
            trip.kernel.define(position, next(given))


def loop(operation: scf.ForOp, trip: Trip, lift: Lift) -> None:
    """A loop whose bounds differ runs as often as at any point."""
    bounds = (operation.lb, operation.ub, operation.step)
    if any(map(trip.is_varying, bounds)):
        _longest(operation, trip, lift)
        return
    kernel, old = trip.kernel, operation.body.block
    positions = old.args[1:]
    initial = _parts(trip, positions, operation.iter_args)
    body = Block(arg_types=[old.args[0].type, *(value.type for value in initial)])
    kernel.define(old.args[0], body.args[0])
    _define(trip, positions, body.args[1:])
    with kernel.at_end_of(body):
        yielded = _side(operation.body, trip, lift)
        kernel.emit(scf.YieldOp(*_parts(trip, positions, yielded)))
    first, last, step = kernel.values(bounds)
    new = ForOp(first, last, step, initial, Region(body))
    new.properties |= operation.properties
    new.attributes |= operation.attributes
    _define(trip, operation.results, kernel.emit(new).results)


def _longest(operation: scf.ForOp, trip: Trip, lift: Lift) -> None:
    """All points take as many turns as any; in turn t those act that have more than t of them."""
    kernel, old = trip.kernel, operation.body.block
    if UNSIGNED in operation.properties:
        raise kernel.error("bounds without a sign cannot differ between points; use signed ones")
    index, *positions = old.args
    first, last, step = (trip.vector(v) for v in (operation.lb, operation.ub, operation.step))
    turns = _turns(trip, first, last, step)
    initial = _parts(trip, positions, operation.iter_args)
    with (
        kernel.in_order(),
        kernel.loop(0, _largest(trip, turns), 1, initial, "turn") as turn,
    ):
        number = tiles.broadcast(
            kernel, tiles.scalar(kernel, kernel.as_value(turn.index)), trip.shape
        )
        acts = tiles.compared(kernel, "slt", number.parts[0], turns)
        number = tiles.converted(kernel, number, index.type)
        moved = kernel.pure(arith.MuliOp, number.parts[0], step)
        value = kernel.pure(arith.AddiOp, first, moved)
        trip.define(index, Tile((value,), index.type, trip.shape))
        _define(trip, positions, turn.carried)
        before = [trip.tile(position) for position in positions]
        with trip.where(acts):
            yielded = [trip.tile(value) for value in _side(operation.body, trip, lift)]
        after = [selected(trip, acts, a, b) for a, b in zip(yielded, before, strict=True)]
        turn.results = [part for tile in after for part in tile.parts]
    _define(trip, operation.results, turn.results)


def _turns(trip: Trip, first: SSAValue, last: SSAValue, step: SSAValue) -> SSAValue:
    """How many turns each point takes, as index; those that do not act take none.

    The bounds may lie further apart than their type reaches, so the distance has no sign.
    """
    kernel = trip.kernel
    first, last, step = (_as_indices(trip, bound) for bound in (first, last, step))
    nothing = tiles.constant(kernel, 0, IndexType(), trip.shape)
    one = tiles.constant(kernel, 1, IndexType(), trip.shape)
    positive = kernel.pure(SelectOp, tiles.compared(kernel, "sgt", step, nothing), step, one)
    length = kernel.pure(arith.SubiOp, last, first)
    turns = kernel.pure(arith.CeilDivUIOp, length, positive)
    is_empty = tiles.compared(kernel, "sle", last, first)
    turns = kernel.pure(SelectOp, is_empty, nothing, turns)
    active = trip.active()
    return turns if active is None else kernel.pure(SelectOp, active, turns, nothing)


def _as_indices(trip: Trip, numbers: SSAValue) -> SSAValue:
    tile = Tile((numbers,), tiles.element_of(numbers.type), trip.shape)
    return tiles.converted(trip.kernel, tile, IndexType()).parts[0]


def _largest(trip: Trip, turns: SSAValue) -> SSAValue:
    kernel = trip.kernel
    operation = MultiDimReductionOp.build(
        operands=[turns, kernel.index(0)],
        result_types=[IndexType()],
        properties={
            "kind": CombiningKindAttr(CombiningKindFlag.MAXSI),
            "reduction_dims": DenseArrayBase.from_list(i64, range(len(trip.shape))),
        },
    )
    return kernel.emit(operation).dest
