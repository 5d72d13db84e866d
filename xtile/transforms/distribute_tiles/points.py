"""Elements of memory anywhere: gathers, scatters and pointers (atomic accesses: `atomics.py`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IntegerType,
    MemRefType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.casts import ExtSIOp, IndexCastOp
from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerType,
    pointer_of,
)
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memref.access import StoreOp
from xtile.dialects.shapes import with_element
from xtile.dialects.upstream import value_type
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, again, copy
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.distribution import (
    Computed,
    Distribution,
    Held,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.exchange import (
    LOCAL,
    bits_of,
)
from xtile.transforms.distribute_tiles.shapes import broadcast
from xtile.transforms.distribute_tiles.spreads import Spread

# --- what is accessed ---


class Elements:
    """Elements of memory, and which of them are accessed.

    Args:
        operation: A gather, a scatter or an update.
        shape: The shape of what is accessed; without dimensions it is one element.
        distribution: Where to emit.
    """

    def __init__(self, operation: Any, shape: tuple[int, ...], distribution: Distribution) -> None:
        self.shape = shape
        self._memory: SSAValue = operation.memory
        self._mask: SSAValue | None = operation.mask
        self._distribution = distribution
        tiles = [distribution.tile(index) for index in operation.indices]
        if pointer_of(self._memory.type) is not None:
            tiles = [distribution.tile(self._memory)] if shape else []
        if self._mask is not None:
            tiles.append(distribution.tile(self._mask))
        self._tiles = [broadcast(distribution, tile, shape) for tile in tiles]

    def sources(self, spread: Spread) -> list[Parts]:
        """The parts of indices or addresses, and of the mask."""
        return [tile.parts(self._distribution, spread) for tile in self._tiles]

    def where(self, values: Sequence[SSAValue]) -> tuple[SSAValue, list[SSAValue], SSAValue | None]:
        """The memory, the indices in it and the condition for one element of the sources."""
        distribution = self._distribution
        condition = None
        if self._mask is not None:
            *values, condition = values
        if pointer_of(self._memory.type) is None:
            indices = [as_index(distribution, value) for value in values]
            return distribution.value(self._memory), indices, condition
        if not self.shape:
            memory = element_behind(distribution, distribution.value(self._memory))
            return memory, [distribution.index(0)], condition
        (address,) = values
        pointer = cast(PointerType, value_type(self._memory.type))
        return behind(distribution, address, pointer), [distribution.index(0)], condition


def as_index(distribution: Distribution, value: SSAValue) -> SSAValue:
    """A signed number as an index."""
    if isinstance(value.type, IntegerType):
        return distribution.compute(IndexCastOp, [value], distribution.index(0).type)
    return value


def behind(distribution: Distribution, address: SSAValue, pointer: PointerType) -> SSAValue:
    """The element at an address, as memory of one element."""
    made = IntegerToPointerOp.create(operands=[address], result_types=[pointer])
    return element_behind(distribution, distribution.emit(made).results[0])


def element_behind(distribution: Distribution, pointer: SSAValue) -> SSAValue:
    """The element that a pointer points to, as memory of one element."""
    type_ = cast(PointerType, pointer.type)
    memory = MemRefType(type_.pointee_type, [1], memory_space=type_.memory_space)
    one = DenseArrayBase.from_list(i64, [1])
    operation = ViewOp.build(
        operands=[pointer, [], [], []],
        result_types=[memory],
        properties={
            "static_offsets": DenseArrayBase.from_list(i64, [0]),
            "static_sizes": one,
            "static_strides": one,
        },
    )
    return distribution.emit(operation).results[0]


# --- loads and stores ---


def gather(operation: GatherLoadOp, distribution: Distribution) -> None:
    """A load of elements anywhere, that is not atomic."""
    shape = shape_of(operation.result.type)
    elements = Elements(operation, shape, distribution)
    element = distribution.type_of(value_type(operation.result.type))
    padding = None if operation.padding is None else distribution.tile(operation.padding)
    if padding is None:
        padding = Uniform(shape, element, distribution.constant(0, element))

    def load(_: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        *own, other = values
        memory, indices, condition = elements.where(own)
        return distribution.guarded(
            condition,
            lambda: [distribution.address(distribution.load(memory, indices))],
            lambda: [other],
        )

    spread = distribution.table_of(operation.result) if shape else ()
    spread = spread or distribution.spread_of_shape(shape)
    sources = [*elements.sources(spread), padding.parts(distribution, spread)]
    tile = Uniform(shape, element, distribution.index(0))
    (parts,) = each_element(distribution, shape, tile.box, spread, sources, [element], load)
    if shape:
        distribution.held(operation.result, spread, parts)
    else:
        distribution.define_number(operation.result, parts[0])


def scatter(operation: ScatterStoreOp, distribution: Distribution) -> None:
    """A store of elements anywhere, that is not atomic."""
    shape = shape_of(operation.value.type)
    value = distribution.tile(operation.value)
    elements = Elements(operation, shape, distribution)

    def store(memory: SSAValue, indices: list[SSAValue], number: SSAValue) -> None:
        number = _as_stored(distribution, number, memory)
        distribution.emit(StoreOp.get(number, memory, indices))

    def each(values: list[SSAValue]) -> list[SSAValue]:
        *own, number = values
        memory, indices, condition = elements.where(own)
        if condition is None:
            store(memory, indices, number)
        else:
            with distribution.when(condition):
                store(memory, indices, number)
        return []

    do_each(distribution, elements, [value], each)


def _as_stored(distribution: Distribution, number: SSAValue, memory: SSAValue) -> SSAValue:
    """A number as memory has it, whose pointers are no addresses."""
    wanted = cast("MemRefType[Attribute]", memory.type).element_type
    if not isinstance(wanted, PointerType):
        return number
    made = IntegerToPointerOp.create(operands=[number], result_types=[wanted])
    return distribution.emit(made).results[0]


def for_each(
    distribution: Distribution,
    elements: Elements,
    tiles: Sequence[Tile],
    results: Sequence[Attribute],
    each: Callable[[list[SSAValue]], list[SSAValue]],
) -> tuple[Spread, Callable[[], Parts]]:
    """How elements are spread, and what emits something for each of a subgroup's.

    Args:
        distribution: Where to emit.
        elements: The elements of memory.
        tiles: Further tiles of which it gets elements.
        results: The type of what it gives, if it does.
        each: Emits it for an element.
    """
    shape = elements.shape
    held = next((tile for tile in tiles if isinstance(tile, Held)), None)
    spread = held.spread if held else distribution.spread_of_shape(shape)
    sources = [*elements.sources(spread), *(tile.parts(distribution, spread) for tile in tiles)]
    box = Uniform(shape, i1, distribution.index(0)).box

    def make() -> Parts:
        made = each_element(
            distribution, shape, box, spread, sources, results, lambda _, values: each(values)
        )
        return made[0] if made else []

    return spread, make


def do_each(
    distribution: Distribution,
    elements: Elements,
    tiles: Sequence[Tile],
    each: Callable[[list[SSAValue]], list[SSAValue]],
) -> None:
    """Does something once for each element."""
    if not elements.shape:
        numbers = [parts[0] for parts in elements.sources(())]
        numbers += [tile.parts(distribution, ())[0] for tile in tiles]
        with distribution.once():
            each(numbers)
        return
    spread, make = for_each(distribution, elements, tiles, [], each)
    with distribution.by_owners(spread):
        make()


# --- vectors of positions in memory ---


def _vector_gather(operation: Operation, distribution: Distribution) -> None:
    """`vector.gather`: positions along the last dimension of memory."""
    base, *offsets = operation.operands
    *start, positions, mask, other = offsets
    (result,) = operation.results
    shape, element = shape_of(result.type), value_type(result.type)
    first = distribution.numbers(start)
    memory = distribution.value(base)
    tiles = [distribution.tile(each) for each in (positions, mask, other)]

    def load(_: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        position, condition, padding = values
        index = distribution.add(first[-1], as_index(distribution, position))
        return distribution.guarded(
            condition,
            lambda: [distribution.load(memory, [*first[:-1], index])],
            lambda: [padding],
        )

    spread = distribution.spread_of(result)
    sources = [tile.parts(distribution, spread) for tile in tiles]
    box = tiles[0].box
    (parts,) = each_element(distribution, shape, box, spread, sources, [element], load)
    distribution.held(result, spread, parts)


def _vector_scatter(operation: Operation, distribution: Distribution) -> None:
    base, *offsets = operation.operands
    *start, positions, mask, value = offsets
    shape = shape_of(value.type)
    first = distribution.numbers(start)
    memory = distribution.value(base)
    tiles = [distribution.tile(each) for each in (positions, mask, value)]
    held = next((tile for tile in tiles if isinstance(tile, Held)), None)
    spread = held.spread if held else distribution.spread_of_shape(shape)
    sources = [tile.parts(distribution, spread) for tile in tiles]

    def store(_: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        position, condition, number = values
        index = distribution.add(first[-1], as_index(distribution, position))
        with distribution.when(condition):
            distribution.store(number, memory, [*first[:-1], index])
        return []

    with distribution.by_owners(spread):
        each_element(distribution, shape, tiles[0].box, spread, sources, [], store)


# --- numbers and pointers ---


def _store_number(operation: Operation, distribution: Distribution) -> None:
    with distribution.once():
        copy(operation, distribution)


def _pointer_add(operation: Operation, distribution: Distribution) -> None:
    (result,) = operation.results
    shape = shape_of(result.type)
    if not shape:
        copy(operation, distribution)
        return
    tiles = [broadcast(distribution, distribution.tile(each), shape) for each in operation.operands]
    pointee = cast(PointerType, value_type(result.type)).pointee_type
    size = _bytes(pointee)

    def made(spread: Spread) -> Parts:
        address, offset = (tile.parts(distribution, spread) for tile in tiles)
        return [_moved(distribution, *each, size) for each in zip(address, offset, strict=True)]

    held = next((tile for tile in tiles if isinstance(tile, Held)), None)
    if held is None:
        distribution.define(result, Computed(shape, i64, made))
    else:
        distribution.held(result, held.spread, made(held.spread))


def _moved(distribution: Distribution, address: SSAValue, offset: SSAValue, size: int) -> SSAValue:
    type_ = with_element(offset.type, i64)
    if value_type(offset.type) != i64:
        kind = ExtSIOp if isinstance(value_type(offset.type), IntegerType) else IndexCastOp
        offset = distribution.compute(kind, [offset], type_)
    scale = distribution.constant(size, type_)
    scaled = distribution.emit(arith.MuliOp(offset, scale)).result
    return distribution.emit(arith.AddiOp(address, scaled)).result


def _bytes(pointee: Attribute) -> int:
    if isinstance(pointee, PointerType):
        return 8
    return bits_of(pointee) // 8


def _same_address(operation: Operation, distribution: Distribution) -> None:
    """A tile of addresses that are called otherwise."""
    (result,) = operation.results
    if not shape_of(result.type):
        copy(operation, distribution)
        return
    tile = distribution.tile(operation.operands[0])
    distribution.define(result, distribution.reshaped(tile, shape_of(result.type)))


_assume = _same_address
"""The same value; what is known of numbers stays with them."""


def _in_space_of(type_: Attribute, source: Attribute) -> Attribute:
    if not isa(type_, MemRefType) or not isa(source, MemRefType):
        return type_
    return MemRefType(type_.element_type, type_.shape, type_.layout, source.memory_space)


def _view(operation: Operation, distribution: Distribution) -> None:
    """A part of memory, in the space that this has become."""
    operands = distribution.values(operation.operands)
    types: list[Attribute] = []
    for result in operation.results:
        types.append(_in_space_of(result.type, operands[0].type))
    made = again(operation, operands, types)
    distribution.replace(operation, made)


def _allocate(operation: Operation, distribution: Distribution) -> None:
    """Memory of a work-group, as local memory."""
    (result,) = operation.results
    type_ = cast("MemRefType[Attribute]", result.type)
    if DYNAMIC_INDEX in type_.get_shape():
        raise distribution.error("local memory has a size that is known")
    made = again(
        operation,
        distribution.values(operation.operands),
        [MemRefType(type_.element_type, type_.shape, type_.layout, LOCAL)],
    )
    # Variables of a kernel are there once, whichever loop they stand in.
    distribution.define(
        result, distribution.shared(operation, (), lambda: distribution.emit(made).results[0])
    )


def _copy_memory(operation: Operation, distribution: Distribution) -> None:
    raise distribution.error(
        "copies of memory are not dealt out to subgroups; load and store tiles"
    )


def _nothing(operation: Operation, distribution: Distribution) -> None:
    """Nothing but the time depends on it."""


RULES: dict[str, Rule] = {
    "core.assume": _assume,
    "core.complex_part": _view,
    "core.integer_to_pointer": _same_address,
    "core.pointer_add": _pointer_add,
    "core.pointer_cast": _same_address,
    "core.pointer_to_integer": _same_address,
    "core.prefetch": _nothing,
    "core.view": copy,
    "memref.alloca": _allocate,
    "memref.assume_alignment": _view,
    "memref.cast": _view,
    "memref.copy": _copy_memory,
    "memref.dim": copy,
    "memref.extract_aligned_pointer_as_index": copy,
    "memref.extract_strided_metadata": _view,
    "memref.get_global": copy,
    "memref.load": copy,
    "memref.memory_space_cast": _view,
    "memref.reinterpret_cast": _view,
    "memref.store": _store_number,
    "memref.subview": _view,
    "memref.transpose": _view,
    "vector.gather": _vector_gather,
    "vector.scatter": _vector_scatter,
}
"""The rule of each operation, by name."""
