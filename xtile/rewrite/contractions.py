"""Which iterations of a contraction run along which dimension of its operands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.arith import TruncFOp
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Operation, SSAValue, Use
from xdsl.ir.affine import AffineDimExpr

from xtile.dialects.upstream import value_type

Maps = tuple[tuple[int, ...], ...]
"""For each operand the number of the iteration along each of its dimensions."""

MATMUL: Maps = ((0, 2), (2, 1), (0, 1))
"""C := A B + C."""

_TURNED = {0: ((0, 2), (2, 0)), 1: ((2, 1), (1, 2))}
"""For A and B of a product their maps as they are, and if they are transposed."""


def iteration_maps(operation: Operation) -> Maps:
    """The maps of a contraction with its iterations numbered anew.

    Those of the result come first, in its order, and then those that are summed up in the order in
    which the factors have them. So it does not matter what the source calls them.
    """
    attributes = cast("ArrayAttr[AffineMapAttr]", operation.properties["indexing_maps"])
    lhs, rhs, sums = (
        [cast("AffineDimExpr", each).position for each in attribute.data.results]
        for attribute in attributes
    )
    numbers: dict[int, int] = {}
    for iteration in (*sums, *lhs, *rhs):
        numbers.setdefault(iteration, len(numbers))
    return tuple(tuple(numbers[each] for each in map_) for map_ in (lhs, rhs, sums))


def uses_as_factor(value: SSAValue) -> Iterator[Use]:
    """The uses of a matrix; where it is cast to tf32, those of the result."""
    for use in value.uses:
        operation = use.operation
        if isinstance(operation, TruncFOp) and str(value_type(operation.result.type)) == "tf32":
            yield from operation.result.uses
        else:
            yield use


def factors_of(operation: Operation) -> tuple[tuple[int, bool], tuple[int, bool]] | None:
    """The operands that are A and B of a product C := A B + C; None if it is none.

    Returns:
        For A and B the number of the operand, and whether that is the transpose.
    """
    maps = iteration_maps(operation)
    if maps[2] != MATMUL[2]:
        return None
    for order in ((0, 1), (1, 0)):
        a, b = (maps[number] for number in order)
        if a in _TURNED[0] and b in _TURNED[1]:
            return (order[0], a != MATMUL[0]), (order[1], b != MATMUL[1])
    return None
