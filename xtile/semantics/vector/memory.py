"""Neighbouring elements of memory, and elements anywhere, as vectors.

Accesses beyond the bounds of the memory are errors, as those of the `memref` dialect are, except
where the mask is not set.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Operation, SSAValue

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Index, as_index
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, Value, choose
from xtile.semantics.vector.arrays import AXES, along, shape_of, spread

ElementIndices: TypeAlias = Callable[[State, Value], list[Index]]
"""Gives the indices of a vector's elements, from the mask if there is one."""


def check_memory(operation: Operation, base: SSAValue) -> None:
    """Checks that a memory can be accessed.

    Raises:
        ValueError: It is a tensor, or its elements are vectors.
    """
    if isinstance(base.type, TensorType):
        raise ValueError(f"{operation.name} of a tensor cannot be executed; use a memref")
    element: Any = getattr(base.type, "element_type", None)
    if isinstance(element, VectorType):
        raise ValueError(
            f"a memref of vectors, {base.type}, cannot be executed; use one of scalars"
        )


def _neighbours(
    operation: Operation, vector: SSAValue, base: SSAValue, indices: Sequence[int]
) -> ElementIndices:
    """The positions of elements that follow each other in the last dimensions."""
    check_memory(operation, base)
    shape = shape_of(vector)
    rank, first = len(shape), len(indices) - len(shape)
    steps = [along(size, axis, rank) for axis, size in enumerate(shape)]

    def positions(state: State, mask: Value) -> list[Index]:
        start = [spread(as_index(state.values[index]), rank) for index in indices]
        return [*start[:first], *(a + b for a, b in zip(start[first:], steps, strict=True))]

    return positions


def _packed(
    operation: Operation, vector: SSAValue, base: SSAValue, indices: Sequence[int]
) -> ElementIndices:
    """The positions of elements that follow each other, counting only those of the mask."""
    neighbours = _neighbours(operation, vector, base, indices)
    rank = len(shape_of(vector))

    def positions(state: State, mask: Value) -> list[Index]:
        chosen = neighbours(state, mask)
        last = spread(as_index(state.values[indices[-1]]), rank)
        return [*chosen[:-1], last + np.cumsum(mask, axis=-1, dtype=np.int64) - mask]

    return positions


def _load(operation: Operation, compiler: Compiler) -> Step:
    base, *indices = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    positions = _neighbours(operation, operation.results[0], operation.operands[0], indices)
    shape = shape_of(operation.results[0])

    def step(state: State) -> None:
        values = state.values
        loaded = read_elements(state, operation, values[base], positions(state, None))
        values[result] = _full(loaded, shape)

    return step


def _store(operation: Operation, compiler: Compiler) -> Step:
    vector, base, *indices = compiler.slots(operation.operands)
    positions = _neighbours(operation, operation.operands[0], operation.operands[1], indices)

    def step(state: State) -> None:
        values = state.values
        write_elements(state, operation, values[base], positions(state, None), values[vector])

    return step


def _full(loaded: Value, shape: tuple[int, ...]) -> Array:
    """What was loaded, as a vector."""
    array = spread(loaded, len(shape))
    return np.broadcast_to(array, (*array.shape[:AXES], *shape))


def _masked_load(find: Callable[..., ElementIndices]) -> Handler:
    """The handler of a load under a mask, of elements that `find` gives the positions of."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        base, *indices, mask, other = compiler.slots(operation.operands)
        (result,) = compiler.slots(operation.results)
        positions = find(operation, operation.results[0], operation.operands[0], indices)
        shape = shape_of(operation.results[0])

        def step(state: State) -> None:
            values = state.values
            where = values[mask]
            loaded = read_elements(
                state, operation, values[base], positions(state, where), _where(where, shape)
            )
            values[result] = choose(where, _full(loaded, shape), values[other])

        return step

    return handler


def _masked_store(find: Callable[..., ElementIndices]) -> Handler:
    """The handler of a store under a mask, of elements that `find` gives the positions of."""

    def handler(operation: Operation, compiler: Compiler) -> Step:
        base, *indices, mask, vector = compiler.slots(operation.operands)
        positions = find(operation, operation.operands[-1], operation.operands[0], indices)
        shape = shape_of(operation.operands[-1])

        def step(state: State) -> None:
            values = state.values
            where = values[mask]
            chosen = positions(state, where)
            write_elements(
                state, operation, values[base], chosen, values[vector], _where(where, shape)
            )

        return step

    return handler


def _where(mask: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(mask, (*mask.shape[:AXES], *shape))


class _Scattered:
    """The positions of elements that a vector of positions chooses in the last dimension."""

    def __init__(self, operation: Operation, compiler: Compiler) -> None:
        base, *offsets, positions, mask, _ = operation.operands
        check_memory(operation, base)
        if not offsets:
            raise ValueError(f"{base.type} has no dimension in which elements can be chosen")
        self.mask = compiler.slot(mask)
        self._offsets = compiler.slots(offsets)
        self._positions = compiler.slot(positions)
        self._number = number_of(positions.type)
        self._rank = len(shape_of(positions))

    def __call__(self, state: State) -> list[Index]:
        """The indices of the elements."""
        values = state.values
        start = [spread(as_index(values[offset]), self._rank) for offset in self._offsets]
        chosen = self._number.signed(values[self._positions]).astype(np.int64)
        return [*start[:-1], start[-1] + chosen]

    def where(self, state: State, mask: int | None) -> Array:
        """Which elements are accessed, under a further mask too."""
        where = state.values[self.mask]
        return where if mask is None else where & state.values[mask]


def _gather(operation: Operation, compiler: Compiler, mask: int | None = None) -> Step:
    base, other = compiler.slots((operation.operands[0], operation.operands[-1]))
    (result,) = compiler.slots(operation.results)
    positions = _Scattered(operation, compiler)

    def step(state: State) -> None:
        values = state.values
        where = positions.where(state, mask)
        loaded = read_elements(state, operation, values[base], positions(state), where)
        values[result] = choose(where, loaded, values[other])

    return step


def _scatter(operation: Operation, compiler: Compiler) -> Step:
    base, vector = compiler.slots((operation.operands[0], operation.operands[-1]))
    positions = _Scattered(operation, compiler)

    def step(state: State) -> None:
        values = state.values
        where = positions.where(state, None)
        write_elements(state, operation, values[base], positions(state), values[vector], where)

    return step


def _type_cast(operation: Operation, compiler: Compiler) -> Step:
    raise ValueError("vector.type_cast makes a memref of a vector, which cannot be executed")


MASKED = {"vector.gather": _gather}
"""The handlers that take the slot of a mask, too."""

HANDLERS: dict[str, Handler] = {
    **MASKED,
    "vector.compressstore": _masked_store(_packed),
    "vector.expandload": _masked_load(_packed),
    "vector.load": _load,
    "vector.maskedload": _masked_load(_neighbours),
    "vector.maskedstore": _masked_store(_neighbours),
    "vector.scatter": _scatter,
    "vector.store": _store,
    "vector.type_cast": _type_cast,
}
"""The handler of each operation, by name."""
