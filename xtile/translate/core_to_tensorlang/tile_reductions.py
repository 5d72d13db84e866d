"""Reductions and scans of tiles, and what counts or picks elements."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core import elements as core_elements
from xtile.dialects.core import reductions
from xtile.dialects.core.reductions import AggregateOperation
from xtile.dialects.tensorlang.ops import memory as memory_ops
from xtile.dialects.tensorlang.ops.arithmetic import AddOp, AndOp, MaxOp, MinOp, MulOp, OrOp, XorOp
from xtile.dialects.tensorlang.types import BOOL, INDEX
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.semantics import accumulation
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.arithmetic import COMPUTE, compare
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.numbers import numbers_of
from xtile.translate.core_to_tensorlang.tiles import (
    Position,
    Tile,
    all_of,
    define,
    for_each,
    in_memory,
    in_some_memory,
    merged,
    new_buffer,
    new_memory,
    put,
    record,
    tile_of,
)
from xtile.translate.core_to_tensorlang.types import element_of, scalar_type, shape_of

Combine = Callable[[Values, Values], Values]
"""Emits the combination of two tuples."""

_PARTS = 32
"""The parts that work-items reduce at once where there is one result."""


def _put(position: Position, axis: int, index: Index) -> Position:
    return (*position[:axis], index, *position[axis:])


def _reduced(
    r: Lowering,
    tiles: Sequence[Tile],
    axis: int,
    combine: Combine,
    identities: Sequence[SSAValue] | None,
    results: Sequence[SSAValue],
) -> None:
    """Combines all elements along an axis of tiles."""
    shape = tiles[0].shape
    outer, length = (*shape[:axis], *shape[axis + 1 :]), shape[axis]
    if math.prod(outer) == 1 and length % _PARTS == 0 and length > _PARTS:
        tiles, length = _in_parts(r, tiles, axis, combine, identities), _PARTS
        _finish(r, tiles, axis, length, outer, combine, identities, results)
        return
    _finish(r, tiles, axis, length, outer, combine, identities, results)


def _in_parts(
    r: Lowering,
    tiles: Sequence[Tile],
    axis: int,
    combine: Combine,
    identities: Sequence[SSAValue] | None,
) -> list[Tile]:
    """Combines every so many elements; each work-item has its own."""
    shape = tiles[0].shape
    kept = (*shape[:axis], _PARTS, *shape[axis + 1 :])
    buffers = [new_buffer(r, kept, tile.element) for tile in tiles]

    def body(position: Position) -> None:
        first = position[axis]
        rest = (*position[:axis], *position[axis + 1 :])
        totals = _total(r, tiles, axis, rest, first, shape[axis], _PARTS, combine, identities)
        for buffer, total in zip(buffers, totals, strict=True):
            put(r, total, buffer, position)

    for_each(r, kept, body)
    return [in_memory(buffer, kept) for buffer in buffers]


def _finish(
    r: Lowering,
    tiles: Sequence[Tile],
    axis: int,
    length: int,
    outer: Sequence[int],
    combine: Combine,
    identities: Sequence[SSAValue] | None,
    results: Sequence[SSAValue],
) -> None:
    if not outer:
        totals = _total(r, tiles, axis, (), 0, length, 1, combine, identities)
        for result, total in zip(results, totals, strict=True):
            r.define(result, total)
        return
    buffers = [
        new_buffer(r, outer, tile.element, result.name_hint)
        for tile, result in zip(tiles, results, strict=True)
    ]

    def body(position: Position) -> None:
        totals = _total(r, tiles, axis, position, 0, length, 1, combine, identities)
        for buffer, total in zip(buffers, totals, strict=True):
            put(r, total, buffer, position)

    for_each(r, outer, body)
    for result, buffer in zip(results, buffers, strict=True):
        record(r, result, in_memory(buffer, outer))


def _total(
    r: Lowering,
    tiles: Sequence[Tile],
    axis: int,
    position: Position,
    first: Index,
    length: int,
    step: int,
    combine: Combine,
    identities: Sequence[SSAValue] | None,
) -> Values:
    """The combination of the elements from one on, with the rest of their position."""

    def elements(index: Index) -> list[SSAValue]:
        return [tile.at(r, _put(position, axis, index)) for tile in tiles]

    start, init = first, identities
    if init is None:
        start, init = r.add(first, step), elements(first)

    def turn(index: SSAValue, totals: Values) -> Values:
        return combine(totals, elements(index))

    return r.for_(start, length, step, init, turn)


# --- regions ---


def _combination(operation: AggregateOperation, r: Lowering) -> Combine:
    block = operation.body.block

    def combine(before: Values, element: Values) -> Values:
        for argument, value in zip(block.args, (*before, *element), strict=True):
            r.define(argument, value)
        r.translate_block(block)
        assert block.last_op is not None
        return r.values(block.last_op.operands)

    return combine


def _identities(operation: AggregateOperation, r: Lowering) -> list[SSAValue] | None:
    if operation.identities is None:
        return None
    return [r.constant(numbers_of(each)[0], cast(Any, each).type) for each in operation.identities]


def _reduce(operation: reductions.ReduceOp, r: Lowering) -> None:
    tiles = [tile_of(r, source) for source in operation.sources]
    axis = operation.axis.value.data
    identities = _identities(operation, r)
    _reduced(r, tiles, axis, _combination(operation, r), identities, operation.totals)


def _scan(operation: reductions.ScanOp, r: Lowering) -> None:
    tiles = [tile_of(r, source) for source in operation.sources]
    axis = operation.axis.value.data
    combine = _combination(operation, r)
    buffers = _scanned(r, tiles, axis, combine, is_reverse=operation.reverse is not None)
    for result, buffer in zip(operation.totals, buffers, strict=True):
        record(r, result, buffer)


def _scanned(
    r: Lowering, tiles: Sequence[Tile], axis: int, combine: Combine, *, is_reverse: bool
) -> list[Tile]:
    """Combines each element along an axis with all before it."""
    shape = tiles[0].shape
    outer, length = (*shape[:axis], *shape[axis + 1 :]), shape[axis]
    buffers = [new_buffer(r, shape, tile.element) for tile in tiles]

    def body(position: Position) -> None:
        def place(index: Index) -> Position:
            return _put(position, axis, r.subtract(length - 1, index) if is_reverse else index)

        def elements(index: Index) -> list[SSAValue]:
            return [tile.at(r, place(index)) for tile in tiles]

        def keep(index: Index, totals: Values) -> None:
            for buffer, total in zip(buffers, totals, strict=True):
                put(r, total, buffer, place(index))

        def turn(index: SSAValue, totals: Values) -> Values:
            new = combine(totals, elements(index))
            keep(index, new)
            return new

        first = elements(0)
        keep(0, first)
        r.for_(1, length, 1, first, turn)

    for_each(r, outer, body)
    return [in_memory(buffer, shape) for buffer in buffers]


# --- kinds ---

_KINDS: dict[str, Any] = {
    "add": AddOp,
    "and": AndOp,
    "maximumf": "arith.maximumf",
    "maxnumf": MaxOp,
    "maxsi": MaxOp,
    "maxui": "arith.maxui",
    "minimumf": "arith.minimumf",
    "minnumf": MinOp,
    "minsi": MinOp,
    "minui": "arith.minui",
    "mul": MulOp,
    "or": OrOp,
    "xor": XorOp,
}
"""What combines two numbers: an instruction, or the name of what is composed."""


def kind_of(operation: Operation) -> str:
    """How an operation combines two numbers, such as `add`."""
    return cast(Any, operation.properties["kind"]).data.value


def _of_kind(operation: Operation, r: Lowering) -> Combine:
    how = _KINDS[kind_of(operation)]

    def combine(a: Values, b: Values) -> Values:
        if isinstance(how, str):
            return COMPUTE[how](r, operation, [a[0], b[0]])
        return [r.pure(how, a[0], b[0])]

    return combine


def _wide(r: Lowering, operation: Operation, tile: Tile) -> Tile:
    """The tile in the type in which it is added up."""
    if kind_of(operation) not in ("add", "mul") or tile.element == BOOL:
        return tile
    wide = accumulation.accumulation_type(tile.element)
    if wide == tile.element:
        return tile
    return Tile(
        tile.shape,
        wide,
        lambda r, at: r.cast(tile.at(r, at), wide),
        tile.cost + 1,
        reads=merged([tile], is_same=True),
    )


def _multi_reduction(operation: Operation, r: Lowering) -> None:
    source, accumulator = operation.operands
    given = cast(Any, operation.properties["reduction_dims"])
    numbers = given.get_values() if hasattr(given, "get_values") else given.data
    dimensions = sorted(int(getattr(n, "value", n) if isinstance(n, int) else n) for n in numbers)
    tile = _wide(r, operation, tile_of(r, source))
    _reduce_with(operation, r, tile, dimensions, tile_of(r, accumulator))


def _reduce_with(
    operation: Operation, r: Lowering, tile: Tile, dimensions: Sequence[int], first: Tile
) -> None:
    """Combines along dimensions, in the end with what a tile has."""
    combine = _of_kind(operation, r)
    result = operation.results[0]
    kept = [i for i in range(len(tile.shape)) if i not in dimensions]
    lengths = [tile.shape[i] for i in dimensions]
    narrow = scalar_type(element_of(result.type))

    def total(position: Position) -> SSAValue:
        def along(number: int, inner: list[Index], sum_: SSAValue) -> SSAValue:
            if number == len(dimensions):
                places = dict(zip((*kept, *dimensions), (*position, *inner), strict=True))
                at = tuple(places[i] for i in range(len(tile.shape)))
                return combine([sum_], [tile.at(r, at)])[0]

            def turn(index: SSAValue, carried: Values) -> Values:
                return [along(number + 1, [*inner, index], carried[0])]

            return r.for_(0, lengths[number], 1, [sum_], turn)[0]

        start = r.cast(first.at(r, position if first.shape else ()), tile.element)
        return r.cast(along(0, [], start), narrow)

    if not shape_of(result.type):
        r.define(result, total(()))
        return
    buffer = new_buffer(r, shape_of(result.type), narrow, result.name_hint)
    for_each(r, shape_of(result.type), lambda at: put(r, total(at), buffer, at))
    record(r, result, in_memory(buffer, shape_of(result.type)))


def _reduction(operation: Operation, r: Lowering) -> None:
    tile = _wide(r, operation, tile_of(r, operation.operands[0]))
    if len(operation.operands) > 1:
        first = tile_of(r, operation.operands[1])
        _reduce_with(operation, r, tile, [0], first)
        return
    combine = _of_kind(operation, r)
    narrow = scalar_type(operation.results[0].type)
    totals = _total(r, [tile], 0, (), 0, tile.shape[0], 1, combine, None)
    r.define(operation.results[0], r.cast(totals[0], narrow))


def _vector_scan(operation: Operation, r: Lowering) -> None:
    """A scan from an initial value, and the value behind it."""
    source, initial = (tile_of(r, operand) for operand in operation.operands)
    axis = cast("IntegerAttr[Any]", operation.properties["reduction_dim"]).value.data
    is_inclusive = bool(cast(Any, operation.properties["inclusive"]).value.data)
    combine, narrow = _of_kind(operation, r), source.element
    wide = _wide(r, operation, source)
    length = wide.shape[axis]
    outer = (*wide.shape[:axis], *wide.shape[axis + 1 :])
    result, last = operation.results
    buffer = new_buffer(r, wide.shape, narrow, result.name_hint)
    end = new_buffer(r, outer, narrow, last.name_hint)

    def body(position: Position) -> None:
        def turn(index: SSAValue, carried: Values) -> Values:
            at = _put(position, axis, index)
            new = combine(carried, [wide.at(r, at)])
            kept = new[0] if is_inclusive else carried[0]
            put(r, r.cast(kept, narrow), buffer, at)
            return new

        if is_inclusive:
            first = wide.at(r, _put(position, axis, 0))
            put(r, r.cast(first, narrow), buffer, _put(position, axis, 0))
            total = r.for_(1, length, 1, [first], turn)[0]
        else:
            first = r.cast(initial.at(r, position), wide.element)
            total = r.for_(0, length - 1, 1, [first], turn)[0]
            at = _put(position, axis, length - 1)
            put(r, r.cast(total, narrow), buffer, at)
        put(r, r.cast(total, narrow), end, position)

    for_each(r, outer, body)
    record(r, result, in_memory(buffer, wide.shape))
    tile = in_memory(end, outer)
    if outer:
        record(r, last, tile)
    else:
        r.define(last, tile.at(r, ()))


# --- elements by position ---


def _gather(operation: core_elements.GatherOp, r: Lowering) -> None:
    source, positions = (tile_of(r, operand) for operand in operation.operands)
    axis = cast("IntegerAttr[Any]", operation.properties["axis"]).value.data
    source = in_some_memory(r, source)

    def at(r: Lowering, position: Position) -> SSAValue:
        index = r.cast(positions.at(r, position), INDEX)
        return source.at(r, (*position[:axis], index, *position[axis + 1 :]))

    reads = merged([source, positions], is_same=False)
    define(
        r,
        operation.results[0],
        Tile(positions.shape, source.element, at, positions.cost + 2, reads=reads),
    )


def _histogram(operation: core_elements.HistogramOp, r: Lowering) -> None:
    """Counts in local memory, by atomic additions."""
    given, *masks = (tile_of(r, operand) for operand in operation.operands)
    result = operation.results[0]
    element, shape = scalar_type(element_of(result.type)), shape_of(result.type)
    buffer = new_memory(r, shape, element, result.name_hint)
    zero, one = r.constant(0, element), r.constant(1, element)
    for_each(r, shape, lambda at: accesses.store(r, zero, buffer, at))

    def body(position: Position) -> None:
        index = r.cast(given.at(r, position), INDEX)
        conditions = [mask.at(r, position) for mask in masks]
        conditions += [
            compare(r, "sge", index, r.index(0)),
            compare(r, "slt", index, r.index(shape[0])),
        ]

        def count() -> Values:
            memref, at = accesses.address(r, buffer, [index])
            r.emit(memory_ops.AtomicAddOp(one, memref, at))
            return ()

        r.if_(all_of(r, conditions), count)

    for_each(r, given.shape, body)
    record(r, result, in_memory(buffer, shape))


def _yield(operation: Operation, r: Lowering) -> None:
    """What it returns is read where its region ends."""


RULES: dict[str, Rule] = {
    "core.gather": _gather,
    "core.histogram": _histogram,
    "core.reduce": _reduce,
    "core.scan": _scan,
    "core.yield": _yield,
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
    "vector.scan": _vector_scan,
}
"""The rule of each operation, by name."""
