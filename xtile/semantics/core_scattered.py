"""The meaning of the `core` dialect's accesses to elements of memory anywhere.

Source: docs/core-form.md, "Gathers and scatters".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from xtile.dialects.core.pointers import pointer_of
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.core_pointers import memory_at, pointee_dtype
from xtile.semantics.memory import Index, Memref, as_index
from xtile.semantics.observer import AccessKind
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.upstream.numbers import shape_of as shape_of_type
from xtile.semantics.values import Array, Value, choose, with_axes
from xtile.semantics.vector.arrays import AXES, as_array, as_number, shape_of, spread

_ALL_BITS = 0xFF


class Positions:
    """The elements of memory that are accessed, and which of them.

    Args:
        memory: A memref or pointers.
        indices: Those of the operation.
        mask: Which elements are accessed; None: all.
        value: The vector of elements, or the one element.
        compiler: Compiles the operation.
    """

    def __init__(
        self,
        memory: SSAValue,
        indices: Sequence[SSAValue],
        mask: SSAValue | None,
        value: SSAValue,
        compiler: Compiler,
    ) -> None:
        self.shape = shape_of_type(value.type)
        self._memory = compiler.slot(memory)
        self._dtype = None if pointer_of(memory.type) is None else pointee_dtype(memory.type)
        self._slots = compiler.slots(indices)
        self._numbers = [number_of(index.type) for index in indices]
        self._mask = None if mask is None else compiler.slot(mask)
        self._has_all_axes = any(
            isinstance(index.type, VectorType) and shape_of(index) == self.shape
            for index in indices
        )

    def find(self, state: State) -> tuple[Memref, list[Index], Value]:
        """A memref, indices with the axes of the vector, and which elements; None: all.

        Raises:
            UnlocatedError: A pointer points to no memory.
        """
        where = None if self._mask is None else as_array(state.values[self._mask])
        if self._dtype is None:
            return state.values[self._memory], self._indices(state), where
        addresses = as_array(state.values[self._memory])
        mask = where
        if state.mask is not None:
            active = with_axes(state.mask, len(self.shape))
            mask = active if where is None else active & where
        return memory_at(state, addresses, self._dtype, mask), [], where

    def _indices(self, state: State) -> list[Index]:
        rank = len(self.shape)
        pairs = zip(self._slots, self._numbers, strict=True)
        made = [as_index(spread(number.signed(state.values[slot]), rank)) for slot, number in pairs]
        if made and not self._has_all_axes:
            # One of them says how many elements there are.
            made[0] = np.broadcast_to(
                np.asanyarray(made[0]), (*np.shape(made[0])[:AXES], *self.shape)
            )
        return made

    def result(self, elements: Array) -> Value:
        """Elements as the value of a vector, or of a number."""
        return elements if self.shape else as_number(as_array(elements))


def _gather_load(operation: GatherLoadOp, compiler: Compiler) -> Step:
    result = compiler.slot(operation.result)
    positions = Positions(
        operation.memory, operation.indices, operation.mask, operation.result, compiler
    )
    kind = AccessKind.READ if operation.order is None else AccessKind.ATOMIC_READ
    padding = None if operation.padding is None else compiler.slot(operation.padding)
    anything = filled(operation.result.type, _ALL_BITS)

    def step(state: State) -> None:
        memory, indices, where = positions.find(state)
        loaded: Array = read_elements(state, operation, memory, indices, where, kind)
        if where is not None:
            other = anything if padding is None else state.values[padding]
            loaded = choose(where, loaded, other)
        state.values[result] = positions.result(loaded)

    return step


def _scatter_store(operation: ScatterStoreOp, compiler: Compiler) -> Step:
    value = compiler.slot(operation.value)
    positions = Positions(
        operation.memory, operation.indices, operation.mask, operation.value, compiler
    )
    kind = AccessKind.WRITE if operation.order is None else AccessKind.ATOMIC_WRITE

    def step(state: State) -> None:
        memory, indices, where = positions.find(state)
        write_elements(state, operation, memory, indices, state.values[value], where, kind)

    return step


HANDLERS: dict[str, Handler] = {
    GatherLoadOp.name: _gather_load,
    ScatterStoreOp.name: _scatter_store,
}
"""The handler of each operation, by name."""
