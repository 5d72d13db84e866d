"""The meaning of `core.assume`: its operand; an observer learns of what does not hold.

Source: docs/core-form.md, "Assumptions".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.pointers import pointer_of
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.promises import report_broken_promise, shared
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, with_axes
from xtile.semantics.vector.arrays import AXES, as_array

_Check = tuple[str, Callable[[Array], Array]]
"""What is assumed, and which of some numbers break it."""


def _assume(operation: AssumeOp, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.value, operation.result))
    number = number_of(operation.value.type)
    checks = list(_checks(operation)) if compiler.is_observed else []

    def step(state: State) -> None:
        state.values[result] = state.values[source]
        if not checks:
            return
        numbers = as_array(number.signed(state.values[source])).astype(np.int64)
        active = with_axes(state.active(), numbers.ndim - AXES)
        for what, is_broken in checks:
            broken = shared(operation, is_broken(numbers) & active)
            report_broken_promise(state, operation, broken, f"{what} is assumed, but does not hold")

    return step


def _checks(operation: AssumeOp) -> Iterator[_Check]:
    least, most, divisor = operation.least, operation.most, operation.divisor
    if least is not None:
        yield f"at_least {least}", lambda numbers: numbers < least
    if most is not None:
        yield f"at_most {most}", lambda numbers: numbers > most
    if operation.groups is not None:
        groups = operation.groups
        yield f"equal {list(groups)}", lambda numbers: numbers != _firsts(numbers, groups)
    if operation.run is not None:
        yield _contiguous(*operation.run, _distance(operation))
    if divisor != 1:
        yield _divisible(divisor, operation.run)


def _distance(operation: AssumeOp) -> int:
    """How far numbers that follow each other are apart: pointers count bytes."""
    pointer = pointer_of(operation.value.type)
    return 1 if pointer is None else number_of(pointer.pointee_type).dtype.itemsize


def _contiguous(length: int, along: int, distance: int) -> _Check:
    def is_broken(numbers: Array) -> Array:
        steps = distance * _position(numbers, length, along)
        return numbers != _first_along(numbers, length, along) + steps

    return f"contiguous {length} along {along}", is_broken


def _divisible(divisor: int, run: tuple[int, int] | None) -> _Check:
    def is_broken(numbers: Array) -> Array:
        is_odd = numbers % divisor != 0
        return is_odd if run is None else is_odd & (_position(numbers, *run) == 0)

    return f"divisible_by {divisor}", is_broken


def _position(numbers: Array, length: int, along: int) -> Array:
    """The position of each element in its group along a dimension."""
    count = int(numbers.shape[AXES + along])
    return with_axes(np.arange(count) % length, numbers.ndim - AXES - along - 1)


def _firsts(numbers: Array, groups: tuple[int, ...]) -> Array:
    """For each element the first one of its group."""
    for dimension, size in enumerate(groups):
        numbers = _first_along(numbers, size, dimension)
    return numbers


def _first_along(numbers: Array, size: int, dimension: int) -> Array:
    index = np.arange(int(numbers.shape[AXES + dimension]))
    return np.take(numbers, index - index % size, AXES + dimension)


HANDLERS: dict[str, Handler] = {AssumeOp.name: _assume}
"""The handler of each operation, by name."""
