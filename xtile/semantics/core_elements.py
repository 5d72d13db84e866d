"""The meaning of the `core` dialect's operations that choose or count elements of tiles.

Source: docs/core-form.md, "Elements by position".
"""

from __future__ import annotations

import numpy as np

from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.errors import UnlocatedError
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.vector.arrays import AXES, flattened, outer_shape, shape_of, with_outer


def _gather(operation: GatherOp, compiler: Compiler) -> Step:
    source, positions, result = compiler.slots(
        (operation.source, operation.positions, operation.result)
    )
    axis, number = operation.axis.value.data, number_of(operation.positions.type)
    size = shape_of(operation.source)[axis]
    # Elements beyond those with positions along other dimensions are left alone.
    kept = [slice(None)] * AXES + [
        slice(None) if dimension == axis else slice(count)
        for dimension, count in enumerate(shape_of(operation.positions))
    ]

    def step(state: State) -> None:
        values = state.values
        chosen = number.signed(values[positions]).astype(np.int64)
        outside = (chosen < 0) | (chosen >= size)
        if outside.any():
            raise UnlocatedError(
                f"position {chosen[outside][0]} lies outside of a dimension of size {size}; it "
                f"must be from 0 to {size - 1}"
            )
        vector = values[source][tuple(kept)]
        outer = outer_shape(vector, chosen)
        values[result] = np.take_along_axis(
            with_outer(vector, outer), with_outer(chosen, outer), AXES + axis
        )

    return step


def _histogram(operation: HistogramOp, compiler: Compiler) -> Step:
    source, result = compiler.slots((operation.source, operation.result))
    mask = None if operation.mask is None else compiler.slot(operation.mask)
    number, made = number_of(operation.source.type), number_of(operation.result.type)
    (bins,) = shape_of(operation.result)

    def step(state: State) -> None:
        elements = number.unsigned(flattened(state.values[source]))
        counts = np.ones(elements.shape, np.bool_)
        if mask is not None:
            counts = np.broadcast_to(flattened(state.values[mask]), elements.shape)
        outside = counts & (elements >= bins)
        if outside.any():
            raise UnlocatedError(
                f"{elements[outside][0]} has no bin; elements that count must be from 0 to "
                f"{bins - 1}"
            )
        rows = [
            np.bincount(line[counted].astype(np.int64), minlength=bins)
            for line, counted in zip(
                elements.reshape(-1, elements.shape[-1]),
                counts.reshape(-1, elements.shape[-1]),
                strict=True,
            )
        ]
        totals = np.stack(rows).reshape(*elements.shape[:AXES], bins)
        state.values[result] = made.wrapped(totals)

    return step


HANDLERS: dict[str, Handler] = {GatherOp.name: _gather, HistogramOp.name: _histogram}
"""The handler of each operation, by name."""
