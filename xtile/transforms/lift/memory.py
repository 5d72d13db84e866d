"""Memory that work-items access: elements anywhere, and views that begin elsewhere for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    MemRefType,
    StridedLayoutAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute, kind_of
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.complex_parts import ComplexPartOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.memref.views import ReinterpretCastOp
from xtile.rewrite.emitter import AnyMemRef, element_type, part_view, part_views
from xtile.rewrite.facts import constant_of
from xtile.rewrite.memref_layouts import is_local, kept_dimensions, layout_of, mixed
from xtile.rewrite.rebuilder import copy
from xtile.rewrite.tile_emitter import TileEmitter, with_shape
from xtile.text.source import spelling_of
from xtile.transforms.distribute import numbers
from xtile.transforms.lift.widening import MovingView, Where, Wide, Widening, axes_of
from xtile.transforms.lift.work_group import Axes

_DIFFERS = (
    "memory that differs between work-items has no counterpart on tiles; choose between values "
    "that are loaded from each"
)


def accessed(
    widening: Widening, memory: SSAValue, indices: Sequence[SSAValue]
) -> tuple[SSAValue, list[Where]]:
    """The memory that is accessed and where; a view that differs is a part of other memory.

    Raises:
        DiagnosticError: Work-items access different memory.
    """
    return accessed_at(widening, memory, [widening.where(index) for index in indices])


def accessed_at(
    widening: Widening, memory: SSAValue, indices: Sequence[Where]
) -> tuple[SSAValue, list[Where]]:
    """The same for indices of all work-items."""
    view = widening.views.get(memory)
    if view is not None:
        return view.memory, view.at(widening, indices)
    if widening.divergence.of(memory):
        raise widening.kernel.error(_DIFFERS)
    return widening.kernel.value(memory), list(indices)


def _axes(indices: Sequence[Where]) -> Axes:
    return frozenset(axes_of(index for index in indices if isinstance(index, Wide)))


def positions(
    widening: Widening,
    indices: Sequence[Where],
    axes: Sequence[int],
) -> list[SSAValue]:
    """Indices as the operations on elements anywhere take them: of size 1 where they repeat."""
    return [
        widening.kernel.reshape(
            index.value, [index.sizes.get(axis, 1) for axis in axes] if index.axes else []
        )
        for index in map(widening.as_wide, indices)
    ]


def load(operation: memref.LoadOp, widening: Widening) -> None:
    """A load is one of an element for each number along its axes."""
    kernel, (source, *indices) = widening.kernel, operation.operands
    axes = tuple(sorted(widening.divergence.of(operation.res)))
    if not axes:
        if widening.is_executed:
            copy(operation, kernel)
        else:
            _load_if_executed(operation, widening)
        return
    if isinstance(operation.res.type, MemRefType):
        raise kernel.error(_DIFFERS)
    memory, at = accessed(widening, source, indices)
    mask = _mask(widening, axes)
    parts: list[SSAValue] = []
    for view in part_views(kernel, memory):
        type_ = with_shape(element_type(view), widening.shape(axes))
        padding = None if mask is None else kernel.constant(0, type_)
        parts.append(
            kernel.emit(
                GatherLoadOp.build(
                    operands=[
                        view,
                        positions(widening, at, axes),
                        [] if mask is None else [mask],
                        [] if padding is None else [padding],
                    ],
                    result_types=[type_],
                )
            ).result
        )
    widening.define(operation.res, Wide(tuple(parts), axes))


def _load_if_executed(operation: memref.LoadOp, widening: Widening) -> None:
    """What nobody loads may not be there."""
    kernel = widening.kernel
    assert widening.mask is not None
    if isinstance(operation.res.type, MemRefType):
        copy(operation, kernel)
        return
    memory, at = accessed(widening, operation.memref, operation.indices)
    indices = [index for index in at if not isinstance(index, Wide)]
    types = [element_type(view) for view in part_views(kernel, memory)]

    def loaded() -> Sequence[SSAValue]:
        value = kernel.load(memory, indices)
        return numbers.parts(kernel, value) if len(types) > 1 else [value]

    def nothing() -> Sequence[SSAValue]:
        return [kernel.constant(0, type_) for type_ in types]

    parts = kernel.choose_all(widening.any(widening.mask).value, loaded, nothing)
    widening.define(operation.res, Wide(tuple(parts)))


def _mask(widening: Widening, axes: Sequence[int]) -> SSAValue | None:
    """Where an access is executed for any that do the same."""
    if widening.mask is None:
        return None
    mask = widening.any(widening.mask, frozenset(axes))
    return widening.aligned(mask, axes).value


def store(operation: memref.StoreOp, widening: Widening) -> None:
    """A store is one of an element for each number along its axes."""
    kernel, (value, target, *indices) = widening.kernel, operation.operands
    memory, at = accessed(widening, target, indices)
    wide = widening.wide(value)
    own = _axes(at) | set(wide.axes)
    axes = tuple(sorted(own))
    if not axes and widening.is_executed:
        copy(operation, kernel)
        return
    if not axes:
        scalars = [index for index in at if not isinstance(index, Wide)]
        assert widening.mask is not None
        with kernel.when(widening.any(widening.mask).value):
            kernel.store(kernel.value(value), memory, scalars)
        return
    mask = _mask(widening, axes)
    parts = widening.aligned(wide, axes).parts
    for part, view in zip(parts, part_views(kernel, memory), strict=True):
        kernel.emit(
            ScatterStoreOp.build(
                operands=[
                    part,
                    view,
                    positions(widening, at, axes),
                    [] if mask is None else [mask],
                ]
            )
        )


# --- atomic updates ---


def atomic_rmw(operation: memref.AtomicRMWOp, widening: Widening) -> None:
    """Each work-item updates one element."""
    _update(operation, widening, kind_of(operation.kind))


def atomic_update(operation: AtomicUpdateOp, widening: Widening) -> None:
    """The same of numbers that upstream's operation does not take."""
    _update(operation, widening, AtomicRMWKind[operation.kind.data.value])


