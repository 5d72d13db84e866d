"""The operations at the points of a tile: loads, stores, atomic updates and control flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.dialects import memref, scf
from xdsl.dialects.arith import AddiOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    MemRefType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Operation, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute, kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.attributes import (
    AtomicKind,
)
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.subgroup import AtomicKindAttr, AtomicUpdateOp
from xtile.dialects.effects import OF_WORK_ITEMS
from xtile.dialects.memory_orders import RELAXED, Ordering, ordering_of
from xtile.dialects.memref.layouts import kept_dimensions
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.emitter import AnyMemRef, element_type, part_view, part_views
from xtile.rewrite.facts import constant_of
from xtile.transforms.predication import branch, loop
from xtile.transforms.tile_linalg import memory as blocks
from xtile.transforms.tile_linalg import tiles
from xtile.transforms.tile_linalg.copying import copy, not_lifted
from xtile.transforms.tile_linalg.foreach.accesses import (
    Block,
    Elements,
    block_of,
    elements_of,
    whole,
)
from xtile.transforms.tile_linalg.foreach.elementwise import elementwise
from xtile.transforms.tile_linalg.foreach.trip import MovingView, Position, Trip
from xtile.transforms.tile_linalg.tiles import Tile


def _load(operation: memref.LoadOp, trip: Trip) -> None:
    """A load is a read of a block where the points' elements are one, and else a gather."""
    kernel, (source, *indices) = trip.kernel, operation.operands
    if not trip.is_varying(operation.res):
        copy(operation, kernel)
        return
    if isinstance(operation.res.type, MemRefType):
        raise kernel.error(_DIFFERS)
    memory, positions = _accessed(trip, source, indices)
    block = block_of(trip, memory, positions)
    axes = [] if block is None else sorted(block.axes)
    if block is None or (trip.mask is not None and len(axes) < len(trip.shape)):
        trip.define(operation.res, _gather(trip, elements_of(trip, memory, positions)))
        return
    order = block.order
    tile = blocks.read(
        kernel,
        block.memory,
        [block.indices[dimension] for dimension in order],
        [trip.shape[axis] for axis in axes],
        [block.is_inside[dimension] for dimension in order],
        order,
        _mask_in_memory(trip, block),
    )
    trip.define(operation.res, whole(trip, tile, axes))


def _mask_in_memory(trip: Trip, block: Block) -> SSAValue | None:
    """The mask of a block with all axes, in the order of memory's dimensions."""
    mask = trip.mask
    if mask is None:
        return None
    dropped = [axis for axis in range(len(trip.shape)) if axis not in block.axes]
    kept = [axis for axis in range(len(trip.shape)) if axis in block.axes]
    if dropped:
        mask = tiles.reshaped(trip.kernel, mask, [trip.shape[axis] for axis in kept])
    return tiles.transposed(trip.kernel, mask, [kept.index(axis) for axis in block.axes]).parts[0]


def _gather(trip: Trip, elements: Elements) -> Tile:
    kernel, element = trip.kernel, element_type(elements.memory)
    part = tiles.part_of(element)
    type_ = VectorType(part, trip.shape)
    nothing = tiles.constant(kernel, 0, part, trip.shape)
    parts = [
        kernel.emit(
            GatherOp.build(
                operands=[view, elements.indices, elements.positions, _mask(trip), nothing],
                result_types=[type_],
            )
        ).result
        for view in part_views(kernel, elements.memory)
    ]
    return Tile(tuple(parts), element, trip.shape)


def _mask(trip: Trip) -> SSAValue:
    (mask,) = (trip.executing() or trip.number(1, i1)).parts
    return mask


def _store(operation: memref.StoreOp, trip: Trip) -> None:
    """A store is a write of a block where the points' elements are one, and else a scatter."""
    kernel, (value, target, *indices) = trip.kernel, operation.operands
    if trip.mask is None and not any(map(trip.is_varying, operation.operands)):
        copy(operation, kernel)
        return
    memory, positions = _accessed(trip, target, indices)
    tile = tiles.complete(kernel, trip.wide(value))
    block = block_of(trip, memory, positions)
    if block is None or not _has_all_axes(trip, block):
        _scatter(trip, tile, elements_of(trip, memory, positions))
        return
    order, axes = block.order, sorted(block.axes)
    tile = tiles.reshaped(kernel, tile, [trip.shape[axis] for axis in axes])
    blocks.write(
        kernel,
        tile,
        block.memory,
        [block.indices[dimension] for dimension in order],
        [block.is_inside[dimension] for dimension in order],
        order,
        _mask_in_memory(trip, block),
    )


