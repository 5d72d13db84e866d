"""Sums of products: matrix units where they have the type, else products that are added up.

Source: docs/semantics.md, 7, "Vectors".
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    IntegerType,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.contractions import as_matrices
from xtile.rewrite.rebuilder import Rule
from xtile.translate.tiles.casts import from_integer
from xtile.translate.tiles.combining import combine
from xtile.translate.tiles.lowering import TileLowering
from xtile.translate.tiles.reductions import reduce

_MOST_PRODUCTS = 2**14
"""How many products are held at once where there is no matrix unit."""


def contract(operation: ContractionOp, lowering: TileLowering) -> None:
    """The rule of a contraction."""
    matrices = as_matrices(operation)
    if matrices is None:
        name = lowering.result_name
        raise lowering.error(
            f"a contraction that adds up one factor only cannot be translated to {name}"
        )
    operands = zip(lowering.values(operation.operands), matrices, strict=True)
    factors_and_sums = [
        lowering.reshape(lowering.permute(value, each.order), each.squeezed)
        for value, each in operands
    ]
    made = _product(lowering, str(operation.kind.data), *factors_and_sums)
    sums = matrices[2]
    whole = lowering.reshape(made, sums.sizes)
    lowering.define(operation.result, lowering.permute(whole, sums.inverse))


# --- products ---


def _product(
    lowering: TileLowering, kind: str, a: SSAValue, b: SSAValue, total: SSAValue
) -> SSAValue:
    """The products of rows and columns, combined with the sums so far."""
    element = lowering.element(total)
    wide = f32 if isinstance(element, Float16Type | BFloat16Type) else element
    sums = _in_type(lowering, total, wide)
    made = _multiplied(lowering, a, b, sums) if kind == "add" else None
    if made is None:
        a, b = (_in_type(lowering, value, wide) for value in (a, b))
        made = _multiplied(lowering, a, b, sums) if kind == "add" else None
    if made is None:
        made = _added_up(lowering, kind, a, b, sums)
    return _in_type(lowering, made, element)


def _in_type(lowering: TileLowering, value: SSAValue, element: Attribute) -> SSAValue:
    """Numbers in another type; integers keep their sign."""
    source = lowering.element(value)
    if source == element:
        return value
    if isa(source, IntegerType):
        if isa(element, IntegerType):
            return lowering.resize(value, element)
        return from_integer(lowering, value, element)
    return lowering.converted(value, element)


def _multiplied(
    lowering: TileLowering, a: SSAValue, b: SSAValue, sums: SSAValue
) -> SSAValue | None:
    """A product by a matrix unit, or of a column and a row, which needs none; None without one."""
    factor, total = lowering.element(a), lowering.element(sums)
    if factor != lowering.element(b) or not lowering.has_matrix_unit(factor, total):
        return None
    if lowering.shape(a)[-1] == 1:
        return _outer(lowering, a, b, sums)
    return lowering.multiplied(a, b, sums)


def _outer(lowering: TileLowering, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
    """The product of a column and a row, which is rounded once with the sum."""
    element, shape = lowering.element(sums), lowering.shape(sums)
    a, b = (lowering.broadcast(_in_type(lowering, value, element), shape) for value in (a, b))
    if isa(element, IntegerType):
        return combine(lowering, "add", sums, combine(lowering, "mul", a, b))
    return lowering.fma(a, b, sums)


def _added_up(
    lowering: TileLowering, kind: str, a: SSAValue, b: SSAValue, sums: SSAValue
) -> SSAValue:
    """Products of elements, added up for a few columns of `a` and rows of `b` at a time."""
    *batch, rows, depth = lowering.shape(a)
    columns = lowering.shape(b)[-1]
    step = max(1, min(depth, _MOST_PRODUCTS // (math.prod(batch) * rows * columns)))
    rank = len(batch)
    for start in range(0, depth, step):
        left = _slice(lowering, a, rank + 1, start, step)
        right = _slice(lowering, b, rank, start, step)
        shape = (*batch, rows, step, columns)
        left = lowering.broadcast(lowering.reshape(left, (*batch, rows, step, 1)), shape)
        right = lowering.broadcast(lowering.reshape(right, (*batch, 1, step, columns)), shape)
        products = combine(lowering, "mul", left, right)
        sums = combine(lowering, kind, sums, reduce(lowering, kind, products, rank + 1))
    return sums


def _slice(lowering: TileLowering, value: SSAValue, axis: int, start: int, size: int) -> SSAValue:
    """A part of a tile along a dimension."""
    shape = lowering.shape(value)
    if shape[axis] == size:
        return value
    indices = [start // size if i == axis else 0 for i in range(len(shape))]
    part = tuple(size if i == axis else own for i, own in enumerate(shape))
    return lowering.extract(value, indices, part)


def _outer_product(operation: Operation, lowering: TileLowering) -> None:
    raise lowering.error(
        f"vector.outerproduct cannot be translated to {lowering.result_name}; use a contraction"
    )


RULES: dict[str, Rule] = {
    "vector.contract": contract,
    "vector.outerproduct": _outer_product,
}
"""The rule of each operation, by name."""
