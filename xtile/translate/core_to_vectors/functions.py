"""Kernels whose work-items are the subgroups of the source, and what such a work-item asks for."""

from __future__ import annotations

from math import prod
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Operation, SSAValue

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu import indices
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.lanes import lane_obstacle
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.subgroup_values import tiles_of, vectors_of
from xtile.translate.core_to_xegpu import functions
from xtile.translate.core_to_xegpu.functions import subgroup_size_of


def _function(operation: FuncOp, lowering: Vectors) -> None:
    """A kernel without tiles stays as it is; one whose lanes differ is spread over them."""
    if level_of(operation) is not lowering.level:
        lowering.keep(operation)
        return
    block_size = None
    if lowering.level is Level.TILE:
        tiles, block_size, lanes = vectors_of(operation), (1, 1, 1), 1
    else:
        tiles, lanes = tiles_of(operation), subgroup_size_of(operation, lowering)
        if operation.known_block_size is not None:
            block_size = tuple(operation.known_block_size.get_values())
    obstacle = lane_obstacle(operation, lanes) if tiles else None
    if obstacle is not None:
        at, reason = obstacle
        lowering.remark(f"spreads matrices over the lanes of subgroups: {reason}", at)
        lowering.spread_over_lanes(operation, tiles)
        return
    lowering.begin_function(operation, tiles, block_size, lanes)
    functions.RULES[operation.name](operation, lowering)
    function = cast("FuncOp", lowering.block.last_op)
    if lowering.has_lanes:
        if SUBGROUP_SIZE_ATTRIBUTE not in operation.attributes:
            function.attributes.pop(SUBGROUP_SIZE_ATTRIBUTE)
    elif lowering.work_items is not None:
        function.known_block_size = DenseArrayBase.from_list(i32, lowering.work_items)


# --- what a work-item asks for ---


def _of_subgroups(rule: Rule) -> Rule:
    """A rule that holds where the work-items are the subgroups of the source."""

    def apply(operation: Operation, lowering: Vectors) -> None:
        (copy_or_compute if lowering.has_lanes else rule)(operation, lowering)

    return apply


def _size(lowering: Vectors, dimension: Dimension) -> Index:
    """The work-items along a dimension."""
    if lowering.work_items is None:
        return _asked(lowering, indices.BlockDimOp, dimension)
    return lowering.work_items[list(Dimension).index(dimension)]


def _number(lowering: Vectors, dimension: Dimension) -> Index:
    """The number of this work-item along a dimension."""
    if _size(lowering, dimension) == 1:
        return 0
    return _asked(lowering, indices.ThreadIdOp, dimension)


def _asked(
    lowering: Vectors, kind: type[indices.BlockDimOp | indices.ThreadIdOp], dimension: Dimension
) -> SSAValue:
    return lowering.shared((kind, dimension), (), lambda: lowering.emit(kind(dimension)).results[0])


def _subgroup(lowering: Vectors) -> Index:
    """The number of this work-item in its work-group, which is that of its subgroup."""
    number: Index = 0
    for dimension in reversed(Dimension):
        number = lowering.multiply(number, _size(lowering, dimension))
        number = lowering.add(number, _number(lowering, dimension))
    return number


def _subgroup_id(operation: indices.SubgroupIdOp, lowering: Vectors) -> None:
    lowering.define(operation.result, lowering.as_value(_subgroup(lowering)))


def _thread_id(operation: indices.ThreadIdOp, lowering: Vectors) -> None:
    """The number of the first lane of the subgroup."""
    if lowering.lanes == 1:
        copy_or_compute(operation, lowering)
        return
    assert lowering.block_size is not None
    number = lowering.multiply(_subgroup(lowering), lowering.lanes)
    for dimension, size in zip(Dimension, lowering.block_size, strict=True):
        number, rest = lowering.divide(number, size), lowering.remainder(number, size)
        if dimension is operation.dimension.data:
            lowering.define(operation.result, lowering.as_value(rest))


def _lane_id(operation: indices.LaneIdOp, lowering: Vectors) -> None:
    """Lanes are asked for where the first one does something for all only."""
    lowering.define(operation.result, lowering.index(0))


def _num_subgroups(operation: indices.NumSubgroupsOp, lowering: Vectors) -> None:
    number: Index = 1
    for dimension in Dimension:
        number = lowering.multiply(number, _size(lowering, dimension))
    lowering.define(operation.result, lowering.as_value(number))


def _subgroup_size(operation: indices.SubgroupSizeOp, lowering: Vectors) -> None:
    lowering.define(operation.result, lowering.index(lowering.lanes))


def _block_dim(operation: indices.BlockDimOp, lowering: Vectors) -> None:
    """The size that the source has."""
    if lowering.block_size is None:
        copy_or_compute(operation, lowering)
        return
    dimension = list(Dimension).index(operation.dimension.data)
    lowering.define(operation.result, lowering.index(lowering.block_size[dimension]))


def _barrier(operation: Operation, lowering: Vectors) -> None:
    """The only work-item of a work-group does not wait for itself."""
    if lowering.work_items is None or prod(lowering.work_items) > 1:
        lowering.emit(BarrierOp())


_OF_SUBGROUPS: dict[str, Rule] = {
    BarrierOp.name: _barrier,
    indices.BlockDimOp.name: _block_dim,
    indices.LaneIdOp.name: _lane_id,
    indices.NumSubgroupsOp.name: _num_subgroups,
    indices.SubgroupIdOp.name: _subgroup_id,
    indices.SubgroupSizeOp.name: _subgroup_size,
    indices.ThreadIdOp.name: _thread_id,
}

RULES: dict[str, Rule] = {
    FuncOp.name: _function,
    **{name: _of_subgroups(rule) for name, rule in _OF_SUBGROUPS.items()},
}
