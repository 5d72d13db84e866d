"""Matrices of subgroups in memory: one larger tile where they lie side by side, else a gather."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import AffineMapAttr, IndexType, VectorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from xtile.dialects.atomic_kinds import AtomicRMWKind, kind_attribute
from xtile.dialects.core.atomics import AtomicRMWOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.dialects.core.subgroup import AtomicUpdateOp
from xtile.dialects.memory_orders import ordering_of
from xtile.dialects.shapes import AnyVector, dimensions_of, vector_type
from xtile.dialects.shared_attributes import truth_attribute
from xtile.dialects.vector.transfers import TransferReadOp, TransferWriteOp
from xtile.rewrite.affine_tiles import affine_of
from xtile.rewrite.emitter import AnyMemRef, subview
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import again, copy
from xtile.rewrite.tile_emitter import with_shape
from xtile.transforms.lift.memory import accessed, positions
from xtile.transforms.lift.rests import ends_with_rest
from xtile.transforms.lift.shapes import ordered
from xtile.transforms.lift.widening import Where, Wide, Widening
from xtile.transforms.lift.work_group import own_axes

_Transfer = TransferReadOp | TransferWriteOp


@dataclass(frozen=True)
class Box:
    """Where matrices are in memory.

    Attributes:
        memory: The memory.
        indices: Where each matrix begins in each dimension of it.
        own: For each dimension of a matrix its axis.
        along: For each dimension of a matrix that of memory; None repeats elements.
        sizes: The sizes of a matrix.
        inside: For each dimension of a matrix whether it is not checked.
        limits: The size of memory along each of its dimensions, which checks compare with.
        starts: The indices that checks compare.
        ends_early: Whether checks compare with sizes of a part of the memory.
    """

    memory: SSAValue
    indices: Sequence[Where]
    own: Sequence[int]
    along: Sequence[int | None]
    sizes: Sequence[int]
    inside: Sequence[bool]
    limits: Mapping[int, Where]
    starts: Mapping[int, Where]
    ends_early: bool = False


def _agreed(widening: Widening, index: Wide) -> Wide:
    """An index that the lanes agree on who have a matrix together."""
    return index if widening.group.has_vectors_of_lanes else widening.of_subgroup(index)


def _box(
    widening: Widening,
    memory: SSAValue,
    indices: Sequence[SSAValue],
    type_: AnyVector,
    along: Sequence[int | None],
    inside: Sequence[bool],
) -> Box:
    """Where a matrix of each subgroup is, which its lanes agree on."""
    view = widening.views.get(memory)
    new, at = accessed(widening, memory, indices)
    at = [_agreed(widening, i) if isinstance(i, Wide) else i for i in at]
    checked = [d for d, is_in in zip(along, inside, strict=True) if d is not None and not is_in]
    limits: dict[int, Where] = {}
    starts: dict[int, Where] = {}
    for dimension in checked:
        start = widening.where(indices[dimension])
        starts[dimension] = _agreed(widening, start) if isinstance(start, Wide) else start
        limit = widening.kernel.size((new, dimension)) if view is None else view.sizes[dimension]
        limits[dimension] = _agreed(widening, limit) if isinstance(limit, Wide) else limit
    if view is not None:
        kept = [view.kept[d][0] if d is not None else None for d in along]
        steps = [view.kept[d][1] if d is not None else 1 for d in along]
        if any(step != 1 for step in steps) or len(set(kept)) != len(kept):
            raise widening.kernel.error(
                "a matrix in a view with strides of its own that differs between subgroups has no "
                "counterpart on tiles"
            )
        limits = {view.kept[d][0]: limit for d, limit in limits.items()}
        starts = {view.kept[d][0]: start for d, start in starts.items()}
        along = kept
    own = own_axes(type_)
    ends_early = view is not None and bool(checked)
    shape = type_.get_shape()
    return Box(new, at, own, list(along), shape, list(inside), limits, starts, ends_early)


def _box_of(operation: _Transfer, memory: SSAValue, type_: AnyVector, widening: Widening) -> Box:
    inside = [bool(flag.value.data) for flag in operation.in_bounds]
    along = list(dimensions_of(operation.permutation_map))
    if operation.mask is not None:
        raise widening.kernel.error(
            "a masked access of a matrix that differs between subgroups has no counterpart on tiles"
        )
    return _box(widening, memory, operation.indices, type_, along, inside)


# --- matrices side by side ---


@dataclass(frozen=True)
class _Tile:
    """The tile that the matrices of several subgroups are together.

    Attributes:
        first: Where it begins.
        shape: Its sizes.
        split: Its sizes where each axis has a dimension of its own.
        axes: The axis of each of those.
        steps: For each dimension of memory axes of subgroups along it, and how far apart their
            matrices are, in ascending order.
    """

    first: Sequence[Index]
    shape: Sequence[int]
    split: Sequence[int]
    axes: Sequence[int]
    steps: Mapping[int, Sequence[tuple[int, int]]]


def _together(box: Box, axes: Sequence[int], widening: Widening) -> _Tile | None:
    """The tile that matrices are together, if subgroups have those next to their neighbours'."""
    kernel, first = widening.kernel, list[Index]()
    if box.ends_early or not widening.is_executed:
        return None
    steps: dict[int, dict[int, int]] = {}
    for dimension, index in enumerate(box.indices):
        if not isinstance(index, Wide):
            first.append(index)
            continue
        affine = affine_of(index.value)
        if affine is None:
            return None
        first.append(affine.base(kernel))
        steps[dimension] = {
            axis: n for axis, n in zip(index.axes, affine.strides, strict=True) if n
        }
    left = set(axes) - set(box.own)
    ordered_steps = {
        dimension: sorted(found.items(), key=lambda item: item[1])
        for dimension, found in steps.items()
    }
    shape: list[int] = []
    split: list[int] = []
    order: list[int] = []
    for axis, along, size in zip(box.own, box.along, box.sizes, strict=True):
        inner = size
        dims: list[tuple[int, int]] = []
        found = steps.pop(along, {}) if along is not None else {}
        for other, stride in sorted(found.items(), key=lambda item: item[1]):
            if stride != inner or other not in left:
                return None
            left.remove(other)
            dims.insert(0, (other, widening.sizes[other]))
            inner *= widening.sizes[other]
        shape.append(inner)
        split += [*(n for _, n in dims), size]
        order += [*(a for a, _ in dims), axis]
    if left or any(steps.values()):
        return None
    return _Tile(first, shape, split, order, ordered_steps)


