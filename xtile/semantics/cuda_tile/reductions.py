"""Reductions and scans with any function.

The function is applied to neighbours first and to their results next, so that it runs on many
elements at once, in the order of the elements: it is associative, but need not be commutative. The
first element is combined with the identity.

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
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import integer_attribute
from xtile.semantics.values import Array, Value

Combine: TypeAlias = Callable[[Sequence[Tile], Sequence[Tile]], "list[Array]"]
"""Combines an element of each tile with what was accumulated before; all at once."""

_OTHER_ELEMENTWISE = (
    "cuda_tile.assume",
    "cuda_tile.constant",
    "cuda_tile.offset",
    "cuda_tile.select",
    "cuda_tile.yield",
)
"""Operations of other modules that compute each element of tiles on its own."""


@cache
def _elementwise() -> frozenset[str]:
    """The operations that do for all elements at once what they do for one."""
    modules = (bitwise, comparisons, conversions, floating_point, integer, mathematics)
    return frozenset(_OTHER_ELEMENTWISE).union(*(module.HANDLERS for module in modules))


class _Function:
    """The function in a region.

    Args:
        region: Takes an element of a tile and what was accumulated before, for each tile, and
            yields what is accumulated then.
        compiler: Compiles it.
    """

    def __init__(self, region: Region, compiler: Compiler) -> None:
        arguments = compiler.slots(region.blocks[0].args)
        self._elements, self._accumulated = arguments[0::2], arguments[1::2]
        self._body: Body = compiler.region(region)
        self._types = [element_number(each.type).dtype for each in region.blocks[0].args[0::2]]
        self._is_elementwise = all(each.name in _elementwise() for each in region.walk())

    def combiner(self, state: State) -> Combine:
        """The function, run on the elements of arrays that broadcast to one shape."""
        run = self._on_all if self._is_elementwise else self._on_each

        def combine(elements: Sequence[Tile], accumulated: Sequence[Tile]) -> list[Array]:
            shape = np.broadcast_shapes(*(np.shape(each) for each in (*elements, *accumulated)))
            return run(state, elements, accumulated, shape)

        return combine

    def _on_all(
        self,
        state: State,
        elements: Sequence[Tile],
        accumulated: Sequence[Tile],
        shape: tuple[int, ...],
    ) -> list[Array]:
        return [np.broadcast_to(value, shape) for value in self._run(state, elements, accumulated)]

    def _on_each(
        self,
        state: State,
        elements: Sequence[Tile],
        accumulated: Sequence[Tile],
        shape: tuple[int, ...],
    ) -> list[Array]:
        """Runs the region for one element after another: it changes shapes or has branches."""
        given = [np.broadcast_to(each, shape).reshape(-1) for each in (*elements, *accumulated)]
        count = len(elements)
        rows = [self._run(state, row[:count], row[count:]) for row in zip(*given, strict=True)]
        columns = zip(zip(*rows, strict=True), self._types, strict=True)
        return [np.array(column, dtype).reshape(shape) for column, dtype in columns]

    def _run(
        self, state: State, elements: Sequence[Tile], accumulated: Sequence[Tile]
    ) -> list[Value]:
        values = state.values
        for slot, value in zip(self._elements, elements, strict=True):
            values[slot] = value
        for slot, value in zip(self._accumulated, accumulated, strict=True):
            values[slot] = value
        self._body.run(state)
        return [values[slot] for slot in self._body.yields]


def reduced(tiles: Sequence[Array], identities: Sequence[Value], combine: Combine) -> list[Array]:
    """All elements along the first axis combined."""
    entries = _with_identities(tiles, identities, combine)
    while len(entries[0]) > 1:
        left, right = ([entry[start::2] for entry in entries] for start in (0, 1))
        entries = combine(right, left)
    return [entry[0] for entry in entries]


def scanned(tiles: Sequence[Array], identities: Sequence[Value], combine: Combine) -> list[Array]:
    """For each element along the first axis, those up to it combined."""
    entries = _with_identities(tiles, identities, combine)
    distance = 1
    while distance < len(entries[0]):
        joined = combine(
            [entry[distance:] for entry in entries], [entry[:-distance] for entry in entries]
        )
        pairs = zip(entries, joined, strict=True)
        entries = [np.concatenate([entry[:distance], later]) for entry, later in pairs]
        distance *= 2
    return entries


def _with_identities(
    tiles: Sequence[Array], identities: Sequence[Value], combine: Combine
) -> list[Array]:
    """The tiles with their first elements combined with the identities."""
    first = combine([tile[0] for tile in tiles], identities)
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
        totals = reduced(tiles, identities, function.combiner(state))
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = total[()]

    return step


def _scan(operation: Operation, compiler: Compiler) -> Step:
    operands, results = compiler.slots(operation.operands), compiler.slots(operation.results)
    axis = integer_attribute(operation, "dim") or 0
    order = slice(None, None, -1 if integer_attribute(operation, "reverse") else 1)
    identities = _identities(operation)
    function = _Function(operation.regions[0], compiler)

    def step(state: State) -> None:
        tiles = [np.moveaxis(state.values[slot], axis, 0)[order] for slot in operands]
        totals = scanned(tiles, identities, function.combiner(state))
        for slot, total in zip(results, totals, strict=True):
            state.values[slot] = np.moveaxis(total[order], 0, axis)

    return step


HANDLERS: dict[str, Handler] = {"cuda_tile.reduce": _reduce, "cuda_tile.scan": _scan}
"""The handler of each operation, by name."""
