"""Elements of vectors, and vectors of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State, any_active
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.elementwise import constant
from xtile.semantics.values import Array, Value, is_array
from xtile.semantics.vector.arrays import (
    AXES,
    along,
    as_array,
    as_number,
    is_vector,
    numbers_in,
    outer_shape,
    shape_of,
    with_outer,
)

_POISON = -1
"""The position that stands for no element."""

_ALL_BITS = 0xFF


class _PartPosition:
    """Where an element or a part is in a vector."""

    def __init__(
        self,
        operation: Operation,
        dynamic: Sequence[SSAValue],
        shape: tuple[int, ...],
        compiler: Compiler,
    ) -> None:
        self._static = numbers_in(operation, "static_position")
        self._dynamic = compiler.slots(dynamic)
        self._shape = shape

    @property
    def is_poison(self) -> bool:
        """Whether they lead to no element."""
        return _POISON in self._static

    def selection(self, vector: Array, state: State) -> tuple[Any, ...]:
        """What selects the part of a vector, whose rows and lanes are those of the positions too.

        Raises:
            UnlocatedError: An active work-item's position is outside of the vector.
        """
        chosen = self._chosen(state)
        if not any(is_array(position) for position in chosen):
            return (slice(None), slice(None), *chosen)
        row_count, lane_count = vector.shape[:AXES]
        rows, lanes = np.ogrid[:row_count, :lane_count]
        return (rows, lanes, *map(as_array, chosen))

    def outer_shape(self, state: State) -> tuple[int, ...]:
        """The rows and lanes of the positions."""
        return outer_shape(*(as_array(state.values[slot]) for slot in self._dynamic))

    def _chosen(self, state: State) -> list[Value]:
        dynamic = iter(self._dynamic)
        chosen: list[Value] = []
        for i, (position, size) in enumerate(zip(self._static, self._shape, strict=False)):
            if position == DYNAMIC_INDEX:
                position = _inside(state.values[next(dynamic)], size, i, state)
            chosen.append(position)
        return chosen


def _inside(position: Value, size: int, dimension: int, state: State) -> Value:
    """A position that is inside of a dimension, wherever it is not used too."""
    wrong = (position < 0) | (position >= size)
    if not np.any(wrong):
        return position
    if any_active(wrong, state):
        raise UnlocatedError(
            f"position {dimension} lies outside of a dimension of size {size}; it must be from 0 "
            f"to {size - 1}"
        )
    return np.clip(position, 0, size - 1)


def _extract(operation: Operation, compiler: Compiler) -> Step:
    source, *dynamic = operation.operands
    positions = _PartPosition(operation, dynamic, shape_of(source), compiler)
    slot, result = compiler.slots((source, operation.results[0]))
    shape = shape_of(operation.results[0])
    gives_vector = is_vector(operation.results[0])
    if positions.is_poison:
        return constant(operation, compiler, filled(operation.results[0].type, _ALL_BITS))

    def step(state: State) -> None:
        vector: Array = state.values[slot]
        outer = np.broadcast_shapes(vector.shape[:AXES], positions.outer_shape(state))
        vector = with_outer(vector, outer)
        part = vector[positions.selection(vector, state)]
        # A vector of one element may stand for the element.
        part = part.reshape(*outer, *shape)
        state.values[result] = part if gives_vector else as_number(part)

    return step


def _insert(operation: Operation, compiler: Compiler) -> Step:
    value, dest, *dynamic = operation.operands
    positions = _PartPosition(operation, dynamic, shape_of(dest), compiler)
    value_slot, slot, result = compiler.slots((value, dest, operation.results[0]))
    if positions.is_poison:
        return constant(operation, compiler, filled(dest.type, _ALL_BITS))

    def step(state: State) -> None:
        vector: Array = state.values[slot]
        new = as_array(state.values[value_slot])
        outer = np.broadcast_shapes(outer_shape(vector, new), positions.outer_shape(state))
        made = with_outer(vector, outer).copy()
        made[positions.selection(made, state)] = new
        state.values[result] = made

    return step


def _from_elements(operation: Operation, compiler: Compiler) -> Step:
    slots = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    shape = shape_of(operation.results[0])

    def step(state: State) -> None:
        arrays = np.broadcast_arrays(*(as_array(state.values[slot]) for slot in slots))
        stacked = np.stack(arrays, axis=-1)
        state.values[result] = stacked.reshape(*stacked.shape[:AXES], *shape)

    return step


def _to_elements(operation: Operation, compiler: Compiler) -> Step:
    (source,) = compiler.slots(operation.operands)
    results = compiler.slots(operation.results)

    def step(state: State) -> None:
        vector: Array = state.values[source]
        flat = vector.reshape(*vector.shape[:AXES], -1)
        for i, result in enumerate(results):
            state.values[result] = as_number(flat[:, :, i])

    return step


def _broadcast(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    given, shape = shape_of(operation.operands[0]), shape_of(operation.results[0])

    def step(state: State) -> None:
        array = as_array(state.values[source])
        outer = array.shape[:AXES]
        padded = array.reshape(*outer, *(1,) * (len(shape) - len(given)), *given)
        state.values[result] = np.broadcast_to(padded, (*outer, *shape))

    return step


def _step(operation: Operation, compiler: Compiler) -> Step:
    (size,) = shape_of(operation.results[0])
    return constant(operation, compiler, along(size, 0, 1))


HANDLERS: dict[str, Handler] = {
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.from_elements": _from_elements,
    "vector.insert": _insert,
    "vector.step": _step,
    "vector.to_elements": _to_elements,
}
"""The handler of each operation, by name."""