# --- subgroups that do not act ---


def _flags(box: Box, tile: _Tile, widening: Widening) -> tuple[bool, ...]:
    """Along which dimensions a tile is in memory for sure, also of subgroups that do not act.

    These may have theirs anywhere behind those of the others, which costs a check only.
    """
    cut = {
        dimension
        for dimension, steps in tile.steps.items()
        if any(axis in widening.rests for axis, _ in steps)
    }
    return tuple(
        flag and (along not in cut or _is_within(box.memory, along, tile.first[along], size))
        for flag, along, size in zip(box.inside, box.along, tile.shape, strict=True)
    )


def _is_within(memory: SSAValue, dimension: int | None, first: Index, size: int) -> bool:
    """Whether memory is known to have so many elements along a dimension from an index on."""
    if dimension is None:
        return True
    known = cast("AnyMemRef", memory.type).get_shape()[dimension]
    return isinstance(first, int) and 0 <= first <= known - size


def _ending(box: Box, tile: _Tile, widening: Widening) -> SSAValue | None:
    """Memory that ends behind the matrices of subgroups that act; None if these are no tile."""
    kernel, memory, left = widening.kernel, box.memory, dict(widening.rests)
    sizes = [kernel.size((memory, each)) for each in range(len(box.indices))]
    limits = list(sizes)
    for dimension, steps in tile.steps.items():
        for axis, step in steps:
            rest = left.pop(axis, None)
            if rest is None:
                continue
            if (axis, step) != steps[-1]:
                return None
            first = tile.first[dimension]
            if not ends_with_rest(memory, dimension, first, step, rest, widening.sizes[axis]):
                count = kernel.subtract(rest.size, rest.first)
                end = kernel.add(first, kernel.multiply(count, step))
                limits[dimension] = kernel.smaller(limits[dimension], end)
    if left:
        return None
    if limits == sizes:
        return memory
    return subview(kernel, memory, [0] * len(sizes), limits)


