"""Elements of memory anywhere: gathers, scatters, pointers, and updates, each of them once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects import memref as upstream
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    DenseArrayBase,
    FixedBitwidthType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.arith.casts import ExtSIOp, IndexCastOp
from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerType,
    pointer_of,
)
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.views import ViewOp
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.memref.access import AtomicYieldOp, GenericAtomicRMWOp, StoreOp
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
    Staged,
    arena,
    bits_of,
    fetch,
    load_number,
    stage,
    to_memory,
    view,
)
from xtile.transforms.distribute_tiles.shapes import broadcast
from xtile.transforms.distribute_tiles.spreads import Spread, strides_of

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


def _gather(operation: GatherLoadOp, distribution: Distribution) -> None:
    if operation.order is not None:
        _atomic_load(operation, distribution)
        return
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


def _scatter(operation: ScatterStoreOp, distribution: Distribution) -> None:
    if operation.order is not None:
        _atomic_store(operation, distribution)
        return
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

    _do(distribution, elements, [value], each)


def _as_stored(distribution: Distribution, number: SSAValue, memory: SSAValue) -> SSAValue:
    """A number as memory has it, whose pointers are no addresses."""
    wanted = cast("MemRefType[Attribute]", memory.type).element_type
    if not isinstance(wanted, PointerType):
        return number
    made = IntegerToPointerOp.create(operands=[number], result_types=[wanted])
    return distribution.emit(made).results[0]


def _for_each(
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


def _do(
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
    spread, make = _for_each(distribution, elements, tiles, [], each)
    with distribution.by_owners(spread):
        make()


# --- atomic updates ---


Update = Callable[[SSAValue, list[SSAValue], list[SSAValue]], SSAValue]
"""Emits an update of an element, from memory, indices and operands; gives what it was."""


def _update(
    distribution: Distribution,
    elements: Elements,
    operands: Sequence[Tile],
    result: SSAValue,
    ordering: Ordering,
    update: Update,
) -> None:
    """Updates each element once, and hands what they were to all who hold the result."""
    element = value_type(result.type)
    count = len(operands)

    def each(values: list[SSAValue]) -> list[SSAValue]:
        own, given = values[:-count], values[-count:]
        memory, indices, condition = elements.where(own)
        zero = distribution.constant(0, element)
        return list(
            distribution.guarded(
                condition, lambda: [update(memory, indices, given)], lambda: [zero]
            )
        )

    with ordered(distribution, ordering):
        if not elements.shape:
            _update_one(distribution, elements, operands, result, each)
        else:
            spread, make = _for_each(distribution, elements, operands, [element], each)
            share(distribution, result, spread, make)


@contextmanager
def ordered(distribution: Distribution, ordering: Ordering) -> Generator[None]:
    """Lets all work-items wait before what releases, and after what acquires."""
    if ordering.releases:
        distribution.barrier()
    yield
    if ordering.acquires:
        distribution.barrier()


def _update_one(
    distribution: Distribution,
    elements: Elements,
    operands: Sequence[Tile],
    result: SSAValue,
    each: Callable[[list[SSAValue]], list[SSAValue]],
) -> None:
    """Updates one element, by the first work-item."""
    numbers = [parts[0] for parts in elements.sources(())]
    numbers += [tile.parts(distribution, ())[0] for tile in operands]
    once_for_all(distribution, result, lambda: each(numbers)[0])


def once_for_all(
    distribution: Distribution, result: SSAValue, make: Callable[[], SSAValue]
) -> None:
    """What the first work-item does; all get the result through local memory if it is used."""
    if result.first_use is None:
        with distribution.once():
            make()
        return
    element = result.type
    distribution.barrier()
    memory = arena(distribution, bits_of(element), 1)
    with distribution.once():
        number = to_memory(distribution, make())
        distribution.store(number, view(distribution, memory, 0, [1], [1]), [0])
    distribution.barrier()
    loaded = load_number(distribution, Staged(memory, element, 0, ()), 0)
    distribution.define(result, loaded)


def share(
    distribution: Distribution, result: SSAValue, spread: Spread, make: Callable[[], Parts]
) -> None:
    """Lets one of those subgroups that hold the same part do something; all get what it gives."""
    if result.first_use is None:
        with distribution.by_owners(spread):
            make()
        return
    owner = distribution.owner_condition(spread)
    if owner is None:
        distribution.held(result, spread, make())
        return
    types = distribution.part_types(result.type, spread)
    made = distribution.choose_all(
        owner, make, lambda: [distribution.constant(0, type_) for type_ in types]
    )
    held = distribution.held(result, spread, made)
    (staged,) = stage(distribution, held)
    shared = fetch(distribution, staged, held.box, strides_of(held.box), spread)
    distribution.held(result, spread, shared)


def _atomic_rmw(operation: AtomicRMWOp, distribution: Distribution) -> None:
    shape = shape_of(operation.value.type)
    elements = Elements(operation, shape, distribution)
    kind, ordering = kind_of(operation.kind), ordering_of(operation)

    def update(memory: SSAValue, indices: list[SSAValue], values: list[SSAValue]) -> SSAValue:
        return rmw(distribution, kind, values[0], memory, indices, ordering)

    value = distribution.tile(operation.value)
    _update(distribution, elements, [value], operation.result, ordering, update)


def rmw(
    distribution: Distribution,
    kind: AtomicRMWKind,
    value: SSAValue,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    ordering: Ordering = RELAXED,
) -> SSAValue:
    """Updates an element atomically; gives what it was."""
    operation = upstream.AtomicRMWOp.build(
        operands=[value, memory, list(indices)],
        result_types=[value.type],
        properties={"kind": IntegerAttr(kind.value, i64)},
        attributes=ordering.attributes,
    )
    return distribution.emit(operation).results[0]


def _compare_and_swap(operation: AtomicCompareAndSwapOp, distribution: Distribution) -> None:
    shape = shape_of(operation.value.type)
    elements = Elements(operation, shape, distribution)
    ordering = ordering_of(operation)

    def update(memory: SSAValue, indices: list[SSAValue], values: list[SSAValue]) -> SSAValue:
        return _swap(distribution, memory, indices, values, ordering)

    tiles = [distribution.tile(operand) for operand in (operation.expected, operation.value)]
    _update(distribution, elements, tiles, operation.result, ordering, update)


def _swap(
    distribution: Distribution,
    memory: SSAValue,
    indices: list[SSAValue],
    values: list[SSAValue],
    ordering: Ordering,
) -> SSAValue:
    """Replaces an element if it has the bits of another one; gives what it was."""
    expected, value = values
    block = Block(arg_types=[value.type])
    with distribution.at_end_of(block):
        found = block.args[0]
        same = _has_bits(distribution, found, expected)
        new = distribution.emit(SelectOp(same, value, found)).result
        distribution.emit(AtomicYieldOp.build(operands=[new]))
    operation = GenericAtomicRMWOp.build(
        operands=[memory, list(indices)],
        result_types=[value.type],
        regions=[Region([block])],
        attributes=ordering.attributes,
    )
    return distribution.emit(operation).results[0]


def _has_bits(distribution: Distribution, a: SSAValue, b: SSAValue) -> SSAValue:
    if isinstance(a.type, AnyFloat):
        bits = IntegerType(cast(FixedBitwidthType, a.type).bitwidth)
        a, b = (distribution.compute(arith.BitcastOp, [each], bits) for each in (a, b))
    return distribution.compare("eq", a, b)


def _atomic_load(operation: GatherLoadOp, distribution: Distribution) -> None:
    """A read that is atomic: the update that changes nothing."""
    shape, element = shape_of(operation.result.type), value_type(operation.result.type)
    elements = Elements(operation, shape, distribution)
    is_float = isinstance(element, AnyFloat)
    kind = AtomicRMWKind.addf if is_float else AtomicRMWKind.ori
    same = distribution.constant(-0.0 if is_float else 0, element)
    ordering = ordering_of(operation)

    def update(memory: SSAValue, indices: list[SSAValue], values: list[SSAValue]) -> SSAValue:
        return rmw(distribution, kind, values[0], memory, indices, ordering)

    tile = Uniform(shape, element, same)
    _update(distribution, elements, [tile], operation.result, ordering, update)
    if operation.mask is not None and operation.padding is not None:
        raise distribution.error("an atomic read under a mask has no padding on a GPU")


def _atomic_store(operation: ScatterStoreOp, distribution: Distribution) -> None:
    """A write that is atomic: an exchange."""
    shape = shape_of(operation.value.type)
    elements = Elements(operation, shape, distribution)
    kind, ordering = AtomicRMWKind.assign, ordering_of(operation)

    def each(values: list[SSAValue]) -> list[SSAValue]:
        *own, number = values
        memory, indices, condition = elements.where(own)
        distribution.guarded(
            condition,
            lambda: [rmw(distribution, kind, number, memory, indices, ordering)],
            lambda: [distribution.constant(0, number.type)],
        )
        return []

    with ordered(distribution, ordering):
        _do(distribution, elements, [distribution.tile(operation.value)], each)


def once(operation: Operation, distribution: Distribution) -> None:
    """An update of one element, by the first work-item."""
    (result,) = operation.results

    def make() -> SSAValue:
        made = again(
            operation,
            distribution.values(operation.operands),
            [result.type],
            regions=distribution.regions(operation),
        )
        return distribution.emit(made).results[0]

    with ordered(distribution, ordering_of(operation)):
        once_for_all(distribution, result, make)


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
    "core.atomic_compare_and_swap": _compare_and_swap,
    "core.atomic_rmw": _atomic_rmw,
    "core.complex_part": _view,
    "core.gather_load": _gather,
    "core.integer_to_pointer": _same_address,
    "core.pointer_add": _pointer_add,
    "core.pointer_cast": _same_address,
    "core.pointer_to_integer": _same_address,
    "core.prefetch": _nothing,
    "core.scatter_store": _scatter,
    "core.view": copy,
    "memref.alloca": _allocate,
    "memref.assume_alignment": _view,
    "memref.atomic_rmw": once,
    "memref.cast": _view,
    "memref.copy": _copy_memory,
    "memref.dim": copy,
    "memref.extract_aligned_pointer_as_index": copy,
    "memref.extract_strided_metadata": _view,
    "memref.generic_atomic_rmw": once,
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
