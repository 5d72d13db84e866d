"""Tiles: vectors of the whole work-group, element by element.

The tensor language has no tiles. A `Tile` here says how each of its elements is computed; it is
stored in local memory, by a `foreach` over its elements, where it is read in other ways than the
elements of what is computed next, or would be computed too often.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, cast

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from xtile.dialects.core.attributes import Level
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.ops import collective
from xtile.dialects.tensorlang.ops.arithmetic import AndOp
from xtile.dialects.tensorlang.types import BOOL, INDEX, INTEGER_TYPES
from xtile.dialects.tensorlang.verifier.constants import integer_of
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.text.value_names import give_name
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.arithmetic import compare
from xtile.translate.core_to_tensorlang.lowering import Lowering, Values
from xtile.translate.core_to_tensorlang.memory import Elements, Memory, Pointer, Root, whole
from xtile.translate.core_to_tensorlang.numbers import COMPUTE, numbers_of
from xtile.translate.core_to_tensorlang.types import (
    element_of,
    memory_type,
    scalar_type,
    shape_of,
    strided,
)
from xtile.translate.core_to_tensorlang.views import allocate

Position = tuple[Index, ...]
ElementOf = Callable[[Lowering, Position], SSAValue]


@dataclass(frozen=True, eq=False)
class Tile:
    """A vector of the work-group.

    Attributes:
        shape: Its shape.
        element: The type of its elements; the offsets of pointers are indices.
        at: Emits the element at a position.
        cost: About how many instructions an element takes.
        buffer: The local memory that holds it, if one does.
        root: Where its elements point into, if they are pointers.
        reads: The memory that elements are read from, and whether each element is read from its
            own position only.
    """

    shape: tuple[int, ...]
    element: Attribute
    at: ElementOf
    cost: int = 0
    buffer: Memory | None = None
    root: Root | None = None
    reads: Mapping[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])


@dataclass(frozen=True, eq=False)
class Registers:
    """What holds the vector of a work-item while it is made: its elements, one by one.

    Attributes:
        shape: The shape of the vector.
        element: The type of its elements.
        values: What they are, in row-major order.
    """

    shape: tuple[int, ...]
    element: Attribute
    values: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])


Buffer = Memory | Registers


def put(r: Lowering, value: SSAValue, buffer: Buffer, position: Position) -> None:
    """Writes an element of what is being made."""
    if isinstance(buffer, Registers):
        buffer.values[_known_number(position, buffer.shape)] = value
    else:
        accesses.store(r, value, buffer, position)


def _known_number(position: Position, shape: Sequence[int]) -> int:
    number = 0
    for given, size in zip(position, shape, strict=True):
        index = _as_known(given)
        assert isinstance(index, int), "work-items write their vectors one element after the other"
        number = number * size + index
    return number


def _as_known(index: Index) -> Index:
    """An index as a number, if it is a constant."""
    return index if isinstance(index, int) or integer_of(index) is None else integer_of(index) or 0


def _of_elements(elements: Elements, type_: Attribute) -> Tile:
    """A work-item's vector as a tile; at an index that is not known, it is one of all elements."""
    shape = elements.shape
    first = elements.values[0]
    root = first.root if isinstance(first, Pointer) else None

    def one(r: Lowering, number: int) -> SSAValue:
        value = elements.values[number]
        return r.as_value(value.offset) if isinstance(value, Pointer) else value

    def at(r: Lowering, position: Position) -> SSAValue:
        position = tuple(map(_as_known, position))
        if all(isinstance(index, int) for index in position):
            return one(r, _known_number(position, shape))
        strides = [math.prod(shape[number + 1 :]) for number in range(len(shape))]
        wanted = r.as_value(r.sum_of_products(position, strides))
        chosen_ = one(r, 0)
        for number in range(1, len(elements.values)):
            is_it = compare(r, "eq", wanted, r.index(number))
            chosen_ = r.select(is_it, one(r, number), chosen_)
        return chosen_

    return Tile(shape, INDEX if root is not None else type_, at, root=root)