# --- reads and writes ---


def read(operation: TransferReadOp, widening: Widening) -> None:
    """Reads the matrix of each subgroup."""
    kernel, result = widening.kernel, operation.result
    if not widening.divergence.of(result):
        if widening.is_executed:
            copy(operation, kernel)
            return
        assert widening.mask is not None, "without a mask all execute it"
        executed = widening.any(widening.mask).value
        type_ = result.type

        def nothing() -> SSAValue:
            return kernel.constant(0, type_)

        def there() -> SSAValue:
            return _copied(operation, widening)

        kernel.define(result, kernel.choose(executed, there, nothing))
        return
    box = _box_of(operation, operation.source, vector_type(result), widening)
    axes, padding = widening.divergence.axes(result), widening.wide(operation.padding)
    widening.define(result, read_box(box, axes, padding, widening))


def read_box(box: Box, axes: Sequence[int], padding: Wide, widening: Widening) -> Wide:
    """The matrices of subgroups: one tile if they lie side by side, else all their elements."""
    kernel = widening.kernel
    tile = None if padding.axes else _together(box, axes, widening)
    if tile is None:
        kernel.remark(
            "the tiles of subgroups are gathered, because nothing tells that they lie side by side"
        )
        return _gathered(box, axes, padding, widening)
    if len(axes) > len(box.own):
        kernel.remark("tiles of subgroups that lie side by side are read as one tile")
    new = TransferReadOp(
        box.memory,
        [kernel.as_value(index) for index in tile.first],
        padding.value,
        VectorType(padding.element, tile.shape),
        truth_attribute(_flags(box, tile, widening)),
        _map(box),
    )
    value = kernel.reshape(kernel.emit(new).result, tile.split)
    return ordered(widening, value, tile.axes)


def _map(box: Box) -> AffineMapAttr:
    results = [AffineConstantExpr(0) if d is None else AffineDimExpr(d) for d in box.along]
    return AffineMapAttr(AffineMap(len(box.indices), 0, tuple(results)))


def _copied(operation: TransferReadOp, widening: Widening) -> SSAValue:
    new = again(operation, widening.kernel.values(operation.operands))
    return widening.kernel.emit(new).results[0]


def _elements(box: Box, widening: Widening) -> list[Where]:
    """The index of each component in each dimension of memory."""
    result = list(box.indices)
    for dimension, number in _numbers(box, widening).items():
        result[dimension] = widening.add(result[dimension], number)
    return result


def _numbers(box: Box, widening: Widening) -> dict[int, Wide]:
    """For each dimension of memory the numbers of components along it."""
    return {
        along: Wide((widening.kernel.step(size),), (axis,))
        for axis, along, size in zip(box.own, box.along, box.sizes, strict=True)
        if along is not None
    }


def _inside(box: Box, widening: Widening) -> Wide | None:
    """Which components are accessed: those inside of memory, by subgroups that execute it."""
    condition = widening.executed
    numbers = _numbers(box, widening)
    for dimension, limit in box.limits.items():
        index = widening.as_wide(widening.add(box.starts[dimension], numbers[dimension]))
        zero = widening.number(0, IndexType())
        fits = widening.both(
            widening.compared("sge", index, zero),
            widening.compared("slt", index, widening.as_wide(limit)),
        )
        condition = fits if condition is None else widening.both(condition, fits)
    return condition


def _own_sizes(box: Box) -> dict[int, int]:
    return dict(zip(box.own, box.sizes, strict=True))


