"""Products of matrices, on the matrix unit where the chip has the types and the shape."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp, product_of_matrices
from xtile.dialects.xegpu.ops.convert_layout import ConvertLayoutOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.rewrite.rebuilder import Rule, copy
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.products import unit_for
from xtile.targets.target import MatrixUnit
from xtile.transforms.distribute_tiles.layouts import Layout
from xtile.translate.tiles_to_xegpu.lowering import Lowering


def _contract(operation: ContractionOp, lowering: Lowering) -> None:
    """A product of matrices, several of them, or sums of products along other dimensions."""
    maps = [
        [each.position for each in map_.data.results if isinstance(each, AffineDimExpr)]
        for map_ in operation.indexing_maps
    ]
    left, right, total = map(set, maps)
    kind = operation.kind.data
    if (left ^ right) - total or kind is not CombiningKindFlag.ADD or not maps[2]:
        copy(operation, lowering)
        return
    groups = _Groups(maps)
    sizes = dict(zip(maps[0], shape_of(operation.lhs.type), strict=True))
    sizes |= zip(maps[1], shape_of(operation.rhs.type), strict=True)
    a, b, c = lowering.values(operation.operands)
    a = _arranged(lowering, a, maps[0], (groups.batch, groups.rows, groups.depth), sizes)
    b = _arranged(lowering, b, maps[1], (groups.batch, groups.depth, groups.columns), sizes)
    own = (groups.batch, groups.rows, groups.columns)
    c = _arranged(lowering, c, maps[2], own, sizes)
    made = _products(operation, lowering, a, b, c) if groups.batch else None
    if made is None:
        made = _product(operation, lowering, a, b, c)
    order = [dimension for group in own for dimension in group]
    whole = lowering.reshape(made, [sizes[dimension] for dimension in order])
    lowering.define(
        operation.result, lowering.transposed(whole, [order.index(each) for each in maps[2]])
    )


class _Groups:
    """The iterations of a contraction: those of both factors and the sum, and so on."""

    def __init__(self, maps: Sequence[Sequence[int]]) -> None:
        left, right, total = maps
        self.batch = [d for d in total if d in left and d in right]
        self.rows = [d for d in total if d in left and d not in right]
        self.columns = [d for d in total if d in right and d not in left]
        self.depth = [d for d in left if d not in total]


def _arranged(
    lowering: Lowering,
    value: SSAValue,
    own: Sequence[int],
    groups: tuple[list[int], list[int], list[int]],
    sizes: dict[int, int],
) -> SSAValue:
    """A vector as a matrix, or as a list of matrices if the first group has dimensions."""
    order = [own.index(dimension) for group in groups for dimension in group]
    shape = [prod(sizes[dimension] for dimension in group) for group in groups]
    whole = lowering.transposed(value, order)
    return lowering.reshape(whole, shape if groups[0] else shape[1:])


def _products(
    operation: ContractionOp, lowering: Lowering, a: SSAValue, b: SSAValue, c: SSAValue
) -> SSAValue:
    """The products of lists of matrices, one after the other."""
    for number in range(shape_of(c.type)[0]):
        parts = (lowering.part(each, [number]) for each in (a, b, c))
        c = lowering.with_part(c, _product(operation, lowering, *parts), [number])
    return c


def _product(
    operation: ContractionOp, lowering: Lowering, a: SSAValue, b: SSAValue, c: SSAValue
) -> SSAValue:
    """The product of two matrices and a sum."""
    (rows, depth), (_, columns) = shape_of(a.type), shape_of(b.type)
    unit = unit_for(
        lowering.target,
        lowering.target.matrix_units,
        (value_type(a.type), value_type(b.type)),
        value_type(c.type),
        lanes=lowering.target.chip.subgroup_size,
    )
    obstacle = unit if isinstance(unit, str) else _obstacle(lowering, unit, rows, columns, depth)
    if obstacle is not None:
        lowering.remark(f"does not use the matrix unit: {obstacle}")
        return lowering.emit(product_of_matrices(a, b, c)).result
    layouts = lowering.layouts
    left, right = (
        layouts.of_left(rows, depth),
        layouts.of_right(depth, columns),
    )
    sums = layouts.of_shape((rows, columns))
    made = DpasOp(
        _converted(lowering, a, left),
        _converted(lowering, b, right),
        c,
        layout_a=left,
        layout_b=right,
        layout_cd=sums,
    )
    return lowering.emit(made).result


def _obstacle(
    lowering: Lowering, unit: MatrixUnit, rows: int, columns: int, depth: int
) -> str | None:
    """Why a subgroup's part of a product is no whole number of the matrix unit's products."""
    held = lowering.layouts.of_shape((rows, columns)).effective_sg_data
    if held[1] % unit.columns:
        return f"a subgroup has {held[1]} columns, no multiple of {unit.columns}"
    if depth % unit.depth:
        return f"the depth is {depth}, no multiple of {unit.depth}"
    return None


def _converted(lowering: Lowering, value: SSAValue, wanted: Layout) -> SSAValue:
    """A factor as the product wants it spread."""
    given = lowering.spread_of(value)
    if given is None or given == wanted:
        return value
    return lowering.emit(ConvertLayoutOp(value, given, wanted)).result


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
"""The rule of each operation, by name."""
