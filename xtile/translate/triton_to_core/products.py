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
    FloatAttr,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    f16,
    f32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.utils.hints import isa

from xtile.dialects.core import ReduceOp, ScanOp, YieldOp
from xtile.dialects.shapes import with_element
from xtile.dialects.triton.tt.ops import DotOp
from xtile.dialects.triton.tt.ops import ReduceOp as TritonReduceOp
from xtile.dialects.triton.tt.ops import ScanOp as TritonScanOp
from xtile.dialects.upstream import value_type
from xtile.dialects.vector.contractions import product_of_matrices
from xtile.rewrite.rebuilder import Rule
from xtile.translate.triton_to_core.arithmetic import converted
from xtile.translate.triton_to_core.raising import Raising

_BYTE = 8


def _dot(operation: DotOp, raising: Raising) -> None:
    """A product; of f32, it is one of f32 whichever precision would be enough."""
    lhs, rhs, acc = raising.values((operation.a, operation.b, operation.c))
    elements = [value_type(value.type) for value in (lhs, rhs)]
    if elements[0] != elements[1]:
        # f8 of two kinds; f16 holds both.
        lhs, rhs = (converted(raising, value, f16) for value in (lhs, rhs))
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
    "tt.reduce": _reduce,
    "tt.scan": _scan,
}
"""The rule of each operation, by name."""