def _gathered(box: Box, axes: Sequence[int], padding: Wide, widening: Widening) -> Wide:
    condition, sizes = _inside(box, widening), _own_sizes(box)
    type_ = with_shape(padding.element, widening.shape(axes, sizes))
    mask = [] if condition is None else [widening.aligned(condition, axes, sizes).value]
    rest = [widening.aligned(padding, axes, sizes).value] if mask else []
    new = GatherLoadOp.build(
        operands=[box.memory, positions(widening, _elements(box, widening), axes), mask, rest],
        result_types=[type_],
    )
    return Wide((widening.kernel.emit(new).result,), tuple(axes))


def write(operation: TransferWriteOp, widening: Widening) -> None:
    """Writes the matrix of each subgroup; of several at one position one stays."""
    kernel = widening.kernel
    wide = widening.wide(operation.vector)
    differs = widening.divergence.of_all((*operation.operands, operation.source))
    if not differs and widening.is_executed:
        copy(operation, kernel)
        return
    if not differs:
        assert widening.mask is not None
        with kernel.when(widening.any(widening.mask).value):
            copy(operation, kernel)
        return
    box = _box_of(operation, operation.source, vector_type(operation.vector), widening)
    write_box(box, wide, widening)


def write_box(box: Box, wide: Wide, widening: Widening) -> None:
    """Writes the matrices of subgroups."""
    kernel = widening.kernel
    inside = _inside(box, widening) if widening.mask is not None else None
    places = [index for index in box.indices if isinstance(index, Wide)]
    known = {**widening.sizes, **_own_sizes(box)}
    given = [wide, *places, *([] if inside is None else [inside])]
    axes = sorted({axis for each in given for axis in each.axes} & known.keys())
    wide = widening.aligned(wide, axes, known)
    tile = _together(box, axes, widening)
    memory = None if tile is None else _ending(box, tile, widening)
    if tile is not None and memory is not None:
        if len(axes) > len(box.own):
            kernel.remark("tiles of subgroups that lie side by side are written as one tile")
        order = [wide.axes.index(axis) for axis in tile.axes]
        value = kernel.reshape(kernel.transposed(wide.value, order), tile.shape)
        at = [kernel.as_value(index) for index in tile.first]
        flags = truth_attribute(_flags(box, tile, widening))
        kernel.emit(TransferWriteOp(value, memory, at, flags, None, permutation_map=_map(box)))
        return
    kernel.remark(
        "the tiles of subgroups are scattered, because nothing tells that they lie side by side"
    )
    condition = _inside(box, widening)
    mask = [] if condition is None else [widening.aligned(condition, axes, known).value]
    at = positions(widening, _elements(box, widening), axes)
    kernel.emit(ScatterStoreOp.build(operands=[wide.value, box.memory, at, mask]))


def update(operation: AtomicUpdateOp, widening: Widening) -> None:
    """Each subgroup updates its matrix."""
    kernel, result = widening.kernel, operation.result
    type_ = vector_type(operation.value)
    rank, count = len(operation.indices), type_.get_num_dims()
    along: list[int | None] = list(range(rank - count, rank))
    if operation.transpose is not None:
        along.reverse()
    checked = {int(dimension) for dimension in operation.checked.get_values()}
    inside = [dimension not in checked for dimension in along]
    box = _box(widening, operation.memory, operation.indices, type_, along, inside)
    axes = widening.divergence.axes(result)
    sizes = _own_sizes(box)
    wide = widening.aligned(widening.wide(operation.value), axes, sizes)
    condition = _inside(box, widening)
    mask = [] if condition is None else [widening.aligned(condition, axes, sizes).value]
    made = AtomicRMWOp.build(
        operands=[
            wide.value,
            box.memory,
            positions(widening, _elements(box, widening), axes),
            mask,
        ],
        result_types=[wide.value.type],
        properties={
            "kind": kind_attribute(AtomicRMWKind[operation.kind.data.value]),
            **ordering_of(operation).properties,
        },
    )
    widening.define(result, Wide((kernel.emit(made).result,), tuple(axes)))