def _settled(r: Lowering, tile: Tile) -> Elements:
    """The elements of a tile, each computed now."""
    positions = product(*map(range, tile.shape))
    values = (tile.at(r, position) for position in positions)
    root = tile.root
    return Elements(
        tile.shape, tuple(each if root is None else Pointer(root, each) for each in values)
    )


def record(r: Lowering, old: SSAValue, tile: Tile) -> None:
    """Records what a vector of the source has become; that of a work-item is its elements."""
    r.define(old, _settled(r, tile) if r.level is Level.LANE else tile)


# --- what values of the source are ---


def tile_of(r: Lowering, old: SSAValue) -> Tile:
    """What a value of the source has become; a number is a tile without dimensions."""
    meaning = r.meaning(old)
    if isinstance(meaning, Tile):
        return meaning
    if isinstance(meaning, Elements):
        return _of_elements(meaning, element_of(old.type))
    if isinstance(meaning, Pointer):
        return Tile((), INDEX, lambda r, at: r.as_value(meaning.offset), root=meaning.root)
    value = r.value(old)
    return Tile((), value.type, lambda r, at: value)


def define(r: Lowering, old: SSAValue, tile: Tile) -> None:
    """Records what a value of the source has become.

    A number is computed here, and so is a tile that would be computed too often.
    """
    if not shape_of(old.type):
        value = tile.at(r, ())
        r.define(old, value if tile.root is None else Pointer(tile.root, value))
        return
    if r.level is Level.TILE and tile.buffer is None and _is_worth_memory(old, tile):
        tile = stored(r, tile, old.name_hint)
    record(r, old, tile)


_CHEAP = 8
"""The instructions that may be done again for each use."""

_COSTLY = 60
"""The instructions of an element that are not put off any more."""


def _is_worth_memory(old: SSAValue, tile: Tile) -> bool:
    if tile.cost > _COSTLY:
        return True
    if tile.cost < _CHEAP or tile.element in INTEGER_TYPES or tile.element == BOOL:
        return False
    uses = [use.operation for use in old.uses]
    owner = old.owner
    block = owner if isinstance(owner, Block) else owner.parent
    return len(uses) > 1 or any(use.parent is not block for use in uses)


# --- loops over elements ---


def for_each(r: Lowering, shape: Sequence[int], body: Callable[[Position], None]) -> None:
    """Does something for each position, by all work-items; the last index varies fastest."""
    if math.prod(shape) == 1:
        body((0,) * len(shape))
        return
    if r.level is Level.LANE:
        for position in product(*map(range, shape)):
            body(position)
        return
    if not r.is_collective:
        _one_by_one(r, shape, (), body)
        return
    block = Block(arg_types=[INDEX] * len(shape))
    names = "ijklmnop"
    for number, argument in enumerate(reversed(block.args)):
        argument.name_hint = names[number] if number < len(names) else None
    r.counted.update(block.args)
    with r.in_spmd(block), r.with_loads_of(block):
        body(tuple(reversed(block.args)))
    starts = [r.index(0)] * len(shape)
    ends = [r.index(size) for size in reversed(shape)]
    r.emit(collective.ForeachOp(starts, ends, Region([block])))


def _one_by_one(
    r: Lowering, shape: Sequence[int], at: Position, body: Callable[[Position], None]
) -> None:
    if len(at) == len(shape):
        body(at)
        return

    def turn(index: SSAValue, _: Values) -> Values:
        _one_by_one(r, shape, (*at, index), body)
        return ()

    r.for_(0, shape[len(at)], 1, (), turn)


# --- tiles in memory ---


def new_buffer(
    r: Lowering, shape: Sequence[int], element: Attribute, name: str | None = None
) -> Buffer:
    """Local memory for a tile, or what a work-item's vector is made in."""
    if r.level is Level.LANE:
        return Registers(tuple(shape), element)
    return new_memory(r, shape, element, name)


