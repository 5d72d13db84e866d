"""Reductions of vectors to smaller ones or numbers, and scans.

Numbers are combined in row-major order, beginning with the accumulator.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.upstream.numbers import number_of
from xtile.semantics.values import Array, Value
from xtile.semantics.vector.arrays import (
    AXES,
    as_array,
    as_number,
    is_vector,
    numbers_in,
    shape_of,
    spread,
)
from xtile.semantics.vector.combining import Combiner, kind_of


def _reduction(operation: Operation, compiler: Compiler, mask: int | None = None) -> Step:
    dims = range(len(shape_of(operation.operands[0])))
    return _reduced(operation, compiler, dims, mask)


def _multi_reduction(operation: Operation, compiler: Compiler, mask: int | None = None) -> Step:
    return _reduced(operation, compiler, sorted(numbers_in(operation, "reduction_dims")), mask)


def _reduced(
    operation: Operation, compiler: Compiler, dims: Sequence[int], mask: int | None
) -> Step:
    """The step that combines the elements along dimensions, and with an accumulator."""
    source, *acc = compiler.slots(operation.operands)
    (result,) = compiler.slots(operation.results)
    combiner = Combiner(kind_of(operation), number_of(operation.results[0].type))
    gives_vector = is_vector(operation.results[0])

    def step(state: State) -> None:
        values = state.values
        entries = combiner.widened(_in_front(values[source], dims))
        start: Value = combiner.widened(as_array(values[acc[0]])) if acc else None
        counted = None if mask is None else _in_front(values[mask], dims)
        total = combiner.rounded(combiner.folded(entries, start, counted))
        values[result] = total if gives_vector else as_number(total)

    return step


def _in_front(vector: Array, dims: Sequence[int]) -> Array:
    """A vector's entries along dimensions, one for each element of these in row-major order."""
    moved = np.moveaxis(vector, [AXES + dim for dim in dims], range(len(dims)))
    return moved.reshape(-1, *moved.shape[len(dims) :])


def _scan(operation: Operation, compiler: Compiler) -> Step:
    """Starts with the initial value if it is exclusive, which an inclusive scan does not use."""
    source, initial = compiler.slots(operation.operands)
    dest, accumulated = compiler.slots(operation.results)
    combiner = Combiner(kind_of(operation), number_of(operation.results[0].type))
    dim = integer_attribute(operation, "reduction_dim") or 0
    is_inclusive = integer_attribute(operation, "inclusive") != 0
    rank = len(shape_of(operation.operands[0]))

    def step(state: State) -> None:
        values = state.values
        entries = combiner.widened(_in_front(values[source], [dim]))
        start: Value = combiner.widened(spread(values[initial], rank - 1))
        if is_inclusive:
            totals = combiner.accumulated(entries)
        else:
            shape = np.broadcast_shapes(start.shape, entries[0].shape)
            totals = combiner.accumulated(entries[:-1], np.broadcast_to(start, shape))
        rounded = combiner.rounded(np.stack(totals))
        values[dest] = np.moveaxis(rounded, 0, AXES + dim)
        values[accumulated] = rounded[-1]

    return step


MASKED = {
    "vector.multi_reduction": _multi_reduction,
    "vector.reduction": _reduction,
}
"""The handlers that take the slot of a mask, too."""

HANDLERS: dict[str, Handler] = {**MASKED, "vector.scan": _scan}
"""The handler of each operation, by name."""