_DIFFERS = "memory that differs between the points of foreach is not lifted to tiles yet"


def _accessed(
    trip: Trip, memory: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, list[Position]]:
    """The memory that is accessed, and where; views that move with the points are part of that."""
    positions = [trip.position(index) for index in indices]
    if not trip.is_varying(memory):
        return trip.kernel.value(memory), positions
    view = trip.views.get(memory)
    if view is None:
        raise trip.kernel.error(_DIFFERS)
    result = list(view.offsets)
    for dimension, position in zip(view.kept, positions, strict=True):
        result[dimension] = trip.sum(result[dimension], position)
    return view.memory, result


def _subview(operation: memref.SubviewOp, trip: Trip) -> None:
    """A view that differs between points moves where it is accessed."""
    if not trip.is_varying(operation.result):
        copy(operation, trip.kernel)
        return
    static_sizes: Sequence[int] = operation.static_sizes.get_values()
    if any(stride != 1 for stride in operation.static_strides.get_values()):
        raise trip.kernel.error(_DIFFERS)
    offsets = _mixed(trip, operation.static_offsets.get_values(), operation.offsets)
    sizes = _mixed(trip, static_sizes, operation.sizes)
    type_: AnyMemRef = operation.result.type
    shape = type_.get_shape()
    kept = kept_dimensions(static_sizes, shape)
    source = trip.views.get(operation.source)
    if source is None:
        memory, _ = _accessed(trip, operation.source, [])
    else:
        memory, inner = source.memory, list(source.offsets)
        for dimension, offset in zip(source.kept, offsets, strict=True):
            inner[dimension] = trip.sum(inner[dimension], offset)
        offsets = inner
    positions = kept if source is None else [source.kept[d] for d in kept]
    view = MovingView(memory, offsets, [sizes[dimension] for dimension in kept], positions)
    trip.views[operation.result] = view


def _mixed(trip: Trip, static: Sequence[int], dynamic: Sequence[SSAValue]) -> list[Position]:
    """Numbers of which some are known and the others are operands."""
    given = iter(dynamic)
    return [trip.position(next(given)) if n == DYNAMIC_INDEX else n for n in static]


def _complex_part(operation: ComplexPartOp, trip: Trip) -> None:
    """The parts of numbers in a view that may differ between points."""
    view = trip.views.get(operation.source)
    if view is None:
        copy(operation, trip.kernel)
        return
    parts = part_view(trip.kernel, view.memory, operation.part.data)
    trip.views[operation.result] = replace(view, memory=parts)


def _size(operation: memref.DimOp, trip: Trip) -> None:
    """The size of a view that may differ between points."""
    view, dimension = trip.views.get(operation.source), constant_of(operation.index)
    if view is None:
        elementwise(operation, trip)
        return
    if dimension is None:
        raise trip.kernel.error(_DIFFERS)
    vector = trip.vector_of(view.sizes[dimension])
    trip.define(operation.result, Tile((vector,), IndexType(), trip.shape))


def _has_all_axes(trip: Trip, block: Block) -> bool:
    """Whether each point has an element of its own."""
    return all(axis in block.axes or span.size == 1 for axis, span in enumerate(trip.spans))


def _scatter(trip: Trip, tile: Tile, elements: Elements) -> None:
    kernel = trip.kernel
    views = part_views(kernel, elements.memory)
    for part, view in zip(tile.parts, views, strict=True):
        kernel.emit(
            ScatterOp.build(
                operands=[view, elements.indices, elements.positions, _mask(trip), part],
                result_types=[[]],
            )
        )


