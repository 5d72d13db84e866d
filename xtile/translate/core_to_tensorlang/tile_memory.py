"""Tiles in memory: transfers, gathers, scatters, atomic updates, and pointers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, BoolAttr, IntegerAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core import atomics, scattered, subgroup, views
from xtile.dialects.core import pointers as core_pointers
from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.views import UNKNOWN_EXTENT
from xtile.dialects.effects import changes_memory
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.tensorlang.types import BOOL, I8, INDEX
from xtile.dialects.walk import walk
from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import Index
from xtile.rewrite.memref_layouts import number_lists
from xtile.rewrite.rebuilder import Rule
from xtile.text.source import spelling_of
from xtile.translate.core_to_tensorlang import memory as accesses
from xtile.translate.core_to_tensorlang.arithmetic import compare
from xtile.translate.core_to_tensorlang.lowering import Lowering, refuse_because
from xtile.translate.core_to_tensorlang.memory import (
    Memory,
    Modifiers,
    Pointer,
    Root,
    modifiers,
    said_modifiers,
)
from xtile.translate.core_to_tensorlang.tiles import (
    Position,
    Tile,
    all_of,
    define,
    for_each,
    in_memory,
    merged,
    new_memory,
    record,
    stored,
    tile_of,
)
from xtile.translate.core_to_tensorlang.types import shape_of
from xtile.translate.core_to_tensorlang.views import memory_of, update

Access = Callable[[Position], Sequence[Index]]
"""The indices in memory of the element at a position."""

# --- when memory is read ---


def _read(r: Lowering, old: SSAValue, tile: Tile) -> None:
    """Reads a tile from memory: now, unless memory certainly stays what it is until it is used."""
    if not shape_of(old.type):
        r.define(old, tile.at(r, ()))
    else:
        record(r, old, tile if _is_unchanged(old) else stored(r, tile, old.name_hint))


def _is_unchanged(value: SSAValue) -> bool:
    """Whether nothing is written between an operation and those that use what it gives.

    Only products and reductions count, which read it once; anything else may be put off itself.
    """
    operation = value.owner
    assert isinstance(operation, Operation)
    uses = [use.operation for use in value.uses]
    if len(uses) != 1 or uses[0].name not in _READERS or uses[0].parent is not operation.parent:
        return False
    between = operation.next_op
    while between is not None and between is not uses[0]:
        if any(changes_memory(each) for each in walk(between)):
            return False
        between = between.next_op
    return True


_READERS = frozenset({"core.reduce", "core.scan", "vector.contract", "vector.multi_reduction"})


def _of_memory(
    r: Lowering,
    memory: Memory,
    shape: Sequence[int],
    indices: Access,
    condition: Callable[[Position], SSAValue | None],
    padding: Tile | None,
) -> Tile:
    """The elements of memory at some indices, and padding where a condition does not hold."""

    def at(r: Lowering, position: Position) -> SSAValue:
        allowed = condition(position)

        def load() -> SSAValue:
            return accesses.load(r, memory, indices(position))

        if allowed is None:
            return load()

        return r.choose(allowed, load, lambda: _padding(r, padding, memory, position))

    return Tile(tuple(shape), memory.element, at, 4)


def _numbers(r: Lowering, old: Sequence[SSAValue]) -> list[Index]:
    """Indices of the source, as numbers where they are known."""
    numbers: list[Index] = []
    for each in old:
        known = constant_of(each)
        numbers.append(r.value(each) if known is None else known)
    return numbers


# --- transfers ---


def _in_bounds(operation: Operation) -> list[bool]:
    given = cast("ArrayAttr[Attribute]", operation.properties["in_bounds"])
    return [bool(cast("BoolAttr", each).value.data) for each in given]


def _checked_sizes(
    operation: Operation, r: Lowering, map_: AffineMap, memory: Memory
) -> list[Index | None]:
    """The sizes of the dimensions of memory along which a transfer is checked."""
    sizes: list[Index | None] = [None] * memory.rank
    for result, inside in zip(map_.results, _in_bounds(operation), strict=True):
        if isinstance(result, AffineDimExpr):
            if not inside and result.position not in memory.unknown:
                sizes[result.position] = memory.sizes(r)[result.position]
        elif not isinstance(result, AffineConstantExpr):
            raise r.error(f"a transfer along {result} cannot be translated")
    return sizes


def _transferred(
    operation: Operation,
    r: Lowering,
    memory: Memory,
    first: Sequence[Index],
    mask: SSAValue | None,
) -> tuple[Access, Callable[[Position], SSAValue | None]]:
    """The indices of a transfer's elements, and where there are any."""
    map_ = cast("AffineMapAttr", operation.properties["permutation_map"]).data
    of_mask = None if mask is None else tile_of(r, mask)
    sizes = _checked_sizes(operation, r, map_, memory)
    dimensions = [each.position if isinstance(each, AffineDimExpr) else -1 for each in map_.results]

    def indices(position: Position) -> list[Index]:
        at = [*first]
        for dimension, index in zip(dimensions, position, strict=True):
            if dimension >= 0:
                at[dimension] = r.add(at[dimension], index)
        return at

    def condition(position: Position) -> SSAValue | None:
        conditions: list[SSAValue] = []
        for index, size in zip(indices(position), sizes, strict=True):
            if size is not None:
                conditions += _inside(r, index, size)
        if of_mask is not None:
            # A mask has the dimensions of memory, in their order.
            order = sorted(range(len(dimensions)), key=lambda i: dimensions[i])
            used = [i for i in order if dimensions[i] >= 0]
            conditions.append(of_mask.at(r, tuple(position[i] for i in used)))
        return all_of(r, conditions) if conditions else None

    return indices, condition


