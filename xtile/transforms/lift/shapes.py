"""Matrices of subgroups in other shapes: their dimensions have axes, and others lie in between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    i64,
)
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.elements import GatherOp
from xtile.rewrite.shuffles import shuffled
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.transforms.lift.widening import Wide, Widening, axes_of
from xtile.transforms.lift.work_group import COLUMN, own_axes


def ordered(widening: Widening, value: SSAValue, axes: Sequence[int]) -> Wide:
    """A vector whose dimensions have axes in any order."""
    order = sorted(range(len(axes)), key=lambda i: axes[i])
    moved = widening.kernel.transposed(value, order)
    return Wide((moved,), tuple(sorted(axes)))


def in_order(widening: Widening, wide: Wide, axes: Sequence[int]) -> SSAValue:
    """A value with its axes in another order."""
    return widening.kernel.transposed(wide.value, [wide.axes.index(axis) for axis in axes])


def outside_of(wide: Wide, own: Sequence[int]) -> list[int]:
    """The axes of a matrix that are none of its own dimensions."""
    return [axis for axis in wide.axes if axis not in own]


def broadcast(operation: BroadcastOp, widening: Widening) -> None:
    """Trailing dimensions are those of the source; those of size 1 are repeated."""
    wide, result = widening.wide(operation.source), operation.vector
    source, target = own_axes(operation.source.type), own_axes(result.type)
    shape = dict(zip(target, shape_of(result.type), strict=True))
    renamed = dict(zip(source, target[len(target) - len(source) :], strict=True))
    axes = tuple(renamed.get(axis, axis) for axis in wide.axes)
    all_axes = tuple(sorted({*axes, *target}))
    sizes = {**dict(zip(axes, wide.sizes.values(), strict=True))}
    value = wide.value
    if axes:
        thin = [sizes.get(axis, 1) for axis in all_axes]
        value = widening.kernel.reshape(value, thin)
    whole = [shape.get(axis, sizes.get(axis, 1)) for axis in all_axes]
    widening.define(result, Wide((widening.kernel.spread(value, whole),), all_axes))


def reshape(operation: Operation, widening: Widening) -> None:
    """The elements of each matrix keep their order."""
    (old,), (result,) = operation.operands, operation.results
    wide = widening.wide(old)
    own, target = own_axes(old.type), own_axes(result.type)
    outside = outside_of(wide, own)
    value = in_order(widening, wide, [*outside, *own])
    sizes = [wide.sizes[axis] for axis in outside]
    value = widening.kernel.reshape(value, [*sizes, *shape_of(result.type)])
    widening.define(result, ordered(widening, value, [*outside, *target]))


def transpose(operation: Operation, widening: Widening) -> None:
    """The dimensions of each matrix change their order."""
    (old,), (result,) = operation.operands, operation.results
    wide = widening.wide(old)
    own, target = own_axes(old.type), own_axes(result.type)
    permutation = cast("DenseArrayBase[Any]", operation.properties["permutation"])
    renamed = {own[int(source)]: target[i] for i, source in enumerate(permutation.get_values())}
    axes = [renamed.get(axis, axis) for axis in wide.axes]
    widening.define(result, ordered(widening, wide.value, axes))


def slice_of(
    widening: Widening, wide: Wide, first: Mapping[int, int], sizes: Mapping[int, int]
) -> SSAValue:
    """A part of a value that begins at indices of some axes."""
    shape = [sizes.get(axis, size) for axis, size in wide.sizes.items()]
    return widening.kernel.slice(wide.value, [first.get(axis, 0) for axis in wide.axes], shape)


def with_slice(
    widening: Widening, wide: Wide, part: SSAValue, first: Mapping[int, int]
) -> SSAValue:
    """A value with another part from indices of some axes on."""
    if part.type == wide.value.type:
        return part
    offsets = [first.get(axis, 0) for axis in wide.axes]
    blocks = zip(offsets, shape_of(part.type), wide.sizes.values(), strict=True)
    if all(offset % size == 0 == whole % size for offset, size, whole in blocks):
        return widening.kernel.with_block(wide.value, part, offsets)
    return widening.kernel.with_slice(wide.value, part, offsets)


def _given(operation: Operation, name: str) -> list[int]:
    attribute = operation.properties[name]
    if isinstance(attribute, ArrayAttr):
        return [int(each.value.data) for each in cast("Any", attribute).data]
    assert isinstance(attribute, DenseArrayBase)
    return [int(each) for each in attribute.get_values()]


def extract_slice(operation: Operation, widening: Widening) -> None:
    """The same part of each matrix."""
    (old,), (result,) = operation.operands, operation.results
    wide, own = widening.wide(old), own_axes(old.type)
    offsets, sizes, strides = (_given(operation, n) for n in ("offsets", "sizes", "strides"))
    if any(stride != 1 for stride in strides):
        raise widening.kernel.error("a part of a matrix with strides has no counterpart on tiles")
    first, count = (dict(zip(own, each, strict=False)) for each in (offsets, sizes))
    widening.define(result, Wide((slice_of(widening, wide, first, count),), wide.axes))


def insert_slice(operation: Operation, widening: Widening) -> None:
    """The same part of each matrix becomes another one."""
    part, old = operation.operands
    own, of_part = own_axes(old.type), own_axes(part.type)
    offsets, strides = (_given(operation, name) for name in ("offsets", "strides"))
    if any(stride != 1 for stride in strides):
        raise widening.kernel.error("a part of a matrix with strides has no counterpart on tiles")
    _insert(operation, widening, part, old, dict(zip(own, offsets, strict=True)), of_part)


def extract(operation: Operation, widening: Widening) -> None:
    """What each matrix has at a position of its first dimensions."""
    if len(operation.operands) > 1:
        _extract_anywhere(operation, widening)
        return
    old, (result,) = operation.operands[0], operation.results
    wide, own = widening.wide(old), own_axes(old.type)
    position = _position(operation, widening)
    first = dict(zip(own, position, strict=False))
    value = slice_of(widening, wide, first, dict.fromkeys(first, 1))
    rest = own[len(position) :]
    outside = outside_of(wide, own)
    value = in_order(widening, Wide((value,), wide.axes), [*outside, *own])
    shape = [*(wide.sizes[axis] for axis in outside), *(wide.sizes[axis] for axis in rest)]
    value = widening.kernel.reshape(value, shape)
    axes = [*outside, *own_axes(result.type)]
    widening.define(result, ordered(widening, value, axes))


def _extract_anywhere(operation: Operation, widening: Widening) -> None:
    """The element of each line at a position that is known only at run time."""
    (old, index), (result,) = operation.operands, operation.results
    position = widening.wide(index)
    if own_axes(old.type) != (COLUMN,):
        raise widening.kernel.error(_UNKNOWN)
    line = widening.wide(old)
    size = line.sizes[COLUMN]
    zero, end = (widening.number(number, IndexType()) for number in (0, size))
    inside = widening.both(
        widening.compared("sge", position, zero), widening.compared("slt", position, end)
    )
    # Who does not execute it may have any position.
    position = widening.select(inside, position, zero)
    axes = tuple(sorted({*line.axes, *position.axes}))
    rest = tuple(axis for axis in axes if axis != COLUMN)
    line, position = widening.aligned(line, axes), widening.aligned(position, rest)
    thin = [1 if axis == COLUMN else line.sizes[axis] for axis in axes]
    positions = widening.kernel.reshape(position.value, thin)
    type_ = with_shape(line.value.type, thin)
    axis = IntegerAttr(axes.index(COLUMN), i64)
    found = widening.kernel.compute(GatherOp, [line.value, positions], type_, {"axis": axis})
    shape = [line.sizes[axis] for axis in rest]
    widening.define(result, Wide((widening.kernel.reshape(found, shape),), rest))


def _insert_anywhere(operation: Operation, widening: Widening) -> None:
    """Another element of each line at a position that is known only at run time."""
    (part, old, index), (result,) = operation.operands, operation.results
    if own_axes(old.type) != (COLUMN,):
        raise widening.kernel.error(_UNKNOWN)
    line = widening.wide(old)
    numbers = Wide((widening.kernel.step(line.sizes[COLUMN]),), (COLUMN,))
    is_it = widening.compared("eq", numbers, widening.wide(index))
    widening.define(result, widening.select(is_it, widening.wide(part), line))


_UNKNOWN = "a position in a matrix that is known only at run time has no counterpart on tiles"


def from_elements(operation: Operation, widening: Widening) -> None:
    """A line of elements, each of which takes its position."""
    (result,) = operation.results
    if own_axes(result.type) != (COLUMN,):
        raise widening.kernel.error(
            "a matrix of single elements has no counterpart on tiles; make it of lines"
        )
    numbers = Wide((widening.kernel.step(len(operation.operands)),), (COLUMN,))
    first, *others = (widening.wide(operand) for operand in operation.operands)
    line = widening.aligned(first, sorted({*first.axes, COLUMN}), numbers.sizes)
    for number, element in enumerate(others, 1):
        is_it = widening.compared("eq", numbers, widening.number(number, IndexType()))
        line = widening.select(is_it, element, line)
    widening.define(result, line)


def shuffle(operation: Operation, widening: Widening) -> None:
    """The parts of two matrices along the first dimension, in an order that is known."""
    (result,) = operation.results
    if not shape_of(operation.operands[0].type):
        raise widening.kernel.error("a shuffle of single elements has no counterpart on tiles")
    wides = [widening.wide(operand) for operand in operation.operands]
    axes = axes_of(wides)
    first, second = (widening.aligned(wide, axes).value for wide in wides)
    axis = axes.index(own_axes(result.type)[0])
    made = shuffled(widening.kernel, first, second, _given(operation, "mask"), axis)
    widening.define(result, Wide((made,), axes))


def insert(operation: Operation, widening: Widening) -> None:
    """Something else at a position of the first dimensions of each matrix."""
    if len(operation.operands) > 2:
        _insert_anywhere(operation, widening)
        return
    part, old = operation.operands[:2]
    own = own_axes(old.type)
    first = dict(zip(own, _position(operation, widening), strict=False))
    _insert(operation, widening, part, old, first, own_axes(part.type))


def _insert(
    operation: Operation,
    widening: Widening,
    part: SSAValue,
    old: SSAValue,
    first: Mapping[int, int],
    of_part: Sequence[int],
) -> None:
    """Inserts a part whose dimensions are the last ones of a matrix."""
    own, (result,) = own_axes(old.type), operation.results
    whole = widening.like(widening.wide(old), result)
    outside = outside_of(whole, own)
    piece = widening.wide(part)
    shape = dict(zip(of_part, shape_of(part.type), strict=True))
    piece = widening.aligned(piece, sorted({*outside, *of_part}), shape)
    value = in_order(widening, piece, [*outside, *of_part])
    missing = len(own) - len(of_part)
    sizes = [*(whole.sizes[axis] for axis in outside), *[1] * missing, *shape.values()]
    value = widening.kernel.reshape(value, sizes)
    value = ordered(widening, value, [*outside, *own]).value
    widening.define(result, Wide((with_slice(widening, whole, value, first),), whole.axes))


def _position(operation: Operation, widening: Widening) -> list[int]:
    position = _given(operation, "static_position")
    if any(number < 0 for number in position):
        raise widening.kernel.error(_UNKNOWN)
    return position
