"""Comparisons of numbers, and choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i1, i8
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.index import IndexCmpPredicate, IndexCmpPredicateAttr
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.elementwise import (
    elementwise,
    is_folded,
    like,
    wide_pieces,
)
from xtile.translate.xegpu_to_spirv.lowering import Lowering
from xtile.translate.xegpu_to_spirv.types import element_type

_INTEGER_COMPARISONS = (
    "IEqual",
    "INotEqual",
    "SLessThan",
    "SLessThanEqual",
    "SGreaterThan",
    "SGreaterThanEqual",
    "ULessThan",
    "ULessThanEqual",
    "UGreaterThan",
    "UGreaterThanEqual",
)
"""In the order of the numbers of `arith.cmpi`'s predicate, and of those of `index.cmp`."""

_FLOAT_COMPARISONS = (
    None,
    "FOrdEqual",
    "FOrdGreaterThan",
    "FOrdGreaterThanEqual",
    "FOrdLessThan",
    "FOrdLessThanEqual",
    "FOrdNotEqual",
    "Ordered",
    "FUnordEqual",
    "FUnordGreaterThan",
    "FUnordGreaterThanEqual",
    "FUnordLessThan",
    "FUnordLessThanEqual",
    "FUnordNotEqual",
    "Unordered",
    None,
)
"""In the order of the numbers of `arith.cmpf`'s predicate; the first is false, the last true."""


def _predicate(operation: Operation) -> int:
    return cast("IntegerAttr[IntegerType]", operation.properties["predicate"]).value.data


def _compare_integers(operation: Operation, lowering: Lowering) -> None:
    if not is_folded(operation, lowering):
        _define_comparison(operation, lowering, _INTEGER_COMPARISONS[_predicate(operation)])


def _compare_indices(operation: Operation, lowering: Lowering) -> None:
    predicate = cast(IndexCmpPredicateAttr, operation.properties["pred"]).data
    number = list(IndexCmpPredicate).index(predicate)
    _define_comparison(operation, lowering, _INTEGER_COMPARISONS[number])


def _define_comparison(operation: Operation, lowering: Lowering, name: str) -> None:
    is_truth = element_type(operation.operands[0].type) == i1

    def compute(lowering: Lowering, type_: Attribute, operands: Sequence[SSAValue]) -> SSAValue:
        if is_truth:
            operands = [_as_byte(lowering, operand) for operand in operands]
        return lowering.compute(name, type_, *operands)

    elementwise(compute)(operation, lowering)


def _as_byte(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Truth values as i8: 0 and -1, the largest unsigned number."""
    type_ = like(value, i8)
    return lowering.select(value, lowering.integer(-1, type_), lowering.integer(0, type_))


def _compare_floats(operation: Operation, lowering: Lowering) -> None:
    predicate = _predicate(operation)
    name = _FLOAT_COMPARISONS[predicate]
    result = operation.results[0]
    a, b = (wide_pieces(operand, lowering) for operand in operation.operands)
    pieces: list[SSAValue] = []
    for left, right in zip(a, b, strict=True):
        truth = like(left, i1)
        if name is None:
            pieces.append(lowering.integer(int(predicate > 0), truth))
        else:
            pieces.append(lowering.compute(name, truth, left, right))
    lowering.define_pieces(result, pieces)


def _select(operation: Operation, lowering: Lowering) -> None:
    """Chooses numbers, vectors or memrefs; one condition may choose all of them."""
    condition, *values = operation.operands
    conditions = lowering.pieces(condition)
    chosen, other = lowering.flat(values[:1]), lowering.flat(values[1:])
    if len(conditions) == 1:
        conditions = conditions * len(chosen)
    made: list[SSAValue] = []
    for truth, a, b in zip(conditions, chosen, other, strict=True):
        if a.type != b.type:
            raise lowering.error("the memrefs to choose from are in different kinds of memory")
        made.append(a if a is b else lowering.select(truth, a, b))
    lowering.define_flat(operation.results, made)


RULES: dict[str, Rule] = {
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.select": _select,
    "index.cmp": _compare_indices,
}
"""The rule of each operation, by name."""
