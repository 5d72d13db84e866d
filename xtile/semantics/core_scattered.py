"""The meaning of the `core` dialect's accesses to elements at indices of their own.

Source: docs/core-form.md, "Gathers and scatters".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from xtile.dialects.core import GatherLoadOp, ScatterStoreOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Index, as_index
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.constants import filled
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.upstream.numbers import shape_of as shape_of_type
from xtile.semantics.values import Array, Value, choose
from xtile.semantics.vector.arrays import AXES, shape_of, spread

_ALL_BITS = 0xFF


class Places:
    """The indices of the elements of a vector, of which some are the same for all.

    Args:
        indices: Those of the operation.
        mask: Which elements are accessed; None: all.
        value: The vector of elements.
        compiler: Compiles the operation.
    """

    def __init__(
        self,
        indices: Sequence[SSAValue],
        mask: SSAValue | None,
        value: SSAValue,
        compiler: Compiler,
    ) -> None:
        self.shape = shape_of_type(value.type)
        self._slots = compiler.slots(indices)
        self._numbers = [number_of(index.type) for index in indices]
        self._mask = None if mask is None else compiler.slot(mask)
        self._has_all_axes = any(
            isinstance(index.type, VectorType) and shape_of(index) == self.shape
            for index in indices
        )

    def indices(self, state: State) -> list[Index]:
        """The indices, with the axes of the vector."""
        rank = len(self.shape)
        pairs = zip(self._slots, self._numbers, strict=True)
        made = [as_index(spread(number.signed(state.values[slot]), rank)) for slot, number in pairs]
        if not self._has_all_axes:
            # One of them says how many elements there are.
            made[0] = np.broadcast_to(np.asarray(made[0]), (*np.shape(made[0])[:AXES], *self.shape))
        return made

    def where(self, state: State) -> Value:
        """Which elements are accessed; None: all."""
        return None if self._mask is None else state.values[self._mask]


def _gather_load(operation: GatherLoadOp, compiler: Compiler) -> Step:
    memory, result = compiler.slots((operation.memory, operation.result))
    places = Places(operation.indices, operation.mask, operation.result, compiler)
    padding = None if operation.padding is None else compiler.slot(operation.padding)
    anything = filled(operation.result.type, _ALL_BITS)

    def step(state: State) -> None:
        values, where = state.values, places.where(state)
        loaded: Array = read_elements(
            state, operation, values[memory], places.indices(state), where
        )
        if where is not None:
            loaded = choose(where, loaded, anything if padding is None else values[padding])
        values[result] = loaded

    return step


def _scatter_store(operation: ScatterStoreOp, compiler: Compiler) -> Step:
    value, memory = compiler.slots((operation.value, operation.memory))
    places = Places(operation.indices, operation.mask, operation.value, compiler)

    def step(state: State) -> None:
        values, where = state.values, places.where(state)
        write_elements(
            state, operation, values[memory], places.indices(state), values[value], where
        )

    return step


HANDLERS: dict[str, Handler] = {
    GatherLoadOp.name: _gather_load,
    ScatterStoreOp.name: _scatter_store,
}
"""The handler of each operation, by name."""
