"""What is done element by element, with the indices of each: `core.map` of a subgroup's part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Block, SSAValue

from xtile.dialects.arith.comparisons import SelectOp
from xtile.dialects.core.subgroup import MapOp, YieldOp
from xtile.dialects.upstream import value_type
from xtile.rewrite.indices import Index
from xtile.rewrite.tile_emitter import shape_of, with_shape
from xtile.transforms.distribute_tiles.distribution import Distribution, Parts
from xtile.transforms.distribute_tiles.spreads import Box, Spread, matrices_of, strides_of

At = list[Index]
"""The indices of an element."""

Body = Callable[[At, list[SSAValue]], Sequence[SSAValue]]
"""Emits the results for an element, from its indices and its values."""


def mapped(
    distribution: Distribution, sources: Parts, results: Sequence[Attribute], body: Body
) -> Parts:
    """What a body makes of each element of lines or matrices, or of numbers.

    Args:
        distribution: Where to emit.
        sources: One or more of one shape.
        results: The types of an element of each result.
        body: The indices that it gets count within the part.
    """
    shape = shape_of(sources[0].type)
    if not shape:
        return list(body([], [*sources]))
    elements = [value_type(source.type) for source in sources]
    block = Block(arg_types=[IndexType(), IndexType(), *elements])
    row, column, *values = block.args
    with distribution.at_end_of(block):
        at: At = [row, column]
        made = list(body(at[: len(shape)], [*values]))
        # There is no map without a result.
        made = made or [values[0]]
        distribution.emit(YieldOp.build(operands=[made]))
    types = [with_shape(value.type, shape) for value in made]
    operation = MapOp.build(operands=[sources], result_types=[types], regions=[[block]])
    return list(distribution.emit(operation).results)[: len(results)]


def each_element(
    distribution: Distribution,
    shape: Sequence[int],
    box: Box,
    spread: Spread,
    sources: Sequence[Parts],
    results: Sequence[Attribute],
    body: Body,
) -> list[Parts]:
    """What a body makes of each element of tiles of one shape.

    Args:
        distribution: Where to emit.
        shape: The shape.
        box: Its box.
        spread: How the tiles are spread.
        sources: The parts of each tile, of which there is at least one.
        results: The types of an element of each result.
        body: The indices that it gets are those in the tile.

    Returns:
        The parts of each result.
    """
    origin = distribution.origin(box, spread)
    made: list[list[SSAValue]] = [[] for _ in results]
    for number in range(matrices_of(box)):
        leading = _unraveled(distribution, number, box[:-2])

        def of_element(at: At, values: list[SSAValue], leading: At = leading) -> Sequence[SSAValue]:
            last = [
                distribution.add(start, index)
                for start, index in zip(origin[len(leading) :], at, strict=True)
            ]
            return body(indices_in(distribution, shape, [*leading, *last]), values)

        parts = [each[number] for each in sources]
        of_matrix = mapped(distribution, parts, results, of_element)
        for result, part in zip(made, of_matrix, strict=True):
            result.append(part)
    return [*made]


def indices_in(distribution: Distribution, shape: Sequence[int], at: Sequence[Index]) -> At:
    """The indices in a tile of a shape that an element of its box has."""
    sizes = [size for size in shape if size != 1]
    if len(at) != len(sizes):
        (number,) = at
        at = _unraveled(distribution, number, sizes)
    given = iter(at)
    return [0 if size == 1 else next(given) for size in shape]


def _unraveled(distribution: Distribution, number: Index, sizes: Sequence[int]) -> At:
    """The indices of an element by its number in row-major order."""
    result: At = []
    for size, stride in zip(sizes, strides_of(sizes), strict=True):
        index = distribution.divide(number, stride)
        is_first = stride * size == prod(sizes)
        result.append(index if is_first else distribution.remainder(index, size))
    return result


def chosen(distribution: Distribution, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """One of two numbers."""
    return distribution.emit(SelectOp(condition, a, b)).result
