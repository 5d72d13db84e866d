"""Sums of products: matrix units where they have the type, and else products that are added up.

Source: CUDA Tile IR specification, "mmaf", "mmai"; docs/semantics.md, 7, "Vectors". tileiras 13.5
computes mmaf of f32 with fused multiply-adds in f32 (its remark: "it is using FMA instructions
instead"), never in tf32.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float16Type,
    FloatTF32Type,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr

from xtile.dialects.cuda_tile.enumerations import Signedness
from xtile.dialects.cuda_tile.ops import core, floating_point, matrix_multiply
from xtile.dialects.cuda_tile.types import is_integer
from xtile.dialects.vector.contractions import ContractionOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.combining import combine
from xtile.translate.core_to_cuda_tile.conversions import from_integer
from xtile.translate.core_to_cuda_tile.elementwise import converted
from xtile.translate.core_to_cuda_tile.lowering import TARGET, Lowering
from xtile.translate.core_to_cuda_tile.reductions import reduce
from xtile.translate.core_to_cuda_tile.types import element_type, tile_type

_MATRIX_UNITS: frozenset[tuple[Attribute, Attribute]] = frozenset(
    {
        (f16, f32),
        (bf16, f32),
        (f32, f32),
        (f64, f64),
        (FloatTF32Type(), f32),
        (Float8E4M3FNType(), f32),
        (Float8E5M2Type(), f32),
        (i8, i32),
    }
)
"""The types of factors and sums that `mmaf` and `mmai` multiply exactly."""

_MOST_PRODUCTS = 2**14
"""How many products are held at once where there is no matrix unit."""


@dataclass(frozen=True)
class _Iterations:
    """The dimensions of a contraction: those of both factors and the sum, and so on."""

    batch: tuple[int, ...]
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    depth: tuple[int, ...]


def _contract(operation: ContractionOp, lowering: Lowering) -> None:
    maps = [_positions(attribute.data.results) for attribute in operation.indexing_maps]
    dims = _iterations(maps, lowering)
    a, b, total = lowering.values(operation.operands)
    sizes = dict(zip(maps[0], tile_type(a).get_shape(), strict=True))
    sizes |= dict(zip(maps[1], tile_type(b).get_shape(), strict=True))
    left = _arranged(lowering, a, maps[0], (dims.batch, dims.rows, dims.depth), sizes)
    right = _arranged(lowering, b, maps[1], (dims.batch, dims.depth, dims.columns), sizes)
    own = (dims.batch, dims.rows, dims.columns)
    sums = _arranged(lowering, total, maps[2], own, sizes)
    kind = str(operation.kind.data)
    made = _product(lowering, kind, left, right, sums)
    lowering.define(operation.result, _rearranged(lowering, made, maps[2], own, sizes))


def _positions(results: Sequence[Any]) -> list[int]:
    return [cast(AffineDimExpr, result).position for result in results]


def _iterations(maps: Sequence[Sequence[int]], lowering: Lowering) -> _Iterations:
    left, right, total = map(set, maps)
    alone = (left ^ right) - total
    if alone:
        raise lowering.error(
            f"a contraction that adds up one factor only cannot be translated to {TARGET}"
        )
    return _Iterations(
        tuple(d for d in maps[2] if d in left and d in right),
        tuple(d for d in maps[2] if d in left and d not in right),
        tuple(d for d in maps[2] if d in right and d not in left),
        tuple(d for d in maps[0] if d not in total),
    )


_Groups = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _arranged(
    lowering: Lowering,
    value: SSAValue,
    own: Sequence[int],
    groups: _Groups,
    sizes: dict[int, int],
) -> SSAValue:
    """A tile as a matrix, or as a list of matrices if the first group has dimensions."""
    order = [own.index(dimension) for group in groups for dimension in group]
    shape = [math.prod(sizes[dimension] for dimension in group) for group in groups]
    return lowering.reshape(lowering.permute(value, order), shape if groups[0] else shape[1:])


def _rearranged(
    lowering: Lowering,
    value: SSAValue,
    own: Sequence[int],
    groups: _Groups,
    sizes: dict[int, int],
) -> SSAValue:
    """What `_arranged` arranged, as it was."""
    flat = [dimension for group in groups for dimension in group]
    value = lowering.reshape(value, [sizes[dimension] for dimension in flat])
    return lowering.permute(value, [flat.index(dimension) for dimension in own])


# --- products ---


def _product(lowering: Lowering, kind: str, a: SSAValue, b: SSAValue, total: SSAValue) -> SSAValue:
    """The products of rows and columns, combined with the sums so far."""
    element = element_type(total)
    wide = f32 if isinstance(element, Float16Type | BFloat16Type) else element
    sums = _in_type(lowering, total, wide)
    factor = element_type(a)
    is_for_unit = factor == element_type(b) and (factor, wide) in _MATRIX_UNITS
    if kind == "add" and is_for_unit:
        made = _multiplied(lowering, a, b, sums)
    else:
        a, b = (_in_type(lowering, value, wide) for value in (a, b))
        if kind == "add" and (wide, wide) in _MATRIX_UNITS:
            made = _multiplied(lowering, a, b, sums)
        else:
            made = _added_up(lowering, kind, a, b, sums)
    return _in_type(lowering, made, element)


def _in_type(lowering: Lowering, value: SSAValue, element: Attribute) -> SSAValue:
    """Numbers in another type; integers keep their sign."""
    source = element_type(value)
    if source == element:
        return value
    if is_integer(source):
        if is_integer(element):
            return lowering.resize(value, element)
        return from_integer(lowering, value, element)
    return converted(lowering, value, element)


def _multiplied(lowering: Lowering, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
    """A product by a matrix unit; one of a column and a row needs none."""
    if tile_type(a).get_shape()[-1] == 1:
        return _outer(lowering, a, b, sums)
    if not is_integer(element_type(a)):
        return lowering.compute(matrix_multiply.MmaFOp, a, b, sums)
    signed = Signedness.SIGNED
    return lowering.compute(
        matrix_multiply.MmaIOp, a, b, sums, signedness_lhs=signed, signedness_rhs=signed
    )


def _outer(lowering: Lowering, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
    """The product of a column and a row, which is rounded once with the sum."""
    element, shape = element_type(sums), tile_type(sums).get_shape()
    a, b = (lowering.broadcast(_in_type(lowering, value, element), shape) for value in (a, b))
    if is_integer(element):
        return combine(lowering, "add", sums, combine(lowering, "mul", a, b))
    return lowering.compute(floating_point.FmaOp, a, b, sums)


def _added_up(lowering: Lowering, kind: str, a: SSAValue, b: SSAValue, sums: SSAValue) -> SSAValue:
    """Products of elements, added up for a few columns of `a` and rows of `b` at a time."""
    *batch, rows, depth = tile_type(a).get_shape()
    columns = tile_type(b).get_shape()[-1]
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


def _slice(lowering: Lowering, value: SSAValue, axis: int, start: int, size: int) -> SSAValue:
    """A part of a tile along a dimension."""
    shape = tile_type(value).get_shape()
    if shape[axis] == size:
        return value
    indices = [lowering.integer(start // size if i == axis else 0, i32) for i in range(len(shape))]
    part = tuple(size if i == axis else own for i, own in enumerate(shape))
    return lowering.compute(core.ExtractOp, value, indices, part)


def _outer_product(operation: Operation, lowering: Lowering) -> None:
    raise lowering.error(f"vector.outerproduct cannot be translated to {TARGET}; use a contraction")


RULES: dict[str, Rule] = {
    "vector.contract": _contract,
    "vector.outerproduct": _outer_product,
}
"""The rule of each operation, by name."""
