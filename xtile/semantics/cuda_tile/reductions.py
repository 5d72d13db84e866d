"""Reductions and scans with any function.

Of each pair of arguments, that of a reduction has an element first and what was accumulated before
second, as `Ops.td` says. That of a scan has them the other way round: so does the formula in
`Ops.td`, and so do devices (H200 with tileiras 13.5), though the text above the formula differs.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from functools import cache
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.aggregates import (
    Combination,
    check_identities,
    check_order,
    reduced,
    scanned,
)
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.cuda_tile import (
    comparisons,
    conversions,
    floating_point,
    integer,
)
from xtile.semantics.cuda_tile.numbers import element_number
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.values import Array, Value

_OTHER_ELEMENTWISE = (
    "cuda_tile.assume",
    "cuda_tile.constant",
    "cuda_tile.get_num_tile_blocks",
    "cuda_tile.get_tile_block_id",
    "cuda_tile.offset",
    "cuda_tile.select",
    "cuda_tile.yield",
)
"""Operations of other modules that compute each element on its own, or give one number for all."""


@cache
def _elementwise() -> frozenset[str]:
    """The operations that do for all elements at once what they do for one."""
    modules = (comparisons, conversions, floating_point, integer)
    return frozenset(_OTHER_ELEMENTWISE).union(*(module.HANDLERS for module in modules))


def _is_elementwise(operation: Operation) -> bool:
    return operation.name in _elementwise()


def _combination(operation: Operation, compiler: Compiler, later: int) -> Combination:
    """The function in an operation's region.

    Args:
        operation: The operation.
        compiler: Compiles it.
        later: Which argument of each pair is for the later element.
    """
    region = operation.regions[0]
    arguments = region.blocks[0].args
    numbers = [element_number(each.type) for each in operation.operands]
    return Combination(
        region,
        compiler,
        arguments[1 - later :: 2],
        arguments[later::2],
        numbers,
        _is_elementwise,
    )


def _identities(operation: Operation) -> list[Value]:
    attributes = cast("Any", operation.properties["identities"])
    pairs = zip(operation.operands, attributes, strict=True)
    return [element_number(operand.type).number(each.value.data) for operand, each in pairs]


def _reduce(operation: Operation, compiler: Compiler) -> Step:
    operands, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    axis = integer_attribute(operation, "dim") or 0
    identities = _identities(operation)
    function = _combination(operation, compiler, later=0)

    def step(state: State) -> None:
        tiles = [np.moveaxis(state.values[slot], axis, 0) for slot in operands]
        combine = function.on(state)
        totals = reduced(tiles, identities, combine)
        check_order(state, operation, tiles, identities, combine, totals)
        check_identities(state, operation, tiles, identities, combine, reduced, np.asanyarray)
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = total[()]

    return step


def _scan(operation: Operation, compiler: Compiler) -> Step:
    operands, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    axis = integer_attribute(operation, "dim") or 0
    order = slice(None, None, -1 if integer_attribute(operation, "reverse") else 1)
    identities = _identities(operation)
    function = _combination(operation, compiler, later=1)

    def placed(total: Array) -> Array:
        return np.moveaxis(total[order], 0, axis)

    def step(state: State) -> None:
        tiles = [np.moveaxis(state.values[slot], axis, 0)[order] for slot in operands]
        combine = function.on(state)
        totals = scanned(tiles, identities, combine)
        check_identities(state, operation, tiles, identities, combine, scanned, placed)
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = placed(total)

    return step


HANDLERS: dict[str, Handler] = {"cuda_tile.reduce": _reduce, "cuda_tile.scan": _scan}
"""The handler of each operation, by name."""