def _update(
    operation: memref.AtomicRMWOp | AtomicUpdateOp, widening: Widening, kind: AtomicRMWKind
) -> None:
    kernel, (result,) = widening.kernel, operation.results
    value, target, *indices = operation.operands
    axes = tuple(sorted(widening.divergence.of(result)))
    memory, at = accessed(widening, target, indices)
    wide = widening.aligned(widening.wide(value), axes)
    mask = _mask(widening, axes)
    where = positions(widening, at, axes)
    parts = [
        kernel.emit(
            AtomicRMWOp.build(
                operands=[part, view, where, [] if mask is None else [mask]],
                result_types=[part.type],
                properties={"kind": kind_attribute(kind), **ordering_of(operation).properties},
            )
        ).result
        for part, view in zip(wide.parts, part_views(kernel, memory), strict=True)
    ]
    widening.define(result, Wide(tuple(parts), axes))


# --- views ---


def subview(operation: memref.SubviewOp, widening: Widening) -> None:
    """A view that differs between work-items moves where it is accessed."""
    if not widening.divergence.of(operation.result):
        copy(operation, widening.kernel)
        return
    offsets, sizes, strides = (
        _wheres(widening, operation, name) for name in ("offsets", "sizes", "strides")
    )
    source = _view_of(widening, operation.source)
    kept = kept_dimensions(operation)
    inside = source.at(widening, offsets)
    steps = [(source.kept[d][0], widening.multiply(source.kept[d][1], strides[d])) for d in kept]
    widening.views[operation.result] = replace(
        source, offsets=tuple(inside), kept=tuple(steps), sizes=tuple(sizes[d] for d in kept)
    )


def _wheres(widening: Widening, operation: Operation, name: str) -> list[Where]:
    """A list of numbers, of which some are known and the others operands."""
    values = cast("Sequence[SSAValue]", getattr(operation, name))
    given = cast("Any", [widening.where(value) for value in values])
    return list[Where](mixed(operation.properties[f"static_{name}"], given))


def _view_of(widening: Widening, memory: SSAValue) -> MovingView:
    """Memory as a view of itself."""
    view = widening.views.get(memory)
    if view is not None:
        return view
    if widening.divergence.of(memory):
        raise widening.kernel.error(_DIFFERS)
    rank = cast("AnyMemRef", memory.type).get_num_dims()
    new = widening.kernel.value(memory)
    sizes = tuple(widening.kernel.size((new, dimension)) for dimension in range(rank))
    return MovingView(new, (0,) * rank, tuple((d, 1) for d in range(rank)), sizes)


def reinterpret_cast(operation: memref.ReinterpretCastOp, widening: Widening) -> None:
    """A view with strides of its own counts elements of the memory in which it begins."""
    if not widening.divergence.of(operation.result):
        copy(operation, widening.kernel)
        return
    (offset,), sizes, strides = (
        _wheres(widening, operation, name) for name in ("offsets", "sizes", "strides")
    )
    source = _view_of(widening, operation.source)
    widening.views[operation.result] = MovingView(
        _beginning(widening.kernel, source.memory),
        (offset,),
        tuple((0, stride) for stride in strides),
        tuple(sizes),
    )


