"""Comparisons of integers and of floats.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td` and `AttrDefs.td`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    Signedness,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile.integer import signedness_of
from xtile.semantics.cuda_tile.numbers import operand_number
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.upstream.numbers import Number
from xtile.semantics.values import Value

Function: TypeAlias = Callable[[Value, Value], Value]

_RELATIONS: dict[ComparisonPredicate, Function] = {
    ComparisonPredicate.EQUAL: np.equal,
    ComparisonPredicate.NOT_EQUAL: np.not_equal,
    ComparisonPredicate.LESS_THAN: np.less,
    ComparisonPredicate.LESS_THAN_OR_EQUAL: np.less_equal,
    ComparisonPredicate.GREATER_THAN: np.greater,
    ComparisonPredicate.GREATER_THAN_OR_EQUAL: np.greater_equal,
}


def integer_comparison(
    number: Number, predicate: ComparisonPredicate, signedness: Signedness
) -> Function:
    """A comparison of integers."""
    relation = _RELATIONS[predicate]
    sign = number.signed if signedness is Signedness.SIGNED else number.unsigned
    return lambda a, b: relation(sign(a), sign(b))


def float_comparison(
    number: Number, predicate: ComparisonPredicate, ordering: ComparisonOrdering
) -> Function:
    """A comparison of floats, which with a NaN is false if it is ordered and true if it is not."""
    relation = _RELATIONS[predicate]
    is_ordered = ordering is ComparisonOrdering.ORDERED

    def function(a: Value, b: Value) -> Value:
        left, right = number.wide(a), number.wide(b)
        is_nan = np.isnan(left) | np.isnan(right)
        holds = relation(left, right)
        return holds & ~is_nan if is_ordered else holds | is_nan

    return function


def _predicate(operation: Operation) -> ComparisonPredicate:
    return ComparisonPredicate(word_attribute(operation, "comparison_predicate"))


def _cmpi(operation: Operation, compiler: Compiler) -> Step:
    number = operand_number(operation)
    function = integer_comparison(number, _predicate(operation), signedness_of(operation))
    return apply(operation, compiler, function)


def _cmpf(operation: Operation, compiler: Compiler) -> Step:
    ordering = ComparisonOrdering(word_attribute(operation, "comparison_ordering"))
    function = float_comparison(operand_number(operation), _predicate(operation), ordering)
    return apply(operation, compiler, function)


HANDLERS: dict[str, Handler] = {"cuda_tile.cmpf": _cmpf, "cuda_tile.cmpi": _cmpi}
"""The handler of each operation, by name."""
