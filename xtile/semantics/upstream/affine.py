"""The `affine` dialect: indices that affine maps give.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td`, and "Affine expressions" of the language
reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
from xdsl.ir import Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State, any_active
from xtile.semantics.values import Value

_BY_DIVISION: dict[AffineBinaryOpKind, Callable[[Value, Value], Value]] = {
    AffineBinaryOpKind.FloorDiv: lambda a, b: a // b,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -(-a // b),
    AffineBinaryOpKind.Mod: lambda a, b: a % b,
}


def _evaluate(expression: AffineExpr, operands: Sequence[Value], dims: int, state: State) -> Value:
    """The value of an expression.

    Raises:
        UnlocatedError: A divisor is not positive, for which there is no result.
    """
    match expression:
        case AffineConstantExpr():
            return np.int64(expression.value)
        case AffineDimExpr():
            return operands[expression.position]
        case AffineSymExpr():
            return operands[dims + expression.position]
        case AffineBinaryOpExpr():
            left = _evaluate(expression.lhs, operands, dims, state)
            right = _evaluate(expression.rhs, operands, dims, state)
            if expression.kind is AffineBinaryOpKind.Add:
                return left + right
            if expression.kind is AffineBinaryOpKind.Mul:
                return left * right
            is_wrong = right < 1
            if any_active(is_wrong, state):
                raise UnlocatedError("an affine map divides by a number that is not positive")
            return _BY_DIVISION[expression.kind](left, np.where(is_wrong, 1, right)[()])
        case _:
            raise AssertionError(f"{expression} is no affine expression")


def _combined(combine: Callable[[Value, Value], Value]) -> Handler:
    """The handler of an operation that gives one number of all results of its map."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        given: Any = operation.properties["map"]
        affine_map: AffineMap = given.data
        operands = compiler.slots(operation.operands)
        (result,) = compiler.slots(operation.results)

        def step(state: State) -> None:
            values = [state.values[operand] for operand in operands]
            dims = affine_map.num_dims
            results = [_evaluate(each, values, dims, state) for each in affine_map.results]
            state.values[result] = reduce(combine, results)

        return step

    return handler


HANDLERS: dict[str, Handler] = {
    "affine.apply": _combined(np.minimum),
    "affine.min": _combined(np.minimum),
}
"""The handler of each operation, by name; `affine.apply` has one result only."""
