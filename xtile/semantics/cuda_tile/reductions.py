"""Reductions and scans with any function.

The function is applied to neighbours first and to their results next, so that it runs on many
elements at once, in the order of the elements. An observer is told of reductions that depend on
that order, which is not specified.

Of each pair of arguments, that of a reduction has an element first and what was accumulated before
second, as `Ops.td` says. That of a scan has them the other way round: so does the formula in
`Ops.td`, and so do devices (H200 with tileiras 13.5), though the text above the formula differs.

Source: NVIDIA/cuda-tile 13.3.0, `Ops.td`; docs/semantics.md, "CUDA Tile IR: numbers".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.ir import Operation, Region

from xtile.semantics.compiler import Body, Compiler, Handler, Step
from xtile.semantics.cuda_tile import (
    bitwise,
    comparisons,
    conversions,
    floating_point,
    integer,
    mathematics,
)
from xtile.semantics.cuda_tile.numbers import Tile, element_number
from xtile.semantics.cuda_tile.promises import report_broken_promise
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.values import Array, Value

Combine: TypeAlias = Callable[[Sequence[Tile], Sequence[Tile]], "list[Array]"]
"""Applies the function to the first and to the second arguments of all pairs, at all places."""

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
    modules = (bitwise, comparisons, conversions, floating_point, integer, mathematics)
    return frozenset(_OTHER_ELEMENTWISE).union(*(module.HANDLERS for module in modules))


class _Function:
    """The function in a region.

    Args:
        region: Takes a pair of numbers for each tile, and yields what they make.
        compiler: Compiles it.
    """

    def __init__(self, region: Region, compiler: Compiler) -> None:
        arguments = region.blocks[0].args
        self._first = compiler.slots(arguments[0::2])
        self._second = compiler.slots(arguments[1::2])
        self._types = [element_number(each.type).dtype for each in arguments[0::2]]
        self._body: Body = compiler.region(region)
        self._is_elementwise = all(each.name in _elementwise() for each in region.walk())

    def on(self, state: State) -> Combine:
        """The function, run on the elements of arrays that broadcast to one shape."""
        run = self._on_all if self._is_elementwise else self._on_each

        def combine(first: Sequence[Tile], second: Sequence[Tile]) -> list[Array]:
            shape = np.broadcast_shapes(*(np.shape(each) for each in (*first, *second)))
            return run(state, first, second, shape)

        return combine

    def _on_all(
        self, state: State, first: Sequence[Tile], second: Sequence[Tile], shape: tuple[int, ...]
    ) -> list[Array]:
        return [np.broadcast_to(value, shape) for value in self._run(state, first, second)]

    def _on_each(
        self, state: State, first: Sequence[Tile], second: Sequence[Tile], shape: tuple[int, ...]
    ) -> list[Array]:
        """Runs the region for one element after another: it changes shapes or has branches."""
        given = [np.broadcast_to(each, shape).reshape(-1) for each in (*first, *second)]
        count = len(first)
        rows = [self._run(state, row[:count], row[count:]) for row in zip(*given, strict=True)]
        columns = zip(zip(*rows, strict=True), self._types, strict=True)
        return [np.array(column, dtype).reshape(shape) for column, dtype in columns]

    def _run(self, state: State, first: Sequence[Tile], second: Sequence[Tile]) -> list[Value]:
        values = state.values
        for slots, given in ((self._first, first), (self._second, second)):
            for slot, value in zip(slots, given, strict=True):
                values[slot] = value
        self._body.run(state)
        return [values[slot] for slot in self._body.yields]


def reduced(tiles: Sequence[Array], identities: Sequence[Value], combine: Combine) -> list[Array]:
    """All elements along the first axis combined; the function takes later ones first."""
    start = combine([tile[0] for tile in tiles], identities)
    entries = _beginning_with(start, tiles)
    while len(entries[0]) > 1:
        earlier, later = ([entry[first::2] for entry in entries] for first in (0, 1))
        entries = combine(later, earlier)
    return [entry[0] for entry in entries]


def scanned(tiles: Sequence[Array], identities: Sequence[Value], combine: Combine) -> list[Array]:
    """For each element along the first axis, those up to it; the function takes later ones last."""
    start = combine(identities, [tile[0] for tile in tiles])
    entries = _beginning_with(start, tiles)
    distance = 1
    while distance < len(entries[0]):
        joined = combine(
            [entry[:-distance] for entry in entries], [entry[distance:] for entry in entries]
        )
        pairs = zip(entries, joined, strict=True)
        entries = [np.concatenate([entry[:distance], later]) for entry, later in pairs]
        distance *= 2
    return entries


def _beginning_with(first: Sequence[Array], tiles: Sequence[Array]) -> list[Array]:
    """The tiles with other first elements."""
    pairs = zip(first, tiles, strict=True)
    return [np.concatenate([entry[np.newaxis], tile[1:]]) for entry, tile in pairs]


def _identities(operation: Operation) -> list[Value]:
    attributes = cast("Any", operation.properties["identities"])
    pairs = zip(operation.operands, attributes, strict=True)
    return [element_number(operand.type).number(each.value.data) for operand, each in pairs]


def _reduce(operation: Operation, compiler: Compiler) -> Step:
    operands, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    axis = integer_attribute(operation, "dim") or 0
    identities = _identities(operation)
    function = _Function(operation.regions[0], compiler)

    def step(state: State) -> None:
        tiles = [np.moveaxis(state.values[slot], axis, 0) for slot in operands]
        totals = reduced(tiles, identities, function.on(state))
        if state.observer is not None:
            reverse = reduced([tile[::-1] for tile in tiles], identities, function.on(state))
            _check_order(state, operation, totals, reverse)
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = total[()]

    return step


def _check_order(
    state: State, operation: Operation, forwards: list[Array], backwards: list[Array]
) -> None:
    """Tells the observer of integers that depend on the order of the elements.

    Floats depend on it by their rounding.
    """
    for total, other in zip(forwards, backwards, strict=True):
        if total.dtype.kind in "bi" and not np.array_equal(total, other):
            differs = np.asarray(total != other)
            first, last = (int(np.ravel(each)[differs.argmax()]) for each in (total, other))
            message = (
                f"the result depends on the order of the elements, which is not specified: it is "
                f"{first} forwards and {last} backwards"
            )
            report_broken_promise(state, operation, differs, message)


def _scan(operation: Operation, compiler: Compiler) -> Step:
    operands, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    axis = integer_attribute(operation, "dim") or 0
    order = slice(None, None, -1 if integer_attribute(operation, "reverse") else 1)
    identities = _identities(operation)
    function = _Function(operation.regions[0], compiler)

    def step(state: State) -> None:
        tiles = [np.moveaxis(state.values[slot], axis, 0)[order] for slot in operands]
        totals = scanned(tiles, identities, function.on(state))
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = np.moveaxis(total[order], 0, axis)

    return step


HANDLERS: dict[str, Handler] = {"cuda_tile.reduce": _reduce, "cuda_tile.scan": _scan}
"""The handler of each operation, by name."""
