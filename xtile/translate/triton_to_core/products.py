"""Products of matrices, reductions and scans.

Source: Triton 3.9, `TritonOps.td`; docs/core-form.md, "Reductions and scans".
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    Float4E2M1FNType,
    Float8E4M3FNType,
    Float8E5M2Type,
    Float8E8M0FNUType,
    FloatAttr,
    FloatTF32Type,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    VectorType,
    bf16,
    f16,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from xtile.dialects.core.packing import UnpackOp
from xtile.dialects.core.reductions import ReduceOp, ScanOp
from xtile.dialects.core.scaled_products import ScaledContractOp
from xtile.dialects.core.subgroup import YieldOp
from xtile.dialects.shapes import with_element
from xtile.dialects.triton.operation import shape_of
from xtile.dialects.triton.tt.enumerations import InputPrecision, ScaleDotElemType, keyword
from xtile.dialects.triton.tt.ops import DotOp, DotScaledOp
from xtile.dialects.triton.tt.ops import ReduceOp as TritonReduceOp
from xtile.dialects.triton.tt.ops import ScanOp as TritonScanOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import product_of_matrices
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of as vector_shape
from xtile.translate.triton_to_core.arithmetic import converted
from xtile.translate.triton_to_core.raising import Raising

_BYTE = 8


def _dot(operation: DotOp, raising: Raising) -> None:
    """A product; of f32 it is one of tf32 where that is asked for, and else one of f32."""
    lhs, rhs, acc = raising.values((operation.a, operation.b, operation.c))
    elements = [value_type(value.type) for value in (lhs, rhs)]
    if elements[0] != elements[1]:
        # f8 of two kinds; f16 holds both.
        lhs, rhs = (converted(raising, value, f16) for value in (lhs, rhs))
    if operation.precision is InputPrecision.TF32 and value_type(lhs.type) == f32:
        lhs, rhs = (converted(raising, value, FloatTF32Type()) for value in (lhs, rhs))
    element, sums = value_type(lhs.type), value_type(acc.type)
    if isinstance(sums, AnyFloat) and _bits(sums) < _bits(f32) and _bits(element) > _BYTE:
        acc = raising.compute(arith.ExtFOp, [acc], with_element(acc.type, f32))
    made = raising.emit(product_of_matrices(lhs, rhs, acc)).result
    raising.define(
        operation.d, converted(raising, made, sums) if isinstance(sums, AnyFloat) else made
    )


def _bits(element: Attribute) -> int:
    bits: Any = element
    return bits.bitwidth


# --- scaled products ---

_TYPES: Mapping[ScaleDotElemType, Attribute] = {
    ScaleDotElemType.E4M3: Float8E4M3FNType(),
    ScaleDotElemType.E5M2: Float8E5M2Type(),
    ScaleDotElemType.E2M1: Float4E2M1FNType(),
    ScaleDotElemType.BF16: bf16,
    ScaleDotElemType.FP16: f16,
}
"""What elements are; those of 6 bits are in no tensor of Triton's."""


def _dot_scaled(operation: DotScaledOp, raising: Raising) -> None:
    """Scales are rows beside the rows of the left operand and the columns of the right one."""
    rank = len(shape_of(operation.d.type))
    sides = zip(
        (operation.a, operation.b),
        operation.elements,
        operation.packs_k,
        (rank - 1, rank - 2),
        strict=True,
    )
    lhs, rhs = (_factor(raising, *side) for side in sides)
    scale = raising.optional(operation.a_scale)
    left = scales(raising, scale[0]) if scale else None
    scale = raising.optional(operation.b_scale)
    order = [*range(rank - 2), rank - 1, rank - 2]
    right = scales(raising, raising.transposed(scale[0], order)) if scale else None
    acc = raising.value(operation.c)
    sums = value_type(acc.type)
    if left is None and right is None:
        lhs, rhs = (converted(raising, each, f32) for each in (lhs, rhs))
        made = raising.emit(product_of_matrices(lhs, rhs, converted(raising, acc, f32))).result
    else:
        is_fast = operation.fastMath.value.data != 0
        acc = converted(raising, acc, f32)
        made = raising.emit(ScaledContractOp(lhs, rhs, acc, left, right, fast=is_fast)).result
    raising.define(operation.d, converted(raising, made, sums))


def element_type(raising: Raising, element: ScaleDotElemType) -> Attribute:
    """The type of elements.

    Raises:
        DiagnosticError: There is none, at the operation that is being translated.
    """
    if element not in _TYPES:
        raise raising.error(
            f"elements of {keyword(element)} cannot be translated to the core form; "
            "use e4m3, e5m2, e2m1, bf16 or fp16"
        )
    return _TYPES[element]


