"""Blocks of memory as vectors, also where they reach beyond the bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from xtile.dialects.shapes import dimensions_of
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Index, Memref, as_index, combine, from_index
from xtile.semantics.state import State
from xtile.semantics.unspecified import STORED, reach
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.values import Array, Value, choose
from xtile.semantics.vector.arrays import AXES, along, shape_of, spread
from xtile.semantics.vector.memory import check_memory


class _Transfer:
    """Where the elements of a transfer's vector are in memory."""

    def __init__(
        self,
        operation: Operation,
        vector: SSAValue,
        base: SSAValue,
        start: Sequence[int],
        masks: Sequence[int | None],
    ) -> None:
        """Reads what the transfer says.

        Args:
            operation: The transfer.
            vector: The vector.
            base: The memory.
            start: The slots of the first element's indices.
            masks: The slots of masks.
        """
        check_memory(operation, base)
        self._shape = shape_of(vector)
        # The dimension of memory for each of the vector; None where elements are repeated.
        self._dimensions = dimensions_of(operation.properties["permutation_map"])
        bounds = cast("Any", operation.properties["in_bounds"])
        self._checked = [
            dimension
            for dimension, is_inside in zip(self._dimensions, bounds, strict=True)
            if dimension is not None and not is_inside
        ]
        self._start = start
        self._masks = [mask for mask in masks if mask is not None]

    def indices(self, state: State) -> list[Index]:
        """The indices of the vector's elements, with its axes."""
        rank = len(self._shape)
        made: list[Any] = [spread(as_index(state.values[index]), rank) for index in self._start]
        for axis, dimension in enumerate(self._dimensions):
            if dimension is not None:
                made[dimension] = made[dimension] + along(self._shape[axis], axis, rank)
        return made

    def where(self, state: State, memref: Memref, indices: Sequence[Index]) -> Value:
        """Which elements are inside of the memref and of the masks; None: all."""
        conditions: list[Value] = [self.in_order(state.values[mask]) for mask in self._masks]
        for dimension in self._checked:
            size = _size(memref, dimension)
            index = indices[dimension]
            conditions.append((index >= 0) & (index < spread(size, len(self._shape))))
        if not conditions:
            return None
        return np.logical_and.reduce(np.broadcast_arrays(*conditions))

    def in_order(self, mask: Array) -> Array:
        """A mask with its axes in the order of the vector's, instead of the memory's."""
        used = [dimension for dimension in self._dimensions if dimension is not None]
        order = [AXES + sorted(used).index(dimension) for dimension in used]
        # Without a dimension in memory, the mask has one of length 1.
        ordered = mask.transpose(0, 1, *order) if used else mask[..., 0]
        repeated = [i + AXES for i, each in enumerate(self._dimensions) if each is None]
        return np.expand_dims(ordered, repeated)


def _size(memref: Memref, dimension: int) -> Value:
    return combine(memref, lambda view: from_index(view.shape[dimension]))


def _read(
    operation: Operation,
    compiler: Compiler,
    mask: int | None = None,
    passthru: int | None = None,
) -> Step:
    given = cast("Any", operation)
    base, padding = compiler.slots((given.source, given.padding))
    (result,) = compiler.slots(operation.results)
    own = None if given.mask is None else compiler.slot(given.mask)
    transfer = _Transfer(
        operation, operation.results[0], given.source, compiler.slots(given.indices), (own, mask)
    )
    shape = shape_of(operation.results[0])

    def step(state: State) -> None:
        values = state.values
        positions = transfer.indices(state)
        where = transfer.where(state, values[base], positions)
        loaded = read_elements(state, operation, values[base], positions, where)
        if where is not None:
            loaded = choose(where, loaded, spread(values[padding], len(shape)))
        if mask is not None and passthru is not None:
            loaded = choose(transfer.in_order(values[mask]), loaded, values[passthru])
        array = spread(loaded, len(shape))
        values[result] = np.broadcast_to(array, (*array.shape[:AXES], *shape))

    return step


def _write(operation: Operation, compiler: Compiler, mask: int | None = None) -> Step:
    given = cast("Any", operation)
    base, vector = compiler.slots((given.source, given.vector))
    own = None if given.mask is None else compiler.slot(given.mask)
    transfer = _Transfer(
        operation, given.vector, given.source, compiler.slots(given.indices), (own, mask)
    )

    def step(state: State) -> None:
        values = state.values
        positions = transfer.indices(state)
        where = transfer.where(state, values[base], positions)
        if state.unspecified:
            reach(state, operation, vector, STORED, where=where)
        write_elements(state, operation, values[base], positions, values[vector], where)

    return step


MASKED = {
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
"""The handlers that take the slot of a mask, too; that of a read takes what passes through."""

HANDLERS: dict[str, Handler] = {**MASKED}
"""The handler of each operation, by name."""