def new_memory(
    r: Lowering, shape: Sequence[int], element: Attribute, name: str | None = None
) -> Memory:
    """Local memory for a tile, or for the vector of each work-item."""
    if r.level is Level.LANE:
        return allocate(r, MemRefType(element, shape), None, name)
    sizes = [*reversed(shape)]
    type_ = strided(memory_type(element), sizes, None, AddressSpace.LOCAL)
    memref = r.number(collective.AllocaOp(type_))
    give_name(memref, name)
    return whole(memref, element, shape)


def in_memory(buffer: Buffer, shape: Sequence[int], root: Root | None = None) -> Tile:
    """The tile that local memory holds."""
    if isinstance(buffer, Registers):
        values = [buffer.values[number] for number in range(math.prod(shape))]
        tile = _of_elements(Elements(tuple(shape), tuple(values)), buffer.element)
        return replace(tile, root=root)
    assert buffer.view is not None
    memref = buffer.view

    def at(r: Lowering, position: Position) -> SSAValue:
        return r.loaded((memref, *position), lambda: accesses.load(r, buffer, position))

    return Tile(tuple(shape), buffer.element, at, 1, buffer, root, {memref: True})


def buffer_for(r: Lowering, old: SSAValue) -> Tile:
    """Local memory for what a value of the source is in each trip or branch."""
    pointer, element = pointer_of(old.type), element_of(old.type)
    element = INDEX if pointer is not None else scalar_type(element)
    buffer = new_memory(r, shape_of(old.type), element, old.name_hint)
    return in_memory(buffer, shape_of(old.type))


def stored(r: Lowering, tile: Tile, name: str | None = None) -> Tile:
    """The tile in local memory of its own."""
    buffer = new_buffer(r, tile.shape, tile.element, name)
    _write(r, buffer, tile)
    return in_memory(buffer, tile.shape, tile.root)


def in_some_memory(r: Lowering, tile: Tile, name: str | None = None) -> Tile:
    """The tile in local memory, which others may hold it in, too."""
    return tile if tile.buffer is not None else stored(r, tile, name)


def _write(r: Lowering, buffer: Buffer, tile: Tile) -> None:
    def body(position: Position) -> None:
        put(r, tile.at(r, position), buffer, position)

    for_each(r, tile.shape, body)


def overwrite(r: Lowering, pairs: Sequence[tuple[Tile, Tile]]) -> None:
    """Gives tiles in memory new values, all at once.

    Args:
        r: Where to emit.
        pairs: Tiles, and the new ones.
    """
    targets = [_memref(target) for target, _ in pairs]
    waiting: list[tuple[Tile, Tile]] = []
    for number, (target, new) in enumerate(pairs):
        if new.buffer is not None and _memref(new) is targets[number]:
            continue
        others = [memref for i, memref in enumerate(targets) if i != number]
        is_direct = new.reads.get(targets[number], True) and not any(
            each in new.reads for each in others
        )
        waiting.append((target, new if is_direct else stored(r, new)))
    for target, new in waiting:
        assert target.buffer is not None
        _write(r, target.buffer, new)


def _memref(tile: Tile) -> SSAValue:
    assert tile.buffer is not None
    assert tile.buffer.view is not None
    return tile.buffer.view


# --- element by element ---

_COSTS = {"math": 12, "arith.divf": 4, "arith.remf": 8}


def elementwise(operation: Operation, r: Lowering) -> None:
    """An operation on each element."""
    tiles = [tile_of(r, operand) for operand in operation.operands]
    compute = COMPUTE[operation.name]
    own = _COSTS.get(operation.name) or _COSTS.get(operation.name.partition(".")[0], 1)
    for number, old in enumerate(operation.results):

        def at(r: Lowering, position: Position, number: int = number) -> SSAValue:
            values = [tile.at(r, position if tile.shape else ()) for tile in tiles]
            return r.about(operation, lambda: compute(r, operation, values)[number])

        cost = own + sum(tile.cost for tile in tiles)
        element = scalar_type(element_of(old.type))
        define(
            r, old, Tile(shape_of(old.type), element, at, cost, reads=merged(tiles, is_same=True))
        )


