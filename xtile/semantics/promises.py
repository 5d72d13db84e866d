"""Assertions, and what an operation promises, but does not keep."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import Number, shape_of
from xtile.semantics.values import Array, Value, with_axes

_AXES = 2
"""Axes before those of a vector: rows and lanes."""


def element_position(flat: int, shape: tuple[int, ...]) -> str:
    """How messages name an element: `element [1, 2]`, or `the value` of what has no dimensions.

    Args:
        flat: The element's position in row-major order.
        shape: The shape of what it is an element of.
    """
    if not shape:
        return "the value"
    index = np.unravel_index(flat, shape)
    return f"element [{', '.join(str(int(each)) for each in index)}]"


def assertion(operation: Operation, compiler: Compiler) -> Step:
    """Stops where a condition does not hold, with the message of the operation."""
    (condition,) = compiler.slots(operation.operands)
    message = cast("StringAttr", operation.properties["message"]).data

    def step(state: State) -> None:
        holds = np.asanyarray(state.values[condition])
        if not holds.all():
            position = element_position(int(np.argmin(holds)), holds.shape)
            raise UnlocatedError(f"the assertion does not hold for {position}: {message}")

    return step


def report_broken_promise(state: State, operation: Operation, broken: Array, message: str) -> None:
    """Tells the observer, if there is one, of the first element that breaks a promise.

    Args:
        state: What runs.
        operation: The operation whose result or operand was promised something.
        broken: Which elements break the promise; an array of any shape.
        message: What is wrong with such an element, as in `the sum does not fit into i32`.
    """
    if state.observer is not None and broken.any():
        position = element_position(int(broken.argmax()), broken.shape)
        state.observer.on_broken_promise(operation, f"{message}, in {position}")


Check: TypeAlias = Callable[..., None]
"""Checks an execution, given the state and the values of the operands."""


def observed(operation: Operation, compiler: Compiler, step: Step, check: Check) -> Step:
    """`step`, before which the operands are checked if the launch is observed."""
    if not compiler.is_observed:
        return step
    operands = compiler.slots(operation.operands)

    def observed_step(state: State) -> None:
        check(state, *(state.values[slot] for slot in operands))
        step(state)

    return observed_step


# Its functions take anything, which the type checker cannot say.
_OPERATOR: Any = operator

_EXACT: dict[str, Callable[..., Any]] = {
    "addi": _OPERATOR.add,
    "muli": _OPERATOR.mul,
    "negi": _OPERATOR.neg,
    "shli": _OPERATOR.lshift,
    "subi": _OPERATOR.sub,
    "trunci": _OPERATOR.pos,
}
"""The operations that may promise not to wrap around, for Python's unbounded integers."""


def no_overflow(
    operation: Operation, promise: str, signs: Sequence[bool], number: Number, result: Number
) -> Check:
    """What checks that exact results fit into a type.

    Args:
        operation: The operation.
        promise: What messages call its promise.
        signs: Whether they fit as signed numbers, or as others, or both.
        number: What numbers the operands are.
        result: What numbers the results are.
    """
    function = _EXACT[operation.name.split(".")[-1]]

    def check(state: State, *operands: Value) -> None:
        for is_signed in signs:
            exact = _exact(function, number, is_signed, operands)
            least, largest = _limits(result, is_signed)
            broken = np.asanyarray((exact < least) | (exact > largest), np.bool_)
            if state.mask is not None:
                broken = broken & with_axes(state.mask, broken.ndim - _AXES)
            if broken.any():
                value = np.broadcast_to(exact, broken.shape).flat[int(broken.argmax())]
                message = f"{promise} is promised, but {value} does not fit into {result.text}"
                report_broken_promise(state, operation, shared(operation, broken), message)

    return check


def shared(operation: Operation, elements: Array) -> Array:
    """Elements of an operation's result without rows and lanes, if a whole work-group shares it."""
    outer, inner = elements.shape[:_AXES], elements.shape[_AXES:]
    is_vector = outer == (1, 1) and inner == shape_of(operation.results[0].type)
    return elements.reshape(inner) if is_vector else elements


def _exact(
    function: Callable[..., Any], number: Number, is_signed: bool, operands: Sequence[Value]
) -> Array:
    """The exact results, as Python's integers."""
    sign = number.signed if is_signed else number.unsigned
    wide = [np.asanyarray(sign(operand)).astype(object) for operand in operands]
    if function is _OPERATOR.lshift:
        # The distance has no sign. Farther shifts lose all bits, too, and would take much memory.
        distance = np.minimum(number.unsigned(operands[1]), number.bits)
        wide[1] = np.asanyarray(distance).astype(object)
    return np.asanyarray(function(*wide), object)


def _limits(number: Number, is_signed: bool) -> tuple[int, int]:
    """The least and the largest number."""
    if not is_signed:
        return 0, 2**number.bits - 1
    return -(2 ** (number.bits - 1)), 2 ** (number.bits - 1) - 1
