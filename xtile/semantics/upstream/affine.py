"""The `affine` dialect: indices that affine maps give, and loops, branches and accesses by them.

Source: MLIR (LLVM 22), `Dialect/Affine/IR/AffineOps.td`, and "Affine expressions" of the language
reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, cast

import numpy as np
from xdsl.dialects import affine
from xdsl.ir import Operation
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSet,
    AffineSymExpr,
)
from xdsl.ir.affine.affine_set import AffineConstraintKind

from xtile.dialects.affine.control import groups_of
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Mask, as_index
from xtile.semantics.state import State, any_active
from xtile.semantics.unspecified import copy
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.scf import Counter, index_type, merge_active, run_cases, run_nest
from xtile.semantics.values import Value, is_array

_BY_DIVISION: dict[AffineBinaryOpKind, Callable[[Value, Value], Value]] = {
    AffineBinaryOpKind.FloorDiv: lambda a, b: a // b,
    AffineBinaryOpKind.CeilDiv: lambda a, b: -(-a // b),
    AffineBinaryOpKind.Mod: lambda a, b: a % b,
}


def evaluate(expression: AffineExpr, operands: Sequence[Value], dims: int, state: State) -> Value:
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
            left = evaluate(expression.lhs, operands, dims, state)
            right = evaluate(expression.rhs, operands, dims, state)
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
            results = [evaluate(each, values, dims, state) for each in affine_map.results]
            state.values[result] = reduce(combine, results)

        return step

    return handler


@dataclass(frozen=True)
class _Results:
    """What an affine map gives for the values of some slots.

    Attributes:
        map: The map.
        operands: The slots.
    """

    map: AffineMap
    operands: Sequence[int]

    def of(self, state: State) -> list[Value]:
        """The results."""
        values = [state.values[operand] for operand in self.operands]
        dims = self.map.num_dims
        return [evaluate(each, values, dims, state) for each in self.map.results]


def _map(operation: Operation, name: str) -> AffineMap:
    given: Any = operation.properties[name]
    return given.data


def _load(operation: Operation, compiler: Compiler) -> Step:
    memref, *operands = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    at = _Results(_map(operation, "map"), operands)

    def step(state: State) -> None:
        indices = [as_index(index) for index in at.of(state)]
        state.values[result] = read_elements(state, operation, state.values[memref], indices)

    return step


def _store(operation: Operation, compiler: Compiler) -> Step:
    value, memref, *operands = compiler.slots(operation.operands)
    at = _Results(_map(operation, "map"), operands)

    def step(state: State) -> None:
        indices = [as_index(index) for index in at.of(state)]
        values = state.values
        write_elements(state, operation, values[memref], indices, values[value])

    return step


def _for(operation: Operation, compiler: Compiler) -> Step:
    loop = cast("affine.ForOp", operation)
    lower = _Results(_map(loop, "lowerBoundMap"), compiler.slots(loop.lowerBoundOperands))
    upper = _Results(_map(loop, "upperBoundMap"), compiler.slots(loop.upperBoundOperands))
    variable, *carried = compiler.slots(loop.body.block.args)
    inits, results = compiler.slots(loop.inits), compiler.slots(loop.results)
    body = compiler.region(loop.body)
    stride = np.int64(loop.step.value.data)
    counter = Counter(index_type(), False, "an affine.for")

    def step(state: State) -> None:
        copy(state, inits, carried)

        def each(i: Value, active: Mask) -> None:
            state.values[variable] = i
            body.run(state)
            if active is None:
                copy(state, body.yields, carried)
            else:
                merge_active(state, body.yields, carried, active)

        first = reduce(np.maximum, lower.of(state))
        last = reduce(np.minimum, upper.of(state))
        counter.run(state, (first, last, stride), each)
        copy(state, carried, results)

    return step


def _if(operation: Operation, compiler: Compiler) -> Step:
    given: Any = operation.properties["condition"]
    constraints: AffineSet = given.data
    operands = compiler.slots(operation.operands)
    then, otherwise = (compiler.region(region) for region in operation.regions)
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = [state.values[operand] for operand in operands]
        chosen: Value = np.bool_(True)
        for constraint in constraints.constraints:
            left = evaluate(constraint.lhs, values, constraints.num_dims, state)
            right = evaluate(constraint.rhs, values, constraints.num_dims, state)
            chosen = chosen & _COMPARISONS[constraint.kind](left, right)
        if is_array(chosen):
            run_cases(state, ((chosen, then), (~chosen, otherwise)), results)
            return
        body = then if chosen else otherwise
        body.run(state)
        copy(state, body.yields, results)

    return step


_COMPARISONS: dict[AffineConstraintKind, Callable[[Value, Value], Value]] = {
    AffineConstraintKind.ge: lambda a, b: a >= b,
    AffineConstraintKind.le: lambda a, b: a <= b,
    AffineConstraintKind.eq: lambda a, b: a == b,
}


def _parallel(operation: Operation, compiler: Compiler) -> Step:
    loop = cast("affine.ParallelOp", operation)
    lower, upper = _map(loop, "lowerBoundsMap"), _map(loop, "upperBoundsMap")
    inputs = lower.num_dims + lower.num_symbols
    operands = compiler.slots(loop.map_operands)
    lower_groups = groups_of(lower, loop.lowerBoundsGroups)
    upper_groups = groups_of(upper, loop.upperBoundsGroups)
    strides = [np.int64(stride.value.data) for stride in loop.steps]
    variables = compiler.slots(loop.body.block.args)
    body = compiler.region(loop.body)

    def step(state: State) -> None:
        values = [state.values[operand] for operand in operands]

        def bound(
            combine: Callable[[Value, Value], Value],
            group: Sequence[AffineExpr],
            given: Sequence[Value],
            dims: int,
        ) -> Value:
            return reduce(combine, [evaluate(each, given, dims, state) for each in group])

        firsts = [bound(np.maximum, g, values[:inputs], lower.num_dims) for g in lower_groups]
        lasts = [bound(np.minimum, g, values[inputs:], upper.num_dims) for g in upper_groups]
        bounds = list(zip(firsts, lasts, strides, strict=True))
        run_nest(state, "an affine.parallel", bounds, variables, lambda: body.run(state))

    return step


HANDLERS: dict[str, Handler] = {
    "affine.apply": _combined(np.minimum),
    "affine.for": _for,
    "affine.if": _if,
    "affine.load": _load,
    "affine.max": _combined(np.maximum),
    "affine.min": _combined(np.minimum),
    "affine.parallel": _parallel,
    "affine.store": _store,
}
"""The handler of each operation, by name; `affine.apply` has one result only."""
