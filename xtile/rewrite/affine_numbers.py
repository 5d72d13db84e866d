"""Indices that expressions and maps of `affine` give, in `arith`.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td`, and "Affine expressions" of the language
reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, cast

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from xtile.rewrite.facts import constant_of
from xtile.rewrite.indices import ArithBuilder, Index
from xtile.rewrite.rebuilder import Rule


def affine_number(
    builder: ArithBuilder,
    expression: AffineExpr,
    dims: Sequence[Index],
    symbols: Sequence[Index] = (),
) -> Index:
    """What an affine expression gives.

    Args:
        builder: Emits what is not known.
        expression: The expression.
        dims: The values of its dimensions.
        symbols: The values of its symbols.
    """
    match expression:
        case AffineConstantExpr():
            return expression.value
        case AffineDimExpr():
            return dims[expression.position]
        case AffineSymExpr():
            return symbols[expression.position]
        case AffineBinaryOpExpr():
            left = affine_number(builder, expression.lhs, dims, symbols)
            right = affine_number(builder, expression.rhs, dims, symbols)
            return _operation(builder, expression.kind, left, right)
        case _:
            raise AssertionError(f"{expression} is no affine expression")


def affine_numbers(
    builder: ArithBuilder, map_: AffineMap, operands: Sequence[SSAValue]
) -> list[Index]:
    """What a map gives for some values of the source."""
    values = [known(value) for value in builder.values(operands)]
    dims, symbols = values[: map_.num_dims], values[map_.num_dims :]
    return [affine_number(builder, result, dims, symbols) for result in map_.results]


def known(value: SSAValue) -> Index:
    """A value, or the number that it certainly is."""
    number = constant_of(value)
    return value if number is None else number


def _operation(builder: ArithBuilder, kind: AffineBinaryOpKind, a: Index, b: Index) -> Index:
    if kind is AffineBinaryOpKind.Add:
        return builder.add(a, b)
    if kind is AffineBinaryOpKind.Mul:
        return builder.multiply(a, b)
    if kind is AffineBinaryOpKind.CeilDiv:
        return builder.subtract(0, _floor(builder, builder.subtract(0, a), b))
    floor = _floor(builder, a, b)
    if kind is AffineBinaryOpKind.FloorDiv:
        return floor
    return builder.subtract(a, builder.multiply(floor, b))


def _floor(builder: ArithBuilder, a: Index, b: Index) -> Index:
    """The quotient of numbers with a sign, rounded down; the divisor is positive."""
    if isinstance(a, int) and isinstance(b, int) and b > 0:
        return a // b
    if b == 1:
        return a
    return builder.pure(arith.FloorDivSIOp, builder.as_value(a), builder.as_value(b))


def _combined(combine: Callable[[ArithBuilder, Index, Index], Index]) -> Rule:
    def rule(operation: Operation, builder: ArithBuilder) -> None:
        map_ = cast("Any", operation.properties["map"]).data
        numbers = affine_numbers(builder, map_, operation.operands)
        number = reduce(lambda a, b: combine(builder, a, b), numbers)
        builder.define(operation.results[0], builder.as_value(number))

    return rule


RULES: dict[str, Rule] = {
    "affine.apply": _combined(lambda builder, a, b: a),
    "affine.max": _combined(lambda builder, a, b: builder.larger(a, b)),
    "affine.min": _combined(lambda builder, a, b: builder.smaller(a, b)),
}
"""The rules of the operations that compute an index, by name."""