def _factor(
    raising: Raising, old: SSAValue, element: ScaleDotElemType, packs_k: bool, depth: int
) -> SSAValue:
    """A factor as floats; two of 4 bits come out of each byte."""
    value = raising.value(old)
    type_ = element_type(raising, element)
    if value_type(value.type) == type_:
        return value
    if element is not ScaleDotElemType.E2M1:
        return raising.compute(arith.BitcastOp, [value], with_element(value.type, type_))
    rank = len(vector_shape(value.type))
    axis = depth if packs_k else 2 * rank - 3 - depth
    shape = list(vector_shape(value.type))
    shape[axis] *= 2
    properties = {"axis": IntegerAttr(axis, i64)}
    return raising.compute(UnpackOp, [value], VectorType(type_, shape), properties)


def scales(raising: Raising, scale: SSAValue) -> SSAValue:
    """Scales; integers are exponents of powers of two."""
    if not isinstance(value_type(scale.type), IntegerType):
        return scale
    type_ = with_element(scale.type, Float8E8M0FNUType())
    return raising.compute(arith.BitcastOp, [scale], type_)


# --- reductions and scans ---


_IDENTITIES: Mapping[str, float | None] = {
    "arith.addf": -0.0,
    "arith.addi": 0,
    "arith.andi": -1,
    "arith.maximumf": -math.inf,
    "arith.maxsi": None,
    "arith.maxui": 0,
    "arith.minimumf": math.inf,
    "arith.minsi": None,
    "arith.minui": -1,
    "arith.mulf": 1.0,
    "arith.muli": 1,
    "arith.ori": 0,
    "arith.xori": 0,
}
"""What changes nothing when it is combined with a number; None where it depends on the width."""


def _identity(combination: Operation, type_: Attribute) -> Attribute:
    """The identity of an operation that has a row."""
    number = _IDENTITIES[combination.name]
    if isinstance(type_, AnyFloat):
        assert number is not None
        return FloatAttr(float(number), type_)
    assert isa(type_, IntegerType)
    if number is None:
        half = 1 << (type_.width.data - 1)
        number = -half if combination.name == "arith.maxsi" else half - 1
    return IntegerAttr(int(number), type_)


def _identities(block: Block) -> list[Attribute] | None:
    """The identity of each combination of a region, if each is one operation on one pair."""
    end = block.last_op
    assert end is not None
    count = len(block.args) // 2
    found: list[Attribute] = []
    for position, value in enumerate(end.operands):
        combination = value.owner
        if isinstance(combination, Block) or combination.name not in _IDENTITIES:
            return None
        pair = {block.args[position], block.args[count + position]}
        if set(combination.operands) != pair:
            return None
        found.append(_identity(combination, value.type))
    return found


def _body(block: Block, raising: Raising) -> Region:
    new = Block(arg_types=raising.types(block.args))
    for was, becomes in zip(block.args, new.args, strict=True):
        raising.define(was, becomes)
    last = block.last_op
    assert last is not None
    with raising.at_end_of(new):
        for inner in block.ops:
            if inner is not last:
                raising.translate(inner)
        raising.emit(YieldOp.build(operands=[raising.values(last.operands)]))
    return Region(new)


def _properties(operation: TritonReduceOp | TritonScanOp) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"axis": IntegerAttr(operation.dimension, i64)}
    identities = _identities(operation.combination)
    return properties if identities is None else {**properties, "identities": ArrayAttr(identities)}


def _reduce(operation: TritonReduceOp, raising: Raising) -> None:
    made = ReduceOp.build(
        operands=[raising.values(operation.srcs)],
        result_types=[raising.types(operation.results)],
        properties=_properties(operation),
        regions=[_body(operation.combination, raising)],
    )
    raising.replace(operation, made)


def _scan(operation: TritonScanOp, raising: Raising) -> None:
    properties = _properties(operation)
    if operation.is_reverse:
        properties["reverse"] = UnitAttr()
    made = ScanOp.build(
        operands=[raising.values(operation.srcs)],
        result_types=[raising.types(operation.results)],
        properties=properties,
        regions=[_body(operation.combination, raising)],
    )
    raising.replace(operation, made)


RULES: dict[str, Rule] = {
    "tt.dot": _dot,
    "tt.dot_scaled": _dot_scaled,
    "tt.reduce": _reduce,
    "tt.scan": _scan,
}
"""The rule of each operation, by name."""