def merged(tiles: Sequence[Tile], *, is_same: bool) -> Mapping[SSAValue, bool]:
    """What a tile reads that is computed of others, at the same positions or not."""
    reads: dict[SSAValue, bool] = {}
    for tile in tiles:
        for memref, own in tile.reads.items():
            reads[memref] = reads.get(memref, True) and own and is_same
    return reads


def constant(operation: Operation, r: Lowering) -> None:
    """A constant tile."""
    numbers = numbers_of(operation.properties["value"])
    result = operation.results[0]
    if len(numbers) == 1:
        splat(operation, r, numbers[0])
        return
    element, shape = scalar_type(element_of(result.type)), shape_of(result.type)
    buffer = new_buffer(r, shape, element, result.name_hint)
    for number, value in enumerate(numbers):
        position = _split(r, number, shape)
        put(r, r.constant(value, element), buffer, position)
    record(r, result, in_memory(buffer, shape))


def splat(operation: Operation, r: Lowering, number: float) -> None:
    """A tile of equal numbers."""
    result = operation.results[0]
    element = element_of(result.type)
    if pointer_of(result.type) is not None:
        raise r.error("the tensor language has no pointers that point nowhere")
    scalar_type(element)
    tile = Tile(shape_of(result.type), element, lambda r, at: r.constant(number, element))
    record(r, result, tile)


# --- shapes ---


def moved(
    tile: Tile, shape: Sequence[int], source: Callable[[Lowering, Position], Position]
) -> Tile:
    """The elements of a tile at other positions.

    Args:
        tile: The tile.
        shape: The new shape.
        source: Where in the tile the element at a position is.
    """

    def at(r: Lowering, position: Position) -> SSAValue:
        return tile.at(r, source(r, position))

    reads = merged([tile], is_same=False)
    return replace(tile, shape=tuple(shape), at=at, buffer=None, reads=reads)


def _broadcast(operation: Operation, r: Lowering) -> None:
    (old,), (result,) = operation.operands, operation.results
    define(r, result, broadcast(tile_of(r, old), shape_of(result.type)))


def broadcast(tile: Tile, shape: Sequence[int]) -> Tile:
    """A tile repeated along new dimensions and those of size 1."""

    def source(r: Lowering, position: Position) -> Position:
        inner = position[len(position) - len(tile.shape) :]
        return tuple(0 if size == 1 else i for size, i in zip(tile.shape, inner, strict=True))

    return moved(tile, shape, source)


def _shape_cast(operation: Operation, r: Lowering) -> None:
    (old,), (result,) = operation.operands, operation.results
    define(r, result, reshaped(tile_of(r, old), shape_of(result.type)))


def reshaped(tile: Tile, shape: Sequence[int]) -> Tile:
    """The same elements in row-major order in another shape."""

    def source(r: Lowering, position: Position) -> Position:
        longer = [i for i, size in zip(position, shape, strict=True) if size != 1]
        if [size for size in tile.shape if size != 1] == [size for size in shape if size != 1]:
            remaining = iter(longer)
            return tuple(0 if size == 1 else next(remaining) for size in tile.shape)
        strides = [math.prod(shape[number + 1 :]) for number in range(len(shape))]
        return _split(r, r.sum_of_products(position, strides), tile.shape)

    return moved(tile, shape, source)


def _split(r: Lowering, number: Index, shape: Sequence[int]) -> Position:
    """The position of a number in row-major order."""
    position: list[Index] = []
    for size in reversed(shape[1:]):
        position.insert(0, r.remainder(number, size))
        number = r.divide(number, size)
    return (number, *position) if shape else ()


def _transpose(operation: Operation, r: Lowering) -> None:
    (old,), (result,) = operation.operands, operation.results
    order = _static(operation, "permutation")

    def source(r: Lowering, position: Position) -> Position:
        return tuple(position[order.index(i)] for i in range(len(order)))

    define(r, result, moved(tile_of(r, old), shape_of(result.type), source))


def _step(operation: Operation, r: Lowering) -> None:
    result = operation.results[0]
    record(r, result, Tile(shape_of(result.type), INDEX, lambda r, at: r.as_value(at[0])))


