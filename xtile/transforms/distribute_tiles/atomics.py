"""Atomic accesses of memory: of elements anywhere and of boxes, each element once."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects import memref as upstream
from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    IntegerAttr,
    IntegerType,
    i64,
)
from xdsl.ir import Block, Operation, Region, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.memref.access import AtomicYieldOp, GenericAtomicRMWOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule, again
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.distribution import (
    Distribution,
    Parts,
    Tile,
    Uniform,
)
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.exchange import (
    Staged,
    arena,
    bits_of,
    fetch,
    load_number,
    stage,
    to_memory,
    view,
)
from xtile.transforms.distribute_tiles.points import Elements, do_each, for_each, gather, scatter
from xtile.transforms.distribute_tiles.spreads import Spread, strides_of
from xtile.transforms.distribute_tiles.transfers import condition_of, indices_of, whole

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

    with _ordered(distribution, ordering):
        if not elements.shape:
            _update_one(distribution, elements, operands, result, each)
        else:
            spread, make = for_each(distribution, elements, operands, [element], each)
            _share(distribution, result, spread, make)


@contextmanager
def _ordered(distribution: Distribution, ordering: Ordering) -> Generator[None]:
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
    _once_for_all(distribution, result, lambda: each(numbers)[0])


def _once_for_all(
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


def _share(
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

    with _ordered(distribution, ordering):
        do_each(distribution, elements, [distribution.tile(operation.value)], each)


def _once(operation: Operation, distribution: Distribution) -> None:
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

    with _ordered(distribution, ordering_of(operation)):
        _once_for_all(distribution, result, make)


def _gather(operation: GatherLoadOp, distribution: Distribution) -> None:
    (gather if operation.order is None else _atomic_load)(operation, distribution)


def _scatter(operation: ScatterStoreOp, distribution: Distribution) -> None:
    (scatter if operation.order is None else _atomic_store)(operation, distribution)


# --- boxes ---


def _update_box(operation: AtomicUpdateOp, distribution: Distribution) -> None:
    shape = shape_of(operation.value.type)
    if not shape:
        _once(operation, distribution)
        return
    access = whole(distribution, operation.memory, operation.indices, operation.value)
    checked = operation.checked.get_values()
    axes = access.axes[::-1] if operation.transpose is not None else access.axes
    access = replace(access, axes=axes, inside=tuple(axis not in checked for axis in axes))
    tile = distribution.tile(operation.value)
    spread = distribution.preferred(tile)
    kind = AtomicRMWKind[str(operation.kind.data)]
    zero, ordering = distribution.constant(0, tile.element), ordering_of(operation)

    def update(at: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        condition = condition_of(distribution, access, at)
        indices = [distribution.as_value(index) for index in indices_of(access, distribution, at)]
        return distribution.guarded(
            condition,
            lambda: [rmw(distribution, kind, values[0], access.memory, indices, ordering)],
            lambda: [zero],
        )

    parts = tile.parts(distribution, spread)

    def make() -> Parts:
        elements = [tile.element]
        return each_element(distribution, shape, tile.box, spread, [parts], elements, update)[0]

    with _ordered(distribution, ordering):
        _share(distribution, operation.result, spread, make)


RULES: dict[str, Rule] = {
    "core.atomic_compare_and_swap": _compare_and_swap,
    "core.atomic_rmw": _atomic_rmw,
    "core.atomic_update": _update_box,
    "core.gather_load": _gather,
    "core.scatter_store": _scatter,
    "memref.atomic_rmw": _once,
    "memref.generic_atomic_rmw": _once,
}
"""The rule of each operation, by name."""
