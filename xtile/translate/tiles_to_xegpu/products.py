"""Products of matrices, on the matrix unit where the chip has the types and the shape."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import SSAValue

from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import ContractionOp, product_of_matrices
from xtile.dialects.xegpu.ops.convert_layout import ConvertLayoutOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.rewrite.contractions import as_matrices
from xtile.rewrite.rebuilder import Rule, copy
from xtile.rewrite.tile_emitter import shape_of
from xtile.targets.products import unit_for
from xtile.targets.target import MatrixUnit
from xtile.transforms.distribute_tiles.layouts import Layout
from xtile.translate.tiles_to_xegpu.lowering import Lowering


def _contract(operation: ContractionOp, lowering: Lowering) -> None:
    """A product of matrices, several of them, or sums of products along other dimensions."""
    matrices = as_matrices(operation)
    kind = operation.kind.data
    if matrices is None or kind is not CombiningKindFlag.ADD or not shape_of(operation.acc.type):
        copy(operation, lowering)
        return
    a, b, c = (
        lowering.reshape(lowering.transposed(value, each.order), each.squeezed)
        for value, each in zip(lowering.values(operation.operands), matrices, strict=True)
    )
    sums = matrices[2]
    multiply = _product if len(sums.squeezed) == 2 else _products
    whole = lowering.reshape(multiply(operation, lowering, a, b, c), sums.sizes)
    lowering.define(operation.result, lowering.transposed(whole, sums.inverse))


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
    # What LLVM does not lower, it reads nevertheless, and so do others.
    compiler = lowering.target.compiler._replace(missing_factors=())
    unit = unit_for(
        replace(lowering.target, compiler=compiler),
        lowering.target.matrix_units,
        (value_type(a.type), value_type(b.type)),
        value_type(c.type),
        lanes=lowering.lanes,
    )
    obstacle = unit if isinstance(unit, str) else _obstacle(lowering, unit, rows, columns, depth)
    if obstacle is not None:
        lowering.remark(f"does not use the matrix unit: {obstacle}")
        return lowering.emit(product_of_matrices(a, b, c)).result
    left, right, sums = lowering.layouts_of_product(rows, depth, columns)
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
    held = lowering.held((rows, columns))
    if held[1] % unit.columns:
        return f"a subgroup has {held[1]} columns, no multiple of {unit.columns}"
    if depth % unit.depth:
        return f"the depth is {depth}, no multiple of {unit.depth}"
    return None


def _converted(lowering: Lowering, value: SSAValue, wanted: Layout | None) -> SSAValue:
    """A factor as the product wants it spread."""
    given = lowering.spread_of(value)
    if given is None or wanted is None or given == wanted:
        return value
    return lowering.emit(ConvertLayoutOp(value, given, wanted)).result


RULES: dict[str, Rule] = {ContractionOp.name: _contract}
"""The rule of each operation, by name."""