def _static(operation: Operation, name: str) -> list[int]:
    given = cast(Any, operation.properties[name])
    if hasattr(given, "get_values"):
        return [int(number) for number in given.get_values()]
    return [int(each.value.data) for each in given.data]


def _positions(operation: Operation, r: Lowering, first: int) -> Position:
    """The static and dynamic indices of an extract or insert."""
    dynamic = iter(r.values(operation.operands[first:]))
    return tuple(
        next(dynamic) if number < 0 else number for number in _static(operation, "static_position")
    )


def _extract(operation: Operation, r: Lowering) -> None:
    result = operation.results[0]
    tile, first = tile_of(r, operation.operands[0]), _positions(operation, r, 1)
    define(r, result, moved(tile, shape_of(result.type), lambda r, at: (*first, *at)))


def _insert(operation: Operation, r: Lowering) -> None:
    part, whole_ = (tile_of(r, operand) for operand in operation.operands[:2])
    first = _positions(operation, r, 2)
    count = len(first)

    def is_inside(r: Lowering, position: Position) -> SSAValue:
        return all_of(r, [_equal(r, a, b) for a, b in zip(position, first, strict=False)])

    define(
        r,
        operation.results[0],
        chosen(whole_.shape, is_inside, part, lambda r, at: at[count:], whole_),
    )


def _equal(r: Lowering, a: Index, b: Index) -> SSAValue:
    return compare(r, "eq", r.as_value(a), r.as_value(b))


def all_of(r: Lowering, conditions: Sequence[SSAValue]) -> SSAValue:
    """Whether all conditions hold."""
    result = conditions[0] if conditions else r.constant(True, BOOL)
    for each in conditions[1:]:
        result = r.pure(AndOp, result, each)
    return result


def chosen(
    shape: Sequence[int],
    condition: ElementOf,
    a: Tile,
    source: Callable[[Lowering, Position], Position],
    b: Tile,
) -> Tile:
    """The elements of one tile where a condition holds, and of another one elsewhere."""

    def at(r: Lowering, position: Position) -> SSAValue:
        return r.choose(
            condition(r, position),
            lambda: a.at(r, source(r, position)),
            lambda: b.at(r, position),
        )

    reads = {**merged([b], is_same=True), **merged([a], is_same=False)}
    return Tile(tuple(shape), b.element, at, a.cost + b.cost + 2, root=b.root, reads=reads)


def _extract_strided_slice(operation: Operation, r: Lowering) -> None:
    result = operation.results[0]
    tile = tile_of(r, operation.operands[0])
    offsets, steps = _static(operation, "offsets"), _static(operation, "strides")

    def source(r: Lowering, position: Position) -> Position:
        given = [
            r.add(r.multiply(i, step), offset)
            for i, step, offset in zip(position, steps, offsets, strict=False)
        ]
        return (*given, *position[len(given) :])

    define(r, result, moved(tile, shape_of(result.type), source))


def _insert_strided_slice(operation: Operation, r: Lowering) -> None:
    part, whole_ = (tile_of(r, operand) for operand in operation.operands)
    given, steps = _static(operation, "offsets"), _static(operation, "strides")
    if any(step != 1 for step in steps):
        raise r.error("parts with strides cannot be inserted")
    lead = len(given) - len(part.shape)

    def is_inside(r: Lowering, position: Position) -> SSAValue:
        conditions: list[SSAValue] = []
        for number, (index, start) in enumerate(zip(position, given, strict=True)):
            size = 1 if number < lead else part.shape[number - lead]
            conditions += _bounds(r, index, start, start + size, whole_.shape[number])
        return all_of(r, conditions)

    def source(r: Lowering, position: Position) -> Position:
        return tuple(
            r.subtract(index, start)
            for index, start in zip(position[lead:], given[lead:], strict=True)
        )

    define(r, operation.results[0], chosen(whole_.shape, is_inside, part, source, whole_))


