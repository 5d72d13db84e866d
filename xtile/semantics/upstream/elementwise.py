"""Handlers of operations that compute each number, or each element of a vector, on its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State, any_active
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.values import Value, choose

Function: TypeAlias = Callable[..., Value]
Meaning: TypeAlias = Callable[[Number], Function]
"""Gives the function for numbers of one type."""


def apply(operation: Operation, compiler: Compiler, function: Function) -> Step:
    """The step that gives the only result what `function` makes of the operands."""
    (result,) = compiler.slots(operation.results)
    operands = compiler.slots(operation.operands)

    def of_one(state: State) -> None:
        values = state.values
        values[result] = function(values[operands[0]])

    def of_two(state: State) -> None:
        values = state.values
        values[result] = function(values[operands[0]], values[operands[1]])

    def of_more(state: State) -> None:
        values = state.values
        values[result] = function(*(values[operand] for operand in operands))

    return {1: of_one, 2: of_two}.get(len(operands), of_more)


def elementwise(meaning: Meaning) -> Handler:
    """The handler of an operation with a meaning for numbers of the first operand's type."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        return apply(operation, compiler, meaning(number_of(operation.operands[0].type)))

    return handler


def constant(operation: Operation, compiler: Compiler, value: Value) -> Step:
    """The step that gives the only result a value that is known."""
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = value

    return step


def partial(
    meaning: Meaning,
    is_undefined: Callable[[Number, Value], Value],
    message: Callable[[Number], str],
) -> Handler:
    """The handler of a binary operation without a result for some second operands.

    Args:
        meaning: The function, for numbers of the operands' type.
        is_undefined: Whether there is no result for a second operand.
        message: What is wrong where an active work-item has one.
    """

    def handler(operation: Operation, compiler: Compiler) -> Step:
        type_ = number_of(operation.operands[0].type)
        function = meaning(type_)
        one = type_.number(1)
        a, b = compiler.slots(operation.operands)
        (result,) = compiler.slots(operation.results)

        def step(state: State) -> None:
            values = state.values
            second = values[b]
            undefined = is_undefined(type_, second)
            if undefined.any():
                if any_active(undefined, state):
                    raise UnlocatedError(message(type_))
                second = choose(undefined, one, second)
            values[result] = function(values[a], second)

        return step

    return handler


def _is_zero(type: Number, value: Value) -> Value:
    return value == 0


def _is_too_far(type: Number, value: Value) -> Value:
    return type.unsigned(value) >= type.bits


def division(meaning: Meaning) -> Handler:
    """The handler of an integer division; a zero divisor is an error.

    Elements of a tensor that nobody uses are computed, too, so a zero divisor counts as 1 there.
    """
    of_numbers = partial(meaning, _is_zero, lambda _: "division by zero")

    def of_elements(number: Number) -> Function:
        function, one = meaning(number), number.number(1)

        def of_two(a: Value, b: Value) -> Value:
            return function(a, choose(b == 0, one, b))

        return of_two

    of_tensors = elementwise(of_elements)

    def handler(operation: Operation, compiler: Compiler) -> Step:
        is_tensor = isinstance(operation.operands[0].type, TensorType)
        return (of_tensors if is_tensor else of_numbers)(operation, compiler)

    return handler


def shift(meaning: Meaning) -> Handler:
    """The handler of a shift; a distance that is not below the width is an error."""
    return partial(
        meaning,
        _is_too_far,
        lambda type: (
            f"a shift by {type.bits} bits or more: the result is poison; the distance must be from "
            f"0 to {type.bits - 1}"
        ),
    )
