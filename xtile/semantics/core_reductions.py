"""The meaning of the `core` dialect's reductions and scans with a region.

Source: docs/core-form.md, "Reductions and scans".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.core.reductions import AggregateOperation, ReduceOp, ScanOp
from xtile.semantics.aggregates import (
    Combination,
    check_identities,
    check_order,
    reduced,
    scanned,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.promises import shared as of_work_group
from xtile.semantics.state import State
from xtile.semantics.upstream.numbers import Number, number_of
from xtile.semantics.values import Array, Value
from xtile.semantics.vector.arrays import AXES, as_number

_ELEMENTWISE_DIALECTS = ("arith", "math")


def _is_elementwise(operation: Operation) -> bool:
    return operation.dialect_name() in _ELEMENTWISE_DIALECTS or operation.name == "core.yield"


class _Aggregate:
    """What the handlers of both operations share."""

    def __init__(self, operation: AggregateOperation, compiler: Compiler) -> None:
        self.sources = compiler.slots(operation.sources)
        self.results = compiler.slots(operation.totals)
        self.axis = operation.axis.value.data
        numbers = [number_of(type) for type in operation.elements]
        self.identities = _identities(operation, numbers)
        arguments = operation.body.block.args
        self.combination = Combination(
            operation.body,
            compiler,
            arguments[: len(numbers)],
            arguments[len(numbers) :],
            numbers,
            _is_elementwise,
            AXES,
        )

    def entries(self, state: State) -> list[Array]:
        """The vectors with the axis first and rows and lanes last."""
        return [_turned(state.values[source], self.axis) for source in self.sources]


def _identities(operation: AggregateOperation, numbers: Sequence[Number]) -> list[Value] | None:
    if operation.identities is None:
        return None
    pairs = zip(operation.identities, numbers, strict=True)
    return [number.number(cast("Any", each).value.data) for each, number in pairs]


def _turned(vector: Array, axis: int) -> Array:
    return np.moveaxis(np.moveaxis(vector, (0, 1), (-2, -1)), axis, 0)


def _returned(array: Array) -> Array:
    """An array with rows and lanes first again."""
    return np.moveaxis(array, (-2, -1), (0, 1))


def _reduce(operation: ReduceOp, compiler: Compiler) -> Step:
    shared = _Aggregate(operation, compiler)

    def placed(total: Array) -> Array:
        return of_work_group(operation, _returned(total))

    def step(state: State) -> None:
        entries, combine = shared.entries(state), shared.combination.on(state)
        totals = reduced(entries, shared.identities, combine)
        check_order(state, operation, entries, shared.identities, combine, totals)
        check_identities(state, operation, entries, shared.identities, combine, reduced, placed)
        for result, total in zip(shared.results, totals, strict=True):
            state.values[result] = as_number(_returned(total))

    return step


def _scan(operation: ScanOp, compiler: Compiler) -> Step:
    shared = _Aggregate(operation, compiler)
    order = slice(None, None, -1 if operation.reverse is not None else 1)

    def returned(total: Array) -> Array:
        return _returned(np.moveaxis(total[order], 0, shared.axis))

    def placed(total: Array) -> Array:
        return of_work_group(operation, returned(total))

    def step(state: State) -> None:
        entries = [entry[order] for entry in shared.entries(state)]
        combine = shared.combination.on(state)
        totals = scanned(entries, shared.identities, combine)
        check_identities(state, operation, entries, shared.identities, combine, scanned, placed)
        for result, total in zip(shared.results, totals, strict=True):
            state.values[result] = returned(total)

    return step


HANDLERS: dict[str, Handler] = {ReduceOp.name: _reduce, ScanOp.name: _scan}
"""The handler of each operation, by name."""