def _bounds(r: Lowering, index: Index, low: int, high: int, size: int) -> list[SSAValue]:
    value, conditions = r.as_value(index), list[SSAValue]()
    if low > 0:
        conditions.append(compare(r, "sge", value, r.index(low)))
    if high < size:
        conditions.append(compare(r, "slt", value, r.index(high)))
    return conditions


def _mask(operation: Operation, r: Lowering) -> None:
    """True where each index is below a bound."""
    result = operation.results[0]
    if operation.name == "vector.constant_mask":
        bounds: list[Index] = [*_static(operation, "mask_dim_sizes")]
    else:
        bounds = [*r.values(operation.operands)]

    def at(r: Lowering, position: Position) -> SSAValue:
        pairs = zip(position, bounds, strict=True)
        return all_of(r, [compare(r, "slt", r.as_value(i), r.as_value(n)) for i, n in pairs])

    record(r, result, Tile(shape_of(result.type), BOOL, at, len(bounds)))


def _interleave(operation: Operation, r: Lowering) -> None:
    """The elements of two tiles in turn along the last dimension."""
    a, b = (tile_of(r, operand) for operand in operation.operands)
    result = operation.results[0]

    def at(r: Lowering, position: Position) -> SSAValue:
        *rest, last = position
        inner = (*rest, r.divide(last, 2))
        is_first = _equal(r, r.remainder(last, 2), 0)
        return r.choose(is_first, lambda: a.at(r, inner), lambda: b.at(r, inner))

    reads = merged([a, b], is_same=False)
    define(r, result, Tile(shape_of(result.type), a.element, at, a.cost + b.cost + 2, reads=reads))


def _deinterleave(operation: Operation, r: Lowering) -> None:
    tile = tile_of(r, operation.operands[0])
    for number, result in enumerate(operation.results):

        def source(r: Lowering, position: Position, number: int = number) -> Position:
            return (*position[:-1], r.add(r.multiply(position[-1], 2), number))

        define(r, result, moved(tile, shape_of(result.type), source))


def _from_elements(operation: Operation, r: Lowering) -> None:
    result = operation.results[0]
    shape = shape_of(result.type)
    buffer = new_buffer(r, shape, scalar_type(element_of(result.type)), result.name_hint)
    for number, value in enumerate(r.values(operation.operands)):
        put(r, value, buffer, _split(r, number, shape))
    record(r, result, in_memory(buffer, shape))


def _to_elements(operation: Operation, r: Lowering) -> None:
    tile = tile_of(r, operation.operands[0])
    for number, result in enumerate(operation.results):
        r.define(result, tile.at(r, _split(r, number, tile.shape)))


def _shuffle(operation: Operation, r: Lowering) -> None:
    """The parts of two tiles along the first dimension, in the order of a list."""
    a, b = (tile_of(r, operand) for operand in operation.operands)
    result = operation.results[0]
    numbers = _static(operation, "mask")
    shape = shape_of(result.type)
    buffer = new_buffer(r, shape, a.element, result.name_hint)
    for number, wanted in enumerate(numbers):
        tile, index = (a, wanted) if wanted < a.shape[0] else (b, wanted - a.shape[0])

        def body(at: Position, number: int = number, tile: Tile = tile, index: int = index) -> None:
            put(r, tile.at(r, (index, *at)), buffer, (number, *at))

        for_each(r, shape[1:], body)
    record(r, result, in_memory(buffer, shape))


RULES: dict[str, Rule] = {
    "vector.broadcast": _broadcast,
    "vector.constant_mask": _mask,
    "vector.create_mask": _mask,
    "vector.deinterleave": _deinterleave,
    "vector.extract": _extract,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.from_elements": _from_elements,
    "vector.insert": _insert,
    "vector.insert_strided_slice": _insert_strided_slice,
    "vector.interleave": _interleave,
    "vector.shape_cast": _shape_cast,
    "vector.shuffle": _shuffle,
    "vector.step": _step,
    "vector.to_elements": _to_elements,
    "vector.transpose": _transpose,
}
"""The rule of each operation, by name."""
