"""Elements in other places: slices, shuffles, transpositions, other shapes and types."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array
from xtile.semantics.vector.arrays import AXES, as_array, shape_of


def numbers(operation: Operation, name: str) -> list[int]:
    """The numbers in a property: an array of numbers, or of integer attributes."""
    attribute: Any = operation.properties[name]
    if hasattr(attribute, "get_values"):
        return [int(number) for number in attribute.get_values()]
    return [int(each.value.data) for each in attribute]


def _slices(offsets: list[int], sizes: list[int], strides: list[int]) -> tuple[slice, ...]:
    return tuple(
        slice(offset, offset + size * stride, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


def _extract_strided_slice(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    part = _slices(*(numbers(operation, name) for name in ("offsets", "sizes", "strides")))

    def step(state: State) -> None:
        state.values[result] = state.values[source][(slice(None), slice(None), *part)]

    return step


def _insert_strided_slice(operation: Operation, compiler: Compiler) -> Step:
    value, dest = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    sizes = shape_of(operation.operands[0])
    offsets, strides = numbers(operation, "offsets"), numbers(operation, "strides")
    lead = len(offsets) - len(sizes)
    part = _slices(offsets, [1] * lead + list(sizes), [1] * lead + strides)

    def step(state: State) -> None:
        new, whole = state.values[value], state.values[dest]
        outer = np.broadcast_shapes(new.shape[:AXES], whole.shape[:AXES])
        made = np.broadcast_to(whole, (*outer, *whole.shape[AXES:])).copy()
        placed = new.reshape(*new.shape[:AXES], *(1,) * lead, *sizes)
        made[(slice(None), slice(None), *part)] = placed
        state.values[result] = made

    return step


def _shuffle(operation: Operation, compiler: Compiler) -> Step:
    first, second = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    mask = numbers(operation, "mask")
    element = number_of(operation.results[0].type)
    is_poison = np.array([n < 0 for n in mask])

    def step(state: State) -> None:
        a, b = as_array(state.values[first]), as_array(state.values[second])
        a = a.reshape(*a.shape[:AXES], -1) if a.ndim == AXES else a
        b = b.reshape(*b.shape[:AXES], -1) if b.ndim == AXES else b
        outer = np.broadcast_shapes(a.shape[:AXES], b.shape[:AXES])
        both = np.concatenate(
            [np.broadcast_to(x, (*outer, *x.shape[AXES:])) for x in (a, b)], axis=AXES
        )
        made = both[:, :, mask]
        if is_poison.any():
            made[:, :, is_poison] = element.number(0)
        state.values[result] = made

    return step


def _shape_cast(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    shape = shape_of(operation.results[0])

    def step(state: State) -> None:
        vector: Array = state.values[source]
        state.values[result] = vector.reshape(*vector.shape[:AXES], *shape)

    return step


def _transpose(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    axes = [AXES + n for n in numbers(operation, "permutation")]

    def step(state: State) -> None:
        state.values[result] = state.values[source].transpose(0, 1, *axes)

    return step


def _bitcast(operation: Operation, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.operands[0], operation.results[0]))
    shape = shape_of(operation.results[0])
    dtype = number_of(operation.results[0].type).dtype

    def step(state: State) -> None:
        vector = np.ascontiguousarray(state.values[source])
        made = cast("Any", vector.view(dtype))
        state.values[result] = made.reshape(*vector.shape[:AXES], *shape)

    return step


HANDLERS: dict[str, Handler] = {
    "vector.bitcast": _bitcast,
    "vector.extract_strided_slice": _extract_strided_slice,
    "vector.insert_strided_slice": _insert_strided_slice,
    "vector.shape_cast": _shape_cast,
    "vector.shuffle": _shuffle,
    "vector.transpose": _transpose,
}
