"""What becomes of each operation on local memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.vector import TransferReadOp, TransferWriteOp

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.rewrite.emitter import AnyMemRef
from xtile.rewrite.facts import constant_of
from xtile.rewrite.memref_layouts import kept_dimensions, layout_of, number_lists
from xtile.rewrite.rebuilder import copy
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.transforms.local_tiles import control_flow
from xtile.transforms.local_tiles.accesses import (
    Access,
    View,
    access_at,
    access_of,
    access_of_box,
    access_of_transfer,
    indices_in,
)
from xtile.transforms.local_tiles.tiles import Promotion


def _alloca(operation: memref.AllocaOp, promotion: Promotion) -> None:
    if operation.memref not in promotion.memories:
        copy(operation, promotion)
        return
    type_: AnyMemRef = operation.memref.type
    # A number is a tile of one.
    shape = type_.get_shape() or (1,)
    whole = promotion.shapes.get(operation.memref, shape)
    tile = promotion.constant(0, with_shape(type_.element_type, whole))
    promotion.held[operation.memref] = tile
    rank = type_.get_num_dims()
    promotion.views[operation.memref] = View(
        operation.memref, (0,) * len(shape), tuple(range(rank)), (1,) * rank, tuple(shape[:rank])
    )


def _subview(operation: memref.SubviewOp, promotion: Promotion) -> None:
    source = promotion.view_of(operation.source)
    if source is None:
        copy(operation, promotion)
        return
    operands = promotion.values((*operation.offsets, *operation.sizes, *operation.strides))
    offsets, sizes, _ = number_lists(operation, operands, "offsets", "sizes", "strides")
    moved = list(source.offsets)
    for offset, dimension, factor in zip(offsets, source.kept, source.factors, strict=True):
        moved[dimension] = promotion.add(moved[dimension], promotion.multiply(offset, factor))
    kept = kept_dimensions(operation)
    promotion.views[operation.result] = replace(
        source,
        offsets=tuple(moved),
        kept=tuple(source.kept[d] for d in kept),
        factors=tuple(source.factors[d] for d in kept),
        sizes=tuple(sizes[d] for d in kept),
    )


def _reinterpret(operation: memref.ReinterpretCastOp, promotion: Promotion) -> None:
    """A view with other dimensions, each of which counts along one of the memory."""
    source = promotion.view_of(operation.source)
    if source is None:
        copy(operation, promotion)
        return
    operands = promotion.values((*operation.offsets, *operation.sizes))
    (offset,), sizes = number_lists(operation, operands, "offsets", "sizes")
    layout = layout_of(cast("AnyMemRef", source.memory.type))
    lengths = [length or 1 for length in layout.strides] or [1]
    kept, factors = list[int](), list[int]()
    for stride in operation.static_strides.get_values():
        # The outermost dimension that the stride is a multiple of; the last one's is 1.
        kept.append(next(d for d, length in enumerate(lengths) if stride % length == 0))
        factors.append(stride // lengths[kept[-1]])
    ends = [0] * len(lengths)
    for size, dimension, factor in zip(sizes, kept, factors, strict=True):
        ends[dimension] += (size - 1) * factor if isinstance(size, int) else lengths[0]
    rows = [outer // inner for outer, inner in pairwise(lengths)]
    wraps = offset != 0 or any(end >= row for end, row in zip(ends[1:], rows, strict=True))
    if wraps:
        promotion.costly |= {source.memory}
    promotion.views[operation.result] = View(
        source.memory,
        (0,) * (len(lengths) - 1) + (offset,),
        tuple(kept),
        tuple(factors),
        tuple(sizes),
        wraps,
    )


def _size(operation: memref.DimOp, promotion: Promotion) -> None:
    view, dimension = promotion.view_of(operation.source), constant_of(operation.index)
    if view is None or dimension is None:
        copy(operation, promotion)
    else:
        promotion.define(operation.result, promotion.as_value(view.sizes[dimension]))


def _read(operation: TransferReadOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.source)
    if view is None:
        copy(operation, promotion)
        return
    shape = shape_of(operation.result.type)
    access = access_of_transfer(operation, promotion, view, shape)
    value = promotion.read(access)
    if access.mask is not None:
        padding = promotion.spread(promotion.value(operation.padding), shape)
        value = promotion.selected(access.mask, value, padding)
    promotion.define(operation.result, value)


def _write(operation: TransferWriteOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.source)
    if view is None:
        copy(operation, promotion)
        return
    value = promotion.value(operation.vector)
    access = access_of_transfer(operation, promotion, view, shape_of(value.type))
    promotion.write(access, value)


def _gather(operation: GatherLoadOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    shape = shape_of(operation.result.type)
    value = promotion.read(access_of(promotion, view, operation.indices, shape, mask))
    if mask is not None and operation.padding is not None:
        value = promotion.selected(mask, value, promotion.value(operation.padding))
    promotion.define(operation.result, value)


def _scatter(operation: ScatterStoreOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    value = promotion.value(operation.value)
    access = access_of(promotion, view, operation.indices, shape_of(value.type), mask)
    if not access.shape and mask is not None:
        before = promotion.read(access)
        value = promotion.selected(mask, value, before)
    promotion.write(access, value)


def _gather_line(operation: GatherOp, promotion: Promotion) -> None:
    """Elements behind one along the last dimension, which may go on in the next row."""
    view = promotion.view_of(operation.base)
    if view is None:
        copy(operation, promotion)
        return
    access = _access_behind(operation, promotion, view)
    assert access.mask is not None
    value, others = promotion.read(access), promotion.value(operation.pass_thru)
    promotion.define(operation.result, promotion.selected(access.mask, value, others))


def _scatter_line(operation: ScatterOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.base)
    if view is None:
        copy(operation, promotion)
        return
    access = _access_behind(operation, promotion, view)
    promotion.write(access, promotion.value(operation.valueToStore))


def _access_behind(operation: GatherOp | ScatterOp, promotion: Promotion, view: View) -> Access:
    mask, positions = promotion.value(operation.mask), promotion.value(operation.indices)
    shape = shape_of(positions.type)
    *outer, last = promotion.values(operation.offsets)
    positions = indices_in(promotion, positions, shape)
    behind = promotion.compute(
        arith.AddiOp, [positions, promotion.spread(last, shape)], positions.type
    )
    access = access_at(promotion, view, [*outer, behind], shape, mask)
    return replace(access, wraps=len(access.indices) > 1)


def _load(operation: memref.LoadOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.memref)
    if view is None:
        copy(operation, promotion)
    else:
        access = access_of(promotion, view, operation.indices, ())
        promotion.define(operation.res, promotion.read(access))


def _store(operation: memref.StoreOp, promotion: Promotion) -> None:
    view = promotion.view_of(operation.memref)
    if view is None:
        copy(operation, promotion)
    else:
        access = access_of(promotion, view, operation.indices, ())
        promotion.write(access, promotion.value(operation.value))


def _update(operation: AtomicUpdateOp, promotion: Promotion) -> None:
    """A box is updated at once: nobody else sees local memory meanwhile."""
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    value, shape = promotion.value(operation.value), shape_of(operation.value.type)
    rank = len(operation.indices)
    along = list(range(rank - len(shape), rank))
    if operation.transpose is not None:
        along.reverse()
    checked = {int(dimension) for dimension in operation.checked.get_values()}
    inside = [dimension not in checked for dimension in along]
    access = access_of_box(promotion, view, operation.indices, shape, along, inside, None)
    kind = AtomicRMWKind[operation.kind.data.value]
    old = promotion.read(access)
    promotion.write(access, promotion.combined(kind, old, value))
    if access.mask is not None:
        old = promotion.selected(access.mask, old, promotion.constant(0, old.type))
    promotion.define(operation.result, old)


def _rmw(operation: AtomicRMWOp, promotion: Promotion) -> None:
    """Elements that may be the same are updated one after the other."""
    view = promotion.view_of(operation.memory)
    if view is None:
        copy(operation, promotion)
        return
    promotion.costly |= {view.memory}
    mask = promotion.value(operation.mask) if operation.mask is not None else None
    value, kind = promotion.value(operation.value), kind_of(operation.kind)
    shape = shape_of(value.type)
    if shape:
        access = access_of(promotion, view, operation.indices, shape, mask)
        tile = promotion.held[view.memory]
        promotion.held[view.memory], old = promotion.with_elements(tile, access, value, kind)
    else:
        access = access_of(promotion, view, operation.indices, ())
        old = promotion.read(access)
        new = promotion.combined(kind, old, value)
        new = new if mask is None else promotion.selected(mask, new, old)
        promotion.write(access, new)
        if mask is not None:
            old = promotion.selected(mask, old, promotion.constant(0, old.type))
    promotion.define(operation.result, old)


RULES: Mapping[str, Any] = {
    AtomicRMWOp.name: _rmw,
    AtomicUpdateOp.name: _update,
    GatherLoadOp.name: _gather,
    GatherOp.name: _gather_line,
    ScatterOp.name: _scatter_line,
    ScatterStoreOp.name: _scatter,
    memref.AllocaOp.name: _alloca,
    memref.DimOp.name: _size,
    memref.LoadOp.name: _load,
    memref.ReinterpretCastOp.name: _reinterpret,
    memref.StoreOp.name: _store,
    memref.SubviewOp.name: _subview,
    scf.ForOp.name: control_flow.loop,
    scf.IfOp.name: control_flow.branch,
    scf.WhileOp.name: control_flow.while_loop,
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The rule of each operation that does not stay what it is."""
