"""Tensors of other shapes, and elements at other indices.

Source: Triton 3.9, `TritonOps.td`; for `amdg`, `TritonAMDGPUOps.td`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.triton.tensors import (
    integer_property,
    integers_property,
    number_in,
    of_one,
    of_two,
    optional_slot,
    shape_of,
    splat,
)
from xtile.semantics.upstream.elementwise import apply
from xtile.semantics.values import Array, Value


def _splat(operation: Any, compiler: Compiler) -> Step:
    shape = shape_of(operation.result)
    return of_one(operation, compiler, lambda value: splat(np.reshape(value, ())[()], shape))


def _reshape(operation: Any, compiler: Compiler) -> Step:
    """Row-major order stays; where it need not, it is one of the orders that are allowed."""
    shape = shape_of(operation.results[0])
    return of_one(operation, compiler, lambda value: np.reshape(value, shape)[()])


def _broadcast(operation: Any, compiler: Compiler) -> Step:
    shape = shape_of(operation.result)
    return of_one(operation, compiler, lambda value: np.broadcast_to(value, shape))


def _trans(operation: Any, compiler: Compiler) -> Step:
    order = integers_property(operation, "order")
    return of_one(operation, compiler, lambda value: np.transpose(value, order))


def _cat(operation: Any, compiler: Compiler) -> Step:
    return of_two(operation, compiler, lambda lhs, rhs: np.concatenate([lhs, rhs]))


def _join(operation: Any, compiler: Compiler) -> Step:
    return of_two(operation, compiler, lambda lhs, rhs: np.stack([lhs, rhs], axis=-1))


def _split(operation: Any, compiler: Compiler) -> Step:
    source = compiler.slot(operation.src)
    first, second = compiler.slots(operation.results)

    def step(state: State) -> None:
        values = state.values
        values[first], values[second] = (np.asanyarray(values[source])[..., i][()] for i in (0, 1))

    return step


def gathered(source: Array, indices: Array, axis: int) -> Array:
    """The elements of a tensor at indices along an axis.

    Raises:
        UnlocatedError: An index lies outside.
    """
    check_indices(indices, source.shape[axis], axis)
    return source[along(indices, axis)]


def along(indices: Array, axis: int) -> tuple[Any, ...]:
    """The multi-index of each element of `indices`, which itself is the index along an axis."""
    every: list[Any] = list(np.ix_(*(np.arange(size) for size in indices.shape)))
    every[axis] = indices
    return tuple(every)


def check_indices(indices: Array, size: int, axis: int) -> None:
    """Checks that indices are from 0 to a size.

    Raises:
        UnlocatedError: One is not.
    """
    outside = (indices < 0) | (indices >= size)
    if outside.any():
        index = int(np.ravel(indices)[int(outside.argmax())])
        raise UnlocatedError(
            f"the index {index} lies outside of dimension {axis}, which has size {size}"
        )


def _gather(operation: Any, compiler: Compiler) -> Step:
    axis, number = integer_property(operation, "axis"), number_in(operation.indices)

    def function(source: Value, indices: Value) -> Value:
        return gathered(source, number.unsigned(indices).astype(np.int64), axis)

    return apply(operation, compiler, function)


def _histogram(operation: Any, compiler: Compiler) -> Step:
    """Numbers that are no bin are not counted."""
    source, result = compiler.slots((operation.src, operation.result))
    mask = optional_slot(operation.mask, compiler)
    bins, number = shape_of(operation.result)[0], number_in(operation.result)
    source_number = number_in(operation.src)

    def step(state: State) -> None:
        values = state.values
        found = source_number.unsigned(np.asanyarray(values[source]))
        counted = found < bins
        if mask is not None:
            counted = counted & values[mask]
        counts = np.bincount(found[counted].astype(np.int64), minlength=bins)
        values[result] = number.wrapped(counts.astype(np.int64))

    return step


def _extract_slice(operation: Any, compiler: Compiler) -> Step:
    offsets = integers_property(operation, "static_offsets")
    shape = shape_of(operation.result)
    chosen = tuple(slice(o, o + size) for o, size in zip(offsets, shape, strict=True))
    return of_one(operation, compiler, lambda value: value[chosen])


def _concat(operation: Any, compiler: Compiler) -> Step:
    """The sources are a grid of parts, in row-major order."""
    sources = compiler.slots(operation.operands)
    result = compiler.slot(operation.result)
    part, whole = shape_of(operation.operands[0]), shape_of(operation.result)
    grid = tuple(size // each for size, each in zip(whole, part, strict=True))
    axes = [axis + which * len(part) for axis in range(len(part)) for which in (0, 1)]

    def step(state: State) -> None:
        parts = np.stack([state.values[slot] for slot in sources])
        state.values[result] = parts.reshape(*grid, *part).transpose(axes).reshape(whole)

    return step


HANDLERS: dict[str, Handler] = {
    "amdg.concat": _concat,
    "amdg.extract_slice": _extract_slice,
    "tt.broadcast": _broadcast,
    "tt.cat": _cat,
    "tt.expand_dims": _reshape,
    "tt.gather": _gather,
    "tt.histogram": _histogram,
    "tt.join": _join,
    "tt.reshape": _reshape,
    "tt.splat": _splat,
    "tt.split": _split,
    "tt.trans": _trans,
    "tt.unsplat": _reshape,
}
"""The handler of each operation, by name."""