def _atomic_rmw(operation: memref.AtomicRMWOp, trip: Trip) -> None:
    """An atomic update of one element at each point."""
    kind = kind_of(operation.kind)
    if kind.name not in [known.value for known in AtomicKind]:
        raise trip.kernel.error("this atomic update is not lifted to tiles yet")
    _update(operation, trip, AtomicKind(kind.name))


def _atomic_update(operation: AtomicUpdateOp, trip: Trip) -> None:
    """The same of numbers that upstream's operation does not take."""
    if isinstance(operation.value.type, VectorType):
        raise trip.kernel.error("an atomic update of a matrix is not lifted to tiles yet")
    _update(operation, trip, operation.kind.data)


def _update(operation: memref.AtomicRMWOp | AtomicUpdateOp, trip: Trip, kind: AtomicKind) -> None:
    kernel, ordering = trip.kernel, ordering_of(operation)
    value, target, *indices = operation.operands
    memory, positions = _accessed(trip, target, indices)
    tile = tiles.complete(kernel, trip.wide(value))
    is_plain = trip.mask is None and ordering == RELAXED
    block = block_of(trip, memory, positions) if is_plain else None
    if block is None or not _has_all_axes(trip, block):
        elements = elements_of(trip, memory, positions)
        old = _scatter_atomically(trip, kind, tile, elements, ordering)
    else:
        old = _update_block(trip, kind, tile, block)
    trip.define(operation.result, old)


def _scatter_atomically(
    trip: Trip, kind: AtomicKind, tile: Tile, elements: Elements, ordering: Ordering
) -> Tile:
    kernel = trip.kernel
    views = part_views(kernel, elements.memory)
    *common, last = elements.indices
    positions = elements.positions
    if constant_of(last) != 0:
        positions = kernel.emit(AddiOp(trip.vector_of(last), positions)).result
    parts = [
        kernel.emit(
            AtomicRMWOp.build(
                operands=[part, view, [*common, positions], [_mask(trip)]],
                result_types=[part.type],
                properties={
                    "kind": kind_attribute(AtomicRMWKind[kind.value]),
                    **ordering.properties,
                },
            )
        ).result
        for part, view in zip(tile.parts, views, strict=True)
    ]
    return Tile(tuple(parts), tile.element, trip.shape)


def _update_block(trip: Trip, kind: AtomicKind, tile: Tile, block: Block) -> Tile:
    kernel, axes = trip.kernel, sorted(block.axes)
    tile = tiles.reshaped(kernel, tile, [trip.shape[axis] for axis in axes])
    tile = tiles.transposed(kernel, tile, [axes.index(axis) for axis in block.axes])
    checked = [i for i, inside in enumerate(block.is_inside) if not inside]
    at = [kernel.as_value(index) for index in block.indices]
    parts: list[SSAValue] = []
    for part, view in zip(tile.parts, part_views(kernel, block.memory), strict=True):
        operation = AtomicUpdateOp.build(
            operands=[part, view, at],
            result_types=[part.type],
            properties={
                "kind": AtomicKindAttr(kind),
                "checked": DenseArrayBase.from_list(i64, checked),
            },
        )
        parts.append(kernel.emit(operation).result)
    old = Tile(tuple(parts), tile.element, tile.shape)
    old = tiles.transposed(kernel, old, block.order)
    return tiles.reshaped(kernel, old, trip.shape)


def use_rules(trip: Trip) -> None:
    """Says what translates an operation at the points of a tile."""
    trip.use(_apply)


def _apply(operation: Operation, trip: Trip) -> None:
    if operation.name in OF_WORK_ITEMS:
        raise trip.kernel.error(not_lifted(operation))
    _RULES.get(operation.name, elementwise)(operation, trip)


_RULES: Mapping[str, Callable[..., None]] = {
    ComplexPartOp.name: _complex_part,
    AtomicUpdateOp.name: _atomic_update,
    memref.AtomicRMWOp.name: _atomic_rmw,
    memref.DimOp.name: _size,
    memref.LoadOp.name: _load,
    memref.StoreOp.name: _store,
    memref.SubviewOp.name: _subview,
    scf.ForOp.name: loop,
    scf.IfOp.name: branch,
}
"""The rule of each operation that is not elementwise, by its name."""
