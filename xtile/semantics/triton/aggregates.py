"""Reductions, scans and maps, with a function in a region.

Of each pair of arguments, the first is what was accumulated before and the second an element.

Source: Triton 3.9, `TritonOps.td`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.aggregates import Combination, check_order, reduced, scanned
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.triton import external, numbers
from xtile.semantics.triton.tensors import integer_property, number_in, shape_of
from xtile.semantics.values import interpreted

_DIALECTS = ("arith", "math")
"""Their operations do for all elements at once what they do for one."""

_OPERATIONS = frozenset(
    {
        "tt.reduce.return",
        "tt.scan.return",
        *external.HANDLERS,
        *numbers.HANDLERS,
    }
)
"""Others that do."""


def _is_elementwise(operation: Operation) -> bool:
    return operation.dialect_name() in _DIALECTS or operation.name in _OPERATIONS


def _combination(operation: Any, compiler: Compiler) -> Combination:
    region = operation.combineOp
    arguments, count = region.blocks[0].args, len(operation.srcs)
    types = [number_in(each) for each in operation.srcs]
    return Combination(
        region, compiler, arguments[:count], arguments[count:], types, _is_elementwise
    )


def _reduce(operation: Any, compiler: Compiler) -> Step:
    sources, results = compiler.slots(operation.srcs), compiler.slots(operation.results)
    axis = integer_property(operation, "axis")
    function = _combination(operation, compiler)

    def step(state: State) -> None:
        tensors = [np.moveaxis(state.values[slot], axis, 0) for slot in sources]
        combine = function.on(state)
        totals = reduced(tensors, None, combine)
        check_order(state, operation, tensors, None, combine, totals)
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = total[()]

    return step


def _scan(operation: Any, compiler: Compiler) -> Step:
    sources, results = compiler.slots(operation.srcs), compiler.slots(operation.results)
    axis = integer_property(operation, "axis")
    order = slice(None, None, -1 if integer_property(operation, "reverse") else 1)
    function = _combination(operation, compiler)

    def step(state: State) -> None:
        tensors = [np.moveaxis(state.values[slot], axis, 0)[order] for slot in sources]
        for slot, total in zip(results, scanned(tensors, None, function.on(state)), strict=True):
            state.values[slot] = np.moveaxis(total[order], 0, axis)

    return step


def _map_elementwise(operation: Any, compiler: Compiler) -> Step:
    """The region is given `pack` elements at a time, those of one operand after each other."""
    region = operation.scalarOp
    sources, results = compiler.slots(operation.srcs), compiler.slots(operation.results)
    arguments = compiler.slots(region.blocks[0].args)
    body = compiler.region(region)
    pack = integer_property(operation, "pack", 1)
    shape = shape_of(operation.srcs[0])
    dtypes = [number_in(each).dtype for each in operation.results]

    def step(state: State) -> None:
        values = state.values
        tensors = [np.ravel(values[slot]).reshape(-1, pack) for slot in sources]
        made = [interpreted(np.zeros(tensors[0].shape, dtype)) for dtype in dtypes]
        for row in range(len(tensors[0])):
            given = [element for tensor in tensors for element in tensor[row]]
            for slot, element in zip(arguments, given, strict=True):
                values[slot] = element
            body.run(state)
            for which, slot in enumerate(body.yields):
                made[which // pack][row, which % pack] = values[slot]
        for slot, array in zip(results, made, strict=True):
            values[slot] = array.reshape(shape)

    return step


HANDLERS: dict[str, Handler] = {
    "tt.map_elementwise": _map_elementwise,
    "tt.reduce": _reduce,
    "tt.scan": _scan,
}
"""The handler of each operation, by name."""
