"""Comparisons of numbers, and choices."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import i1, i8
from xdsl.ir import Operation, SSAValue

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    Signedness,
)
from xtile.dialects.cuda_tile.ops import bitwise, conversions
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_cuda_tile.lowering import Lowering
from xtile.translate.core_to_cuda_tile.types import element_type, tile_type
from xtile.translate.tiles.casts import in_computed_type

_IS = ComparisonPredicate
_ORDERED, _UNORDERED = ComparisonOrdering.ORDERED, ComparisonOrdering.UNORDERED

_INTEGER_COMPARISONS = (
    (_IS.EQUAL, True),
    (_IS.NOT_EQUAL, True),
    (_IS.LESS_THAN, True),
    (_IS.LESS_THAN_OR_EQUAL, True),
    (_IS.GREATER_THAN, True),
    (_IS.GREATER_THAN_OR_EQUAL, True),
    (_IS.LESS_THAN, False),
    (_IS.LESS_THAN_OR_EQUAL, False),
    (_IS.GREATER_THAN, False),
    (_IS.GREATER_THAN_OR_EQUAL, False),
)
"""Predicates, and whether they are of signed numbers, by the numbers of `arith.cmpi`."""

_FLOAT_ORDER = (
    _IS.EQUAL,
    _IS.GREATER_THAN,
    _IS.GREATER_THAN_OR_EQUAL,
    _IS.LESS_THAN,
    _IS.LESS_THAN_OR_EQUAL,
    _IS.NOT_EQUAL,
)
"""Ordered predicates of `arith.cmpf` have the numbers from 1, unordered ones those from 8."""

_FALSE, _ORD, _UNO, _TRUE = 0, 7, 14, 15


def _predicate(operation: Operation) -> int:
    return cast(Any, operation.properties["predicate"]).value.data


def _compare_integers(operation: Operation, lowering: Lowering) -> None:
    predicate, is_signed = _INTEGER_COMPARISONS[_predicate(operation)]
    a, b = (_as_number(lowering, value) for value in lowering.values(operation.operands))
    lowering.define(operation.results[0], lowering.compare(predicate, a, b, is_signed))


def _as_number(lowering: Lowering, value: SSAValue) -> SSAValue:
    """Truth values as i8: 0 and -1, the largest unsigned number."""
    if element_type(value) != i1:
        return value
    target = tile_type(value).with_element_type(i8)
    return lowering.compute(conversions.ExtIOp, value, target, signedness=Signedness.SIGNED)


def _compare_floats(operation: Operation, lowering: Lowering) -> None:
    a, b = (in_computed_type(lowering, value) for value in lowering.values(operation.operands))
    lowering.define(operation.results[0], _floats_compare(lowering, _predicate(operation), a, b))


def _floats_compare(lowering: Lowering, number: int, a: SSAValue, b: SSAValue) -> SSAValue:
    if number in (_FALSE, _TRUE):
        type_ = tile_type(a).with_element_type(i1)
        return lowering.constant(int(number == _TRUE), type_)
    if number in (_ORD, _UNO):
        return _is_nan(lowering, a, b, number == _UNO)
    ordering = _ORDERED if number < _ORD else _UNORDERED
    predicate = _FLOAT_ORDER[number - 1 if number < _ORD else number - 8]
    return lowering.compare_floats(predicate, a, b, ordering)


def _is_nan(lowering: Lowering, a: SSAValue, b: SSAValue, is_any: bool) -> SSAValue:
    """Whether any number is NaN, or none."""
    predicate, ordering = (_IS.NOT_EQUAL, _UNORDERED) if is_any else (_IS.EQUAL, _ORDERED)
    sides = [lowering.compare_floats(predicate, x, x, ordering) for x in (a, b)]
    if a is b:
        return sides[0]
    return lowering.compute(bitwise.OrIOp if is_any else bitwise.AndIOp, *sides)


def _select(operation: Operation, lowering: Lowering) -> None:
    """Chooses numbers, vectors or memrefs; one condition may choose all of them."""
    condition, *values = operation.operands
    truth = lowering.value(condition)
    chosen, other = lowering.flat(values[:1]), lowering.flat(values[1:])
    made: list[SSAValue] = []
    for a, b in zip(chosen, other, strict=True):
        if a is b:
            made.append(a)
            continue
        operands = truth, a, b
        key = "select", *operands
        made.append(
            lowering.shared(key, operands, lambda each=operands: lowering.select(*each))
            if not tile_type(a).rank
            else lowering.select(*operands)
        )
    lowering.define_flat(operation.results, made)


RULES: dict[str, Rule] = {
    "arith.cmpf": _compare_floats,
    "arith.cmpi": _compare_integers,
    "arith.select": _select,
}
"""The rule of each operation, by name."""
