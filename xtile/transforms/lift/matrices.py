"""Matrices of subgroups: products, reductions, and their components one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    IndexType,
    IntegerType,
)
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.core.subgroup import FragmentExtractOp, FragmentInsertOp, MapOp
from xtile.dialects.vector.contractions import ContractionOp, product_of_matrices
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.rewrite.contractions import iteration_maps
from xtile.rewrite.rebuilder import copy
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.text.source import spelling_of
from xtile.transforms.lift.shapes import in_order, ordered, outside_of, slice_of, with_slice
from xtile.transforms.lift.widening import Wide, Widening
from xtile.transforms.lift.work_group import (
    COLUMN,
    LANE,
    OF_LANE,
    OF_SUBGROUPS,
    ROW,
    own_axes,
)

# --- products ---


def contract(operation: ContractionOp, widening: Widening) -> None:
    """Subgroups whose products share a factor compute one larger product."""
    if not widening.divergence.of(operation.results[0]):
        copy(operation, widening.kernel)
        return
    operands = [widening.wide(operand) for operand in operation.operands]
    operands[2] = widening.like(operands[2], operation.results[0])
    numbers = [
        dict(zip(own_axes(old.type), map_, strict=True))
        for old, map_ in zip(operation.operands, iteration_maps(operation), strict=True)
    ]
    result = product(widening, operands, numbers, operation.attributes)
    widening.define(operation.results[0], result)


def product(
    widening: Widening,
    operands: Sequence[Wide],
    numbers: Sequence[Mapping[int, int]],
    attributes: Mapping[str, Attribute],
) -> Wide:
    """The product of two factors, added to sums.

    Args:
        widening: The kernel.
        operands: The factors and the sums, which have all axes of work-items.
        numbers: For each operand the numbers of the iterations along the axes of its dimensions.
        attributes: The attributes of the product.
    """
    kernel = widening.kernel
    # Axes of subgroups are iterations, too; their numbers come behind the others.
    runs = [
        {axis: of.get(axis, 100 + axis) for axis in wide.axes}
        for of, wide in zip(numbers, operands, strict=True)
    ]
    lhs, rhs, sums = (list(run.values()) for run in runs)
    both = [each for each in sums if each in lhs and each in rhs]
    rows = [each for each in sums if each in lhs and each not in rhs]
    columns = [each for each in sums if each in rhs and each not in lhs]
    depth = [each for each in lhs if each in rhs and each not in sums]
    given = [len(both) + len(depth) + len(rows), len(both) + len(depth) + len(columns)]
    alone = [each for each in sums if each not in lhs and each not in rhs]
    if given != [len(lhs), len(rhs)] or (alone and set(alone) - {100 + a for a in OF_SUBGROUPS}):
        raise kernel.error("this product of matrices has no counterpart on tiles")
    if alone:
        # Subgroups that add the same product to sums of their own.
        left = operands[0]
        axes = [number - 100 for number in alone]
        left = widening.aligned(left, sorted({*left.axes, *axes}))
        return product(widening, (left, *operands[1:]), numbers, attributes)
    orders = ([both, rows, depth], [both, depth, columns], [both, rows, columns])
    values = [
        _grouped(widening, wide, run, order)
        for wide, run, order in zip(operands, runs, orders, strict=True)
    ]
    contraction = product_of_matrices(*values)
    contraction.attributes |= attributes
    value = kernel.emit(contraction).result
    axis_of = {number: axis for axis, number in runs[2].items()}
    axes = [axis_of[number] for group in orders[2] for number in group]
    sizes = operands[2].sizes
    return ordered(widening, kernel.reshape(value, [sizes[axis] for axis in axes]), axes)


def _grouped(
    widening: Widening, wide: Wide, run: dict[int, int], groups: Sequence[Sequence[int]]
) -> SSAValue:
    """A factor with one dimension for each group of iterations; none for no batch."""
    axis_of = {number: axis for axis, number in run.items()}
    axes = [[axis_of[number] for number in group] for group in groups]
    value = in_order(widening, wide, [axis for group in axes for axis in group])
    shape = [math.prod(wide.sizes[axis] for axis in group) for group in axes]
    return widening.kernel.reshape(value, shape if groups[0] else shape[1:])


# --- reductions ---


def reduce(operation: MultiDimReductionOp, widening: Widening) -> None:
    """The dimensions of each matrix are reduced, and those of subgroups stay."""
    if not widening.divergence.of(operation.dest):
        copy(operation, widening.kernel)
        return
    wide = widening.wide(operation.source)
    own, target = own_axes(operation.source.type), own_axes(operation.dest.type)
    dims = cast("DenseArrayBase[Any]", operation.reduction_dims)
    along = {own[int(dimension)] for dimension in dims.get_values()}
    renamed = dict(zip((axis for axis in own if axis not in along), target, strict=True))
    wide = _with_axes_of(widening, wide, widening.wide(operation.acc))
    left = [axis for axis in wide.axes if axis not in along]
    becomes = [renamed.get(axis, axis) for axis in left]
    start = widening.like(widening.wide(operation.acc), operation.dest)
    kind = CombiningKindFlag(str(operation.kind.data))
    positions = [wide.axes.index(axis) for axis in wide.axes if axis in along]
    value = widening.combined(kind, wide.value, in_order(widening, start, becomes), positions)
    widening.define(operation.dest, ordered(widening, value, becomes))


def _with_axes_of(widening: Widening, wide: Wide, other: Wide) -> Wide:
    """A value with the axes of subgroups that another one has."""
    more = {axis for axis in other.axes if axis in widening.sizes}
    return widening.aligned(wide, sorted({*wide.axes, *more}))


# --- components ---


def map_components(operation: MapOp, widening: Widening) -> None:
    """The components of a matrix are told apart by two more axes."""
    body = operation.body.block
    row, column, *values = body.args
    sources = [widening.wide(source) for source in operation.sources]
    sizes: dict[int, int] = dict(
        zip((ROW, COLUMN), shape_of(operation.sources[0].type), strict=True)
    )
    with widening.components(sizes):
        widening.define(row, widening.line(ROW))
        widening.define(column, widening.line(COLUMN))
        for value, source in zip(values, sources, strict=True):
            widening.define_component(value, source)
        owner = owners(widening)
        owned = _owned_values(operation, widening, owner)
        widening.lane = owner
        yielded = [widening.wide(value) for value in widening.lift_region(operation.body)]
        for old, before in owned.items():
            widening.define(old, before)
        for value, result in zip(yielded, operation.mapped, strict=True):
            value = _of_any_lane(widening, value)
            widening.define(
                result, widening.aligned(value, widening.divergence.axes(result), sizes)
            )


def _of_any_lane(widening: Widening, value: Wide) -> Wide:
    """A value that is the same for all lanes, although it has been computed for each."""
    if LANE not in value.axes:
        return value
    first = slice_of(widening, value, {LANE: 0}, {LANE: 1})
    axes = tuple(axis for axis in value.axes if axis != LANE)
    shape = [value.sizes[axis] for axis in axes]
    return Wide((widening.kernel.reshape(first, shape),), axes)


def _owned_values(operation: MapOp, widening: Widening, owner: Wide) -> dict[SSAValue, Wide]:
    """Replaces what lanes have from outside by what the lane has that holds a component.

    Returns: What these values were.
    """
    before: dict[SSAValue, Wide] = {}
    is_it = widening.compared("eq", widening.line(LANE), owner)
    for nested in operation.walk():
        if nested.name in _OF_SUBGROUPS:
            raise widening.kernel.error(
                f"{spelling_of(nested)} for components of a matrix has no counterpart on tiles",
                nested,
            )
        for operand in nested.operands:
            if operand in before or nested is operation:
                continue
            if not _is_outside(operand, operation) or LANE not in widening.divergence.of(operand):
                continue
            if operand in widening.views:
                raise widening.kernel.error(
                    "memory that differs between lanes, in core.map, has no counterpart on tiles",
                    nested,
                )
            wide = widening.wide(operand)
            if LANE in wide.axes:
                before[operand] = wide
                parts = [
                    chosen_lane(widening, is_it, Wide((part,), wide.axes)) for part in wide.parts
                ]
                widening.define(operand, Wide(tuple(p.value for p in parts), parts[0].axes))
    return before


def _is_outside(value: SSAValue, operation: Operation) -> bool:
    owner = value.owner
    return not operation.is_ancestor(owner)


_OF_SUBGROUPS = frozenset(
    {
        "core.subgroup_scan",
        "gpu.all_reduce",
        "gpu.rotate",
        "gpu.shuffle",
        "gpu.subgroup_broadcast",
        "gpu.subgroup_reduce",
    }
)
"""What lanes do together, which each component has one of."""


def chosen_lane(widening: Widening, is_it: Wide, value: Wide) -> Wide:
    """The value of that lane for which a condition holds: the bits of others are left out."""
    type_ = value.element
    bits = IntegerType(type_.bitwidth) if isinstance(type_, AnyFloat) else type_
    if bits != type_:
        value = widening.computed(arith.BitcastOp, value, type=bits)
    chosen = widening.select(is_it, value, widening.number(0, bits))
    result = widening.reduced(CombiningKindFlag.OR, chosen, OF_LANE)
    return result if bits == type_ else widening.computed(arith.BitcastOp, result, type=type_)


def owners(widening: Widening) -> Wide:
    """The lane that holds each component of a matrix: docs/core-form.md, "Fragments"."""
    lanes = widening.group.lanes
    side = min(widening.sizes[COLUMN], lanes)
    row, column = widening.line(ROW), widening.line(COLUMN)
    number = IndexType()
    low = widening.computed(arith.RemUIOp, column, widening.number(side, number))
    high = widening.computed(arith.RemUIOp, row, widening.number(lanes // side, number))
    return widening.as_wide(widening.add(low, widening.multiply(high, side)))


# --- fragments ---


def _fragment(
    operation: FragmentExtractOp | FragmentInsertOp, matrix: Wide, lanes: int
) -> tuple[dict[int, int], dict[int, int], int]:
    """Where the entries of all lanes are in a matrix.

    Returns: The first row and column; the rows and columns; the rows that are padding below them.
    """
    rows, columns = matrix.sizes[ROW], matrix.sizes[COLUMN]
    side = min(columns, lanes)
    height = lanes // side
    count = -(-rows // height)
    entry = operation.index.value.data
    first = entry % count * height
    inside = max(0, min(height, rows - first))
    return {ROW: first, COLUMN: entry // count * side}, {ROW: inside, COLUMN: side}, height - inside


def fragment_extract(operation: FragmentExtractOp, widening: Widening) -> None:
    """Each lane's entry: a part of the matrix, row by row."""
    matrix = widening.wide(operation.operands[0])
    result = operation.results[0]
    lanes = widening.group.lanes
    first, sizes, padding = _fragment(operation, matrix, lanes)
    outside = outside_of(matrix, (ROW, COLUMN))
    shape = [matrix.sizes[axis] for axis in outside]
    zeros = with_shape(matrix.element, [*shape, sizes[ROW] + padding, sizes[COLUMN]])
    if sizes[ROW]:
        part = Wide((slice_of(widening, matrix, first, sizes),), matrix.axes)
        value = in_order(widening, part, [*outside, ROW, COLUMN])
        if padding:
            whole = Wide((widening.kernel.constant(0, zeros),), (*outside, 98, 99))
            value = with_slice(widening, whole, value, {})
    else:
        value = widening.kernel.constant(0, zeros)
    value = widening.kernel.reshape(value, [*shape, lanes])
    axes = [*outside, LANE]
    if LANE not in widening.sizes:
        value, axes = widening.kernel.reshape(value, shape), outside
    widening.define(result, widening.like(ordered(widening, value, axes), result))


def fragment_insert(operation: FragmentInsertOp, widening: Widening) -> None:
    """Each lane's value takes the place of its entry, if that is no padding."""
    result = operation.results[0]
    matrix = widening.like(widening.wide(operation.dest), result)
    lanes = widening.group.lanes
    first, sizes, padding = _fragment(operation, matrix, lanes)
    if not sizes[ROW]:
        widening.define(result, matrix)
        return
    outside = outside_of(matrix, (ROW, COLUMN))
    value = widening.wide(operation.value)
    of_lanes = [LANE] if LANE in widening.sizes else []
    value = widening.aligned(value, sorted([*outside, *of_lanes]))
    shape = [matrix.sizes[axis] for axis in outside]
    new = in_order(widening, value, [*outside, *of_lanes])
    new = widening.kernel.reshape(new, [*shape, sizes[ROW] + padding, sizes[COLUMN]])
    part = ordered(widening, new, [*outside, ROW, COLUMN])
    if padding:
        part = Wide((slice_of(widening, part, {}, {ROW: sizes[ROW]}),), part.axes)
    widening.define(result, Wide((with_slice(widening, matrix, part.value, first),), matrix.axes))
