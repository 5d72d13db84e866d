"""Elements of vectors, and vectors of elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State, any_active
from xtile.semantics.values import Array, Value, is_array
from xtile.semantics.vector.arrays import AXES, as_array, as_number, is_vector, shape_of


def _positions(operation: Operation, dynamic: Sequence[SSAValue], compiler: Compiler) -> list[Any]:
    """The positions of an access: numbers, and the slots of dynamic ones in a list of one."""
    remaining = iter(compiler.slots(dynamic))
    static = cast("Any", operation.properties["static_position"]).get_values()
    return [[next(remaining)] if n == DYNAMIC_INDEX else int(n) for n in static]


def _chosen(positions: list[Any], shape: tuple[int, ...], state: State) -> list[Value]:
    """The positions at run time.

    Raises:
        UnlocatedError: An active work-item's position is outside of the vector.
    """
    chosen = [state.values[p[0]] if isinstance(p, list) else p for p in positions]
    for i, (position, size) in enumerate(zip(chosen, shape, strict=False)):
        wrong = (np.asarray(position) < 0) | (np.asarray(position) >= size)
        if wrong.any() and any_active(wrong if wrong.ndim else wrong[()], state):
            raise UnlocatedError(f"position {i} is outside of a dimension of size {size}")
    return chosen


def _selection(vector: Array, chosen: list[Value], shape: tuple[int, ...]) -> tuple[Any, ...]:
    """Indices that select, in each row and lane, what stands at the positions."""
    places = [np.clip(as_array(position), 0, None) for position in chosen]
    outer = np.broadcast_shapes(vector.shape[:AXES], *(place.shape for place in places))
    rows = np.minimum(np.arange(outer[0]), vector.shape[0] - 1)[:, np.newaxis]
    lanes = np.minimum(np.arange(outer[1]), vector.shape[1] - 1)[np.newaxis]
    clipped = [np.minimum(place, size - 1) for place, size in zip(places, shape, strict=False)]
    return (rows, lanes, *clipped)


def _extract(operation: Operation, compiler: Compiler) -> Step:
    source, *dynamic = operation.operands
    positions = _positions(operation, dynamic, compiler)
    shape = shape_of(source)
    slot, result = compiler.slots((source, operation.results[0]))
    gives_vector = is_vector(operation.results[0])

    def step(state: State) -> None:
        vector: Array = state.values[slot]
        chosen = _chosen(positions, shape, state)
        if any(is_array(position) for position in chosen):
            part = vector[_selection(vector, chosen, shape)]
        else:
            part = vector[(slice(None), slice(None), *(int(p) for p in chosen))]
        state.values[result] = part if gives_vector else as_number(part)

    return step


def _insert(operation: Operation, compiler: Compiler) -> Step:
    value, dest, *dynamic = operation.operands
    positions = _positions(operation, dynamic, compiler)
    shape = shape_of(dest)
    value_slot, slot, result = compiler.slots((value, dest, operation.results[0]))

    def step(state: State) -> None:
        vector: Array = state.values[slot]
        new = as_array(state.values[value_slot])
        chosen = _chosen(positions, shape, state)
        outer = np.broadcast_shapes(
            vector.shape[:AXES], new.shape[:AXES], *(as_array(p).shape for p in chosen)
        )
        made = np.broadcast_to(vector, (*outer, *vector.shape[AXES:])).copy()
        if any(is_array(position) for position in chosen):
            made[_selection(made, chosen, shape)] = new
        else:
            made[(slice(None), slice(None), *(int(p) for p in chosen))] = new
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
    (result,) = compiler.slots(operation.results)
    numbers = np.arange(shape_of(operation.results[0])[0], dtype=np.int64).reshape(1, 1, -1)

    def step(state: State) -> None:
        state.values[result] = numbers

    return step


HANDLERS: dict[str, Handler] = {
    "vector.broadcast": _broadcast,
    "vector.extract": _extract,
    "vector.from_elements": _from_elements,
    "vector.insert": _insert,
    "vector.splat": _broadcast,
    "vector.step": _step,
    "vector.to_elements": _to_elements,
}