def _beginning(kernel: TileEmitter, memory: SSAValue) -> SSAValue:
    """The first element of what was allocated, from which offsets count."""
    type_ = cast("AnyMemRef", memory.type)
    result = MemRefType(type_.element_type, [1], StridedLayoutAttr([1], 0), type_.memory_space)
    no_values: list[SSAValue] = []

    def emit() -> SSAValue:
        one, none = (DenseArrayBase.from_list(i64, [number]) for number in (1, 0))
        return kernel.compute(
            ReinterpretCastOp,
            [memory, no_values, no_values, no_values],
            result,
            {"static_offsets": none, "static_sizes": one, "static_strides": one},
        )

    return kernel.shared((ReinterpretCastOp, memory), (memory,), emit)


def metadata(operation: memref.ExtractStridedMetaDataOp, widening: Widening) -> None:
    """Where a view begins, its sizes and its strides."""
    view = widening.views.get(operation.source)
    if view is None:
        if widening.divergence.of(operation.source):
            raise widening.kernel.error(_DIFFERS)
        copy(operation, widening.kernel)
        return
    base, offset, *rest = operation.results
    layout = layout_of(cast("AnyMemRef", view.memory.type))
    told = widening.kernel.shared(
        (memref.ExtractStridedMetaDataOp, view.memory),
        (view.memory,),
        lambda: widening.kernel.emit(memref.ExtractStridedMetaDataOp(view.memory)),
    )
    strides = [
        value if known is None else known
        for known, value in zip(layout.strides, told.strides, strict=True)
    ]
    first: Where = told.offset if layout.offset is None else layout.offset
    for at, stride in zip(view.offsets, strides, strict=True):
        first = widening.add(first, widening.multiply(at, stride))
    steps = [widening.multiply(step, strides[dimension]) for dimension, step in view.kept]
    if base.first_use is not None:
        # Its address and what it leads to are those of the memory.
        widening.views[base] = replace(view, kept=(), sizes=())
    for result, number in zip((offset, *rest), (first, *view.sizes, *steps), strict=True):
        _define_index(widening, result, number)


def _define_index(widening: Widening, old: SSAValue, number: Where) -> None:
    widening.define(old, widening.like(widening.as_wide(number), old))


def complex_part(operation: ComplexPartOp, widening: Widening) -> None:
    """The parts of numbers in a view that may differ."""
    view = widening.views.get(operation.source)
    if view is None:
        copy(operation, widening.kernel)
        return
    memory = part_view(widening.kernel, view.memory, operation.part.data)
    widening.views[operation.result] = replace(view, memory=memory)


def cast_view(operation: Operation, widening: Widening) -> None:
    """The same memory with another type."""
    view = widening.views.get(operation.operands[0])
    if view is None:
        copy(operation, widening.kernel)
    else:
        widening.views[operation.results[0]] = view


def size(operation: memref.DimOp, widening: Widening) -> None:
    """The size of a view that may differ."""
    view, dimension = widening.views.get(operation.source), constant_of(operation.index)
    if view is None:
        if widening.divergence.of(operation.result):
            raise widening.kernel.error(_DIFFERS)
        copy(operation, widening.kernel)
        return
    if dimension is None:
        raise widening.kernel.error("the size of a view that differs needs a constant dimension")
    _define_index(widening, operation.result, view.sizes[dimension])


def allocation(operation: memref.AllocaOp, widening: Widening) -> None:
    """Local memory is that of the block of tiles; memory of a work-item gets no counterpart.

    Raises:
        DiagnosticError: Each work-item has such memory of its own.
    """
    if not is_local(operation.memref.type):
        raise widening.kernel.error(
            f"{spelling_of(operation)} gives each work-item memory of its own, which tiles do not "
            "have; carry values in loops, or allocate local memory with a mode for work-items"
        )
    copy(operation, widening.kernel)


def variable(operation: memref.GetGlobalOp, widening: Widening) -> None:
    """A variable in local memory is allocated by the block of tiles; any other stays one."""
    type_ = operation.memref.type
    if not is_local(type_):
        copy(operation, widening.kernel)
        return
    no_values: list[SSAValue] = []
    made = widening.kernel.shared(
        ("variable", operation.name_),
        (),
        lambda: widening.kernel.compute(memref.AllocaOp, [no_values, no_values], type_),
    )
    widening.kernel.define(operation.memref, made)


def at_address(operation: Operation, widening: Widening) -> None:
    """A pointer, or the memory at one, which all work-items have alike."""
    if widening.divergence.of_all(operation.operands):
        raise widening.kernel.error(_DIFFERS)
    copy(operation, widening.kernel)


def address(operation: Operation, widening: Widening) -> None:
    """The address of what was allocated is that of all parts of it."""
    view = widening.views.get(operation.operands[0])
    if view is None:
        if widening.divergence.of(operation.operands[0]):
            raise widening.kernel.error(_DIFFERS)
        copy(operation, widening.kernel)
        return
    new = type(operation).create(operands=[view.memory], result_types=[IndexType()])
    result = Wide((widening.kernel.emit(new).results[0],))
    widening.define(operation.results[0], widening.like(result, operation.results[0]))
