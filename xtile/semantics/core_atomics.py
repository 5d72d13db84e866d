"""The meaning of the `core` dialect's atomic updates of tiles.

Work-groups run one after the other, so that every update is ordered with all accesses.

Source: docs/core-form.md, "Atomic updates".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from xtile.dialects.atomic_kinds import kind_of
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.core_scattered import Positions
from xtile.semantics.state import State
from xtile.semantics.upstream.access import update_elements
from xtile.semantics.upstream.memref import UPDATES
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, Value, choose, contiguous
from xtile.semantics.vector.arrays import AXES, as_array, spread

Update = Callable[[Value, Value], Value]


def _updating(
    operation: AtomicRMWOp | AtomicCompareAndSwapOp,
    compiler: Compiler,
    update: Callable[[State, tuple[int, ...]], tuple[Array, Update]],
) -> Step:
    """The step of an update.

    Args:
        operation: The operation.
        compiler: Compiles it.
        update: Gives an operand for each element of an array of some shape, and what is stored of
            the old element and its operand.
    """
    result = compiler.slot(operation.result)
    positions = Positions(
        operation.memory, operation.indices, operation.mask, operation.value, compiler
    )

    def step(state: State) -> None:
        shape = (*state.actors(is_vector=bool(positions.shape)), *positions.shape)
        operands, function = update(state, shape)
        memory, indices, where = positions.find(state)
        old = update_elements(state, operation, memory, indices, operands, function, where)
        state.values[result] = positions.result(old)

    return step


def _atomic_rmw(operation: AtomicRMWOp, compiler: Compiler) -> Step:
    function = UPDATES[kind_of(operation.kind).name](number_of(operation.value.type))
    value = compiler.slot(operation.value)

    def update(state: State, shape: tuple[int, ...]) -> tuple[Array, Update]:
        return as_array(state.values[value]), function

    return _updating(operation, compiler, update)


def _atomic_compare_and_swap(operation: AtomicCompareAndSwapOp, compiler: Compiler) -> Step:
    expected, value = compiler.slots((operation.expected, operation.value))

    def update(state: State, shape: tuple[int, ...]) -> tuple[Array, Update]:
        rank = len(shape) - AXES
        wanted, new = (
            np.broadcast_to(spread(state.values[slot], rank), shape).ravel()
            for slot in (expected, value)
        )

        def swap(old: Value, which: Array) -> Value:
            return choose(_bits(old) == _bits(wanted[which]), new[which], old)

        return np.arange(new.size).reshape(shape), swap

    return _updating(operation, compiler, update)


def _bits(numbers: Any) -> Array:
    """Numbers as integers of their width."""
    array = contiguous(numbers)
    return array.view(np.dtype(f"u{array.itemsize}"))


HANDLERS: dict[str, Handler] = {
    AtomicCompareAndSwapOp.name: _atomic_compare_and_swap,
    AtomicRMWOp.name: _atomic_rmw,
}
"""The handler of each operation, by name."""
