"""Elements of tiles by position, and how often each number is among them, through local memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import IntegerType, VectorType
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.atomic_kinds import AtomicRMWKind
from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.rewrite.tile_emitter import shape_of
from xtile.transforms.distribute_tiles.atomics import rmw
from xtile.transforms.distribute_tiles.distribution import Distribution, Uniform
from xtile.transforms.distribute_tiles.elements import each_element
from xtile.transforms.distribute_tiles.exchange import (
    Staged,
    fetched,
    load_number,
    stage,
    stored_type,
)
from xtile.transforms.distribute_tiles.points import as_index
from xtile.transforms.distribute_tiles.spreads import strides_of


def _gather(operation: GatherOp, distribution: Distribution) -> None:
    axis = operation.axis.value.data
    positions = distribution.tile(operation.positions)
    shape = shape_of(operation.positions.type)
    spread = distribution.spread_of(operation.result)
    parts = positions.parts(distribution, spread)
    (staged,) = stage(distribution, distribution.tile(operation.source))
    strides = strides_of(staged.shape)

    def load(at: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        index = list(at)
        index[axis] = as_index(distribution, values[0])
        offset = distribution.sum_of_products(index, strides)
        return [load_number(distribution, staged, offset)]

    (made,) = each_element(
        distribution, shape, positions.box, spread, [parts], [staged.element], load
    )
    distribution.held(operation.result, spread, made)


def _histogram(operation: HistogramOp, distribution: Distribution) -> None:
    source = distribution.tile(operation.source)
    shape = source.shape
    result = cast("VectorType[Attribute]", operation.result.type)
    element = cast(IntegerType, result.element_type)
    zeros = Uniform(result.get_shape(), element, distribution.constant(0, element))
    spread = distribution.preferred(source)
    sources = [source.parts(distribution, spread)]
    if operation.mask is not None:
        sources.append(distribution.tile(operation.mask).parts(distribution, spread))
    (staged,) = stage(distribution, zeros)

    def count(_: list[Index], values: list[SSAValue]) -> Sequence[SSAValue]:
        number = as_index(distribution, values[0])
        inside = distribution.compare("ult", number, prod(result.get_shape()))
        condition = distribution.both(inside, values[1] if len(values) > 1 else None)
        assert condition is not None
        with distribution.when(condition):
            _count(distribution, staged, number)
        return []

    with distribution.by_owners(spread):
        each_element(distribution, shape, source.box, spread, sources, [], count)
    distribution.barrier()
    own = distribution.spread_of(operation.result)
    counts = fetched(distribution, staged, result.get_shape(), [1], own)
    distribution.define(operation.result, counts)


def _count(distribution: Distribution, staged: Staged, number: SSAValue) -> None:
    one = distribution.constant(1, stored_type(staged.element))
    index = distribution.as_value(distribution.add(staged.offset, number))
    rmw(distribution, AtomicRMWKind.addi, one, staged.arena, [index])


RULES: dict[str, Rule] = {"core.gather": _gather, "core.histogram": _histogram}
"""The rule of each operation, by name."""