def _inside(r: Lowering, index: Index, size: Index) -> list[SSAValue]:
    """Whether an index is one of a dimension."""
    value = r.as_value(index)
    is_below = compare(r, "slt", value, r.as_value(size))
    if value in r.counted:
        return [is_below]
    return [compare(r, "sge", value, r.index(0)), is_below]


def _transfer_read(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    memory, result = memory_of(r, memref), operation.results[0]
    rank = memory.rank
    first, padding = _numbers(r, rest[:rank]), tile_of(r, rest[rank])
    mask = rest[rank + 1] if len(rest) > rank + 1 else None
    indices, condition = _transferred(operation, r, memory, first, mask)
    _read(
        r,
        result,
        _of_memory(r, memory, shape_of(result.type), indices, condition, padding),
    )


def _transfer_write(operation: Operation, r: Lowering) -> None:
    vector, memref, *rest = operation.operands
    memory, tile = memory_of(r, memref), tile_of(r, vector)
    rank = memory.rank
    mask = rest[rank] if len(rest) > rank else None
    indices, condition = _transferred(operation, r, memory, _numbers(r, rest[:rank]), mask)
    write(r, tile, memory, indices, condition)


def write(
    r: Lowering,
    tile: Tile,
    memory: Memory,
    indices: Access,
    condition: Callable[[Position], SSAValue | None],
) -> None:
    """Stores the elements of a tile where a condition holds."""

    def body(position: Position) -> None:
        allowed = condition(position)

        def store() -> Sequence[SSAValue]:
            accesses.store(r, tile.at(r, position), memory, indices(position))
            return ()

        if allowed is None:
            store()
        else:
            r.if_(allowed, store)

    for_each(r, tile.shape, body)


def _vector_load(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    memory, result = memory_of(r, memref), operation.results[0]
    first, shape = _numbers(r, rest), shape_of(result.type)
    _read(r, result, _of_memory(r, memory, shape, _behind(r, first), _always, None))


def _behind(r: Lowering, first: Sequence[Index]) -> Access:
    def indices(position: Position) -> list[Index]:
        lead = len(first) - len(position)
        return [*first[:lead], *map(r.add, first[lead:], position)]

    return indices


def _always(position: Position) -> None:
    return None


def _vector_store(operation: Operation, r: Lowering) -> None:
    vector, memref, *rest = operation.operands
    memory, tile = memory_of(r, memref), tile_of(r, vector)
    write(r, tile, memory, _behind(r, _numbers(r, rest)), _always)


def _masked_load(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    memory, result = memory_of(r, memref), operation.results[0]
    first, (mask, passed) = r.values(rest[: memory.rank]), rest[memory.rank :]
    where, padding = tile_of(r, mask), tile_of(r, passed)
    shape = shape_of(result.type)
    tile = _of_memory(r, memory, shape, _behind(r, first), lambda at: where.at(r, at), padding)
    _read(r, result, tile)


def _masked_store(operation: Operation, r: Lowering) -> None:
    memref, *rest = operation.operands
    memory = memory_of(r, memref)
    first, (mask, value) = r.values(rest[: memory.rank]), rest[memory.rank :]
    where = tile_of(r, mask)
    write(r, tile_of(r, value), memory, _behind(r, first), lambda at: where.at(r, at))


# --- elements anywhere ---


def _scattered(r: Lowering, memory: SSAValue, indices: Sequence[SSAValue]) -> tuple[Memory, Access]:
    """The memory that elements anywhere are in, and their indices."""
    pointer = pointer_of(memory.type)
    if pointer is None:
        tiles = [tile_of(r, index) for index in indices]
        return memory_of(r, memory), lambda at: [_spread(r, tile, at) for tile in tiles]
    tile = tile_of(r, memory)
    assert tile.root is not None
    flat = _flat(r, tile.root, pointer.pointee_type)
    return flat, lambda at: [tile.at(r, at if tile.shape else ())]


def _spread(r: Lowering, tile: Tile, position: Position) -> Index:
    if not tile.shape:
        return r.cast(tile.at(r, ()), INDEX)
    at = tuple(0 if size == 1 else i for size, i in zip(tile.shape, position, strict=True))
    return r.cast(tile.at(r, at), INDEX)


def _flat(r: Lowering, root: Root, element: Attribute) -> Memory:
    """All memory behind a root, as elements of a type."""
    if element != root.element:
        if {element, root.element} != {BOOL, I8}:
            raise r.error(
                f"the tensor language does not take memory of {root.element} for memory of "
                f"{element}"
            )
        root = Root(root.memref, element)
    flat = root.flat(r)
    return Memory(root, lambda r: 0, lambda r: (0,), (1,), flat, frozenset({0}))


def _condition(r: Lowering, mask: SSAValue | None) -> Callable[[Position], SSAValue | None]:
    if mask is None:
        return _always
    tile = tile_of(r, mask)
    return lambda at: tile.at(r, at if tile.shape else ())


def _gather_load(operation: scattered.GatherLoadOp, r: Lowering) -> None:
    memory, indices = _scattered(r, operation.memory, operation.indices)
    result = operation.result
    padding = None if operation.padding is None else tile_of(r, operation.padding)
    condition = _condition(r, operation.mask)
    if operation.order is None:
        _read(r, result, _of_memory(r, memory, shape_of(result.type), indices, condition, padding))
        return
    _check_element(r, memory.element)
    _atomically(
        r,
        result,
        shape_of(result.type),
        memory,
        indices,
        condition,
        AtomicRMWKind.ori,
        None,
        modifiers(ordering_of(operation)),
        padding,
    )


def _scatter_store(operation: scattered.ScatterStoreOp, r: Lowering) -> None:
    memory, indices = _scattered(r, operation.memory, operation.indices)
    tile = tile_of(r, operation.value)
    condition = _condition(r, operation.mask)
    if operation.order is None:
        write(r, tile, memory, indices, condition)
        return
    _check_element(r, memory.element)
    _atomically(
        r,
        None,
        tile.shape,
        memory,
        indices,
        condition,
        AtomicRMWKind.assign,
        tile,
        modifiers(ordering_of(operation)),
    )


def _check_element(r: Lowering, element: Attribute) -> None:
    if element == BOOL:
        raise r.error("the tensor language has no atomic accesses of truth values")


def _vector_gather(operation: Operation, r: Lowering) -> None:
    base, *rest = operation.operands
    memory, result = memory_of(r, base), operation.results[0]
    first, (numbers, mask, passed) = r.values(rest[: memory.rank]), rest[memory.rank :]
    positions, padding = tile_of(r, numbers), tile_of(r, passed)

    def indices(at: Position) -> list[Index]:
        last = r.cast(positions.at(r, at), INDEX)
        return [*first[:-1], r.add(first[-1], last)]

    tile = _of_memory(r, memory, shape_of(result.type), indices, _condition(r, mask), padding)
    _read(r, result, tile)


def _vector_scatter(operation: Operation, r: Lowering) -> None:
    base, *rest = operation.operands
    memory = memory_of(r, base)
    first, (numbers, mask, value) = r.values(rest[: memory.rank]), rest[memory.rank :]
    positions = tile_of(r, numbers)

    def indices(at: Position) -> list[Index]:
        last = r.cast(positions.at(r, at), INDEX)
        return [*first[:-1], r.add(first[-1], last)]

    write(r, tile_of(r, value), memory, indices, _condition(r, mask))


# --- atomic updates ---


def _padding(r: Lowering, padding: Tile | None, memory: Memory, position: Position) -> SSAValue:
    """What an element is that is left out."""
    if padding is None:
        return r.constant(0, memory.element)
    return padding.at(r, position if padding.shape else ())


def _atomically(
    r: Lowering,
    result: SSAValue | None,
    shape: Sequence[int],
    memory: Memory,
    indices: Access,
    condition: Callable[[Position], SSAValue | None],
    kind: AtomicRMWKind,
    value: Tile | None,
    said: Modifiers,
    padding: Tile | None = None,
) -> None:
    """Updates elements, each at once; without a value they are only read."""
    is_used = result is not None and result.first_use is not None
    buffer = None
    if is_used:
        assert result is not None
        buffer = new_memory(r, shape, memory.element, result.name_hint)

    def body(position: Position) -> None:
        def one() -> Sequence[SSAValue]:
            number = None if value is None else value.at(r, position if value.shape else ())
            old = update(
                r,
                kind,
                r.constant(0, memory.element) if number is None else number,
                accesses.address(r, memory, indices(position)),
                is_used=is_used,
                neutral=value is None,
                said=said,
            )
            if old is not None and buffer is not None:
                accesses.store(r, old, buffer, position)
            return ()

        def other() -> Sequence[SSAValue]:
            assert buffer is not None
            accesses.store(r, _padding(r, padding, memory, position), buffer, position)
            return ()

        allowed = condition(position)
        if allowed is None:
            one()
        else:
            r.if_(allowed, one, other if buffer is not None else None)

    for_each(r, shape, body)
    if buffer is not None and result is not None:
        tile = in_memory(buffer, shape)
        if shape:
            record(r, result, tile)
        else:
            r.define(result, tile.at(r, ()))


def _atomic_rmw(operation: atomics.AtomicRMWOp, r: Lowering) -> None:
    memory, indices = _scattered(r, operation.memory, operation.indices)
    kind = AtomicRMWKind(cast("IntegerAttr[Any]", operation.kind).value.data)
    _check_element(r, memory.element)
    tile = tile_of(r, operation.value)
    _atomically(
        r,
        operation.result,
        tile.shape,
        memory,
        indices,
        _condition(r, operation.mask),
        kind,
        tile,
        modifiers(ordering_of(operation)),
    )


def _atomic_update(operation: subgroup.AtomicUpdateOp, r: Lowering) -> None:
    memory, tile = memory_of(r, operation.memory), tile_of(r, operation.value)
    first = r.values(operation.indices)
    checked = [int(each) for each in cast(Any, operation.checked).get_values()]
    sizes = memory.sizes(r)
    is_transposed = operation.transpose is not None

    def indices(position: Position) -> list[Index]:
        at = position[::-1] if is_transposed else position
        return [*map(r.add, first, at)] if tile.shape else [*first]

    def condition(position: Position) -> SSAValue | None:
        at = indices(position)
        conditions = [each for i in checked for each in _inside(r, at[i], sizes[i])]
        return all_of(r, conditions) if conditions else None

    kind, said = AtomicRMWKind[operation.kind.data.value], said_modifiers(operation)
    _atomically(r, operation.result, tile.shape, memory, indices, condition, kind, tile, said)


# --- pointers ---


def _pointer_add(operation: core_pointers.PointerAddOp, r: Lowering) -> None:
    pointer, offset = operation.operands
    result = operation.results[0]
    base, more = tile_of(r, pointer), tile_of(r, offset)
    assert base.root is not None
    root = base.root

    def at(r: Lowering, position: Position) -> SSAValue:
        first = base.at(r, position if base.shape else ())
        rest = r.cast(more.at(r, position if more.shape else ()), INDEX)
        return r.as_value(r.add(first, rest))

    cost = base.cost + more.cost + 1
    reads = merged([base, more], is_same=True)
    define(r, result, Tile(shape_of(result.type), INDEX, at, cost, root=root, reads=reads))


def _pointer_cast(operation: Operation, r: Lowering) -> None:
    """The memory is what it is; what does not fit is refused where it is accessed."""
    r.define(operation.results[0], r.meaning(operation.operands[0]))


def _pointer_to_integer(operation: Operation, r: Lowering) -> None:
    raise r.error(
        f"{spelling_of(operation)} cannot be translated: the tensor language has no addresses"
    )


def _view(operation: views.ViewOp, r: Lowering) -> None:
    pointer = r.meaning(operation.pointer)
    assert isinstance(pointer, Pointer)
    sizes_given = [int(each) for each in operation.static_sizes.get_values()]
    numbers = r.values(operation.operands[1:])
    (first,), sizes, strides = number_lists(operation, numbers, "offsets", "sizes", "strides")
    element = pointer_of(operation.pointer.type)
    assert element is not None
    root = _flat(r, pointer.root, element.pointee_type).root
    offset = r.add(pointer.offset, first)
    unknown = frozenset(i for i, size in enumerate(sizes_given) if size == UNKNOWN_EXTENT)
    r.define(
        operation.result,
        Memory(root, lambda r: offset, lambda r: tuple(sizes), tuple(strides), None, unknown),
    )


RULES: dict[str, Rule] = {
    "core.atomic_compare_and_swap": refuse_because(
        "the tensor language does not compare and swap; it adds, and has maxima and minima"
    ),
    "core.atomic_rmw": _atomic_rmw,
    "core.atomic_update": _atomic_update,
    "core.gather_load": _gather_load,
    "core.integer_to_pointer": refuse_because("the tensor language has no addresses"),
    "core.pointer_add": _pointer_add,
    "core.pointer_cast": _pointer_cast,
    "core.pointer_to_integer": _pointer_to_integer,
    "core.print": refuse_because("the tensor language does not print"),
    "core.scatter_store": _scatter_store,
    "core.view": _view,
    "vector.gather": _vector_gather,
    "vector.load": _vector_load,
    "vector.maskedload": _masked_load,
    "vector.maskedstore": _masked_store,
    "vector.scatter": _vector_scatter,
    "vector.store": _vector_store,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
}
"""The rule of each operation, by name."""
