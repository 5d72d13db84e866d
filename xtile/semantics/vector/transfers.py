"""Blocks of memory as vectors."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.memory import Index, as_index
from xtile.semantics.state import State
from xtile.semantics.upstream.access import read_elements, write_elements
from xtile.semantics.values import Value, choose
from xtile.semantics.vector.arrays import AXES, as_array


class _Transfer:
    """Where the elements of a transfer's vector are in memory."""

    def __init__(self, operation: Operation, vector: Attribute) -> None:
        type_ = cast("VectorType[Attribute]", vector)
        self._shape = type_.get_shape()
        results = cast("Any", operation.properties["permutation_map"]).data.results
        # A result that is a constant is a dimension that is broadcast.
        names = [str(result) for result in results]
        self._dimensions = [int(name[1:]) if name.startswith("d") else None for name in names]
        bounds = cast("Any", operation.properties.get("in_bounds"))
        inside = [False] * len(names) if bounds is None else [bool(b) for b in bounds]
        self._checked = [
            dimension
            for dimension, is_inside in zip(self._dimensions, inside, strict=True)
            if dimension is not None and not is_inside
        ]

    def indices(self, start: list[Value]) -> list[Index]:
        """The indices of the vector's elements, with its axes."""
        rank = len(self._shape)
        made: list[Any] = [_spread(as_index(index), rank) for index in start]
        for axis, dimension in enumerate(self._dimensions):
            if dimension is not None:
                steps = np.arange(self._shape[axis])
                steps = steps.reshape(1, 1, *(-1 if i == axis else 1 for i in range(rank)))
                made[dimension] = made[dimension] + steps
        return made

    def inside(self, indices: list[Index], sizes: list[Index]) -> Value:
        """Which elements are inside of the memref; None: all."""
        rank = len(self._shape)
        where: Value = None
        for dimension in self._checked:
            index = indices[dimension]
            is_inside = (index >= 0) & (index < _spread(sizes[dimension], rank))
            where = is_inside if where is None else where & is_inside
        return where


def _spread(index: Index, rank: int) -> Any:
    array = as_array(index)
    return array.reshape(*array.shape, *(1,) * (AXES + rank - array.ndim))


def _and(where: Value, mask: Value) -> Value:
    if where is None or mask is None:
        return mask if where is None else where
    return where & mask


def _read(operation: Operation, compiler: Compiler) -> Step:
    operands = _operands(operation)
    memref, padding, *indices = compiler.slots(
        [operands["base"][0], operands["padding"][0], *operands["indices"]]
    )
    mask = compiler.slots(operands["mask"])
    (result,) = compiler.slots(operation.results)
    transfer = _Transfer(operation, operation.results[0].type)
    shape = cast("VectorType[Attribute]", operation.results[0].type).get_shape()

    def step(state: State) -> None:
        values = state.values
        view = values[memref]
        places = transfer.indices([values[index] for index in indices])
        where = transfer.inside(places, list(view.shape))
        where = _and(where, values[mask[0]] if mask else None)
        loaded = read_elements(state, operation, view, places, where)
        if where is not None:
            loaded = choose(where, loaded, _spread(values[padding], len(shape)))
        values[result] = np.broadcast_to(loaded, (*loaded.shape[:AXES], *shape))

    return step


def _write(operation: Operation, compiler: Compiler) -> Step:
    operands = _operands(operation)
    vector, memref, *indices = compiler.slots(
        [operands["vector"][0], operands["base"][0], *operands["indices"]]
    )
    mask = compiler.slots(operands["mask"])
    transfer = _Transfer(operation, operands["vector"][0].type)

    def step(state: State) -> None:
        values = state.values
        view = values[memref]
        places = transfer.indices([values[index] for index in indices])
        where = transfer.inside(places, list(view.shape))
        where = _and(where, values[mask[0]] if mask else None)
        write_elements(state, operation, view, places, values[vector], where)

    return step


def _operands(operation: Operation) -> dict[str, list[Any]]:
    """The operands of a transfer by upstream's names."""
    given: Any = operation
    made: dict[str, list[Any]] = {
        "base": [getattr(given, "base", None) or given.source],
        "indices": list(given.indices),
        "mask": [] if given.mask is None else [given.mask],
    }
    if operation.name == "vector.transfer_read":
        made["padding"] = [given.padding]
    else:
        made["vector"] = [getattr(given, "value_to_store", None) or given.vector]
    return made


HANDLERS: dict[str, Handler] = {
    "vector.transfer_read": _read,
    "vector.transfer_write": _write,
}
