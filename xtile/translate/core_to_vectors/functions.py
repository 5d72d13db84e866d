"""Kernels whose work-items are the subgroups of the source, and what such a work-item asks for."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i32
from xdsl.ir import Operation

from xtile.dialects.core.attributes import Level, level_of
from xtile.dialects.gpu import indices
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.gpu.functions import FuncOp
from xtile.dialects.gpu.subgroup_sizes import SUBGROUP_SIZE_ATTRIBUTE
from xtile.dialects.gpu.subgroups import BarrierOp
from xtile.rewrite.rebuilder import Rule
from xtile.translate.core_to_vectors.applicability import lane_obstacle, matrix_obstacle
from xtile.translate.core_to_vectors.elementwise import copy_or_compute
from xtile.translate.core_to_vectors.lowering import Vectors
from xtile.translate.core_to_vectors.subgroup_values import tiles_of, vectors_of
from xtile.translate.core_to_xegpu import functions


def _function(operation: FuncOp, lowering: Vectors) -> None:
    """A kernel without tiles stays as it is; one whose lanes differ is spread over them."""
    if level_of(operation) is not lowering.level:
        lowering.keep(operation)
        return
    if lowering.level is Level.TILE:
        _function_of_tiles(operation, lowering)
        return
    tiles, size = tiles_of(operation), _subgroup_size_of(operation, lowering)
    obstacle = lane_obstacle(operation, size) if tiles else None
    if obstacle is not None:
        at, reason = obstacle
        lowering.remark(f"spreads matrices over the lanes of subgroups: {reason}", at)
        lowering.spread_over_lanes(operation, tiles)
        return
    obstacle = matrix_obstacle(operation, tiles)
    if obstacle is not None or size == 1:
        at, reason = obstacle or (operation, "a work-item is a subgroup")
        lowering.remark(f"keeps vectors in registers: {reason}", at)
        lowering.keep_in_registers(operation, size)
        return
    lowering.begin_function(operation, tiles)
    functions.RULES[operation.name](operation, lowering)
    function = cast("FuncOp", lowering.block.last_op)
    if tiles or SUBGROUP_SIZE_ATTRIBUTE not in operation.attributes:
        function.attributes.pop(SUBGROUP_SIZE_ATTRIBUTE)
    if tiles:
        sizes = [1, lowering.subgroups, 1]
        function.known_block_size = DenseArrayBase.from_list(i32, sizes)


def _function_of_tiles(operation: FuncOp, lowering: Vectors) -> None:
    """A kernel whose work-groups are single work-items, to which all vectors belong."""
    if lowering.target.vector_unit is None:
        raise lowering.error(
            f"tiles are compiled for CPUs only so far, and {lowering.target.name} is none; "
            "use the chip cpu or cpu-amx"
        )
    lowering.begin_function(operation, vectors_of(operation))
    functions.RULES[operation.name](operation, lowering)
    function = cast("FuncOp", lowering.block.last_op)
    function.attributes.pop(SUBGROUP_SIZE_ATTRIBUTE, None)
    function.known_block_size = DenseArrayBase.from_list(i32, [1, 1, 1])


def _subgroup_size_of(function: FuncOp, lowering: Vectors) -> int:
    size = function.attributes.get(SUBGROUP_SIZE_ATTRIBUTE)
    if isinstance(size, IntegerAttr):
        return cast("IntegerAttr[IntegerType]", size).value.data
    return lowering.target.chip.subgroup_size


def _of_subgroups(rule: Rule) -> Rule:
    """A rule that holds where the work-items are the subgroups of the source."""

    def apply(operation: Operation, lowering: Vectors) -> None:
        (rule if lowering.plan.tiles else copy_or_compute)(operation, lowering)

    return apply


def _lane_id(operation: indices.LaneIdOp, lowering: Vectors) -> None:
    """Lanes are asked for where the first one does something for all only."""
    lowering.define(operation.result, lowering.index(0))


def _subgroup_id(operation: indices.SubgroupIdOp, lowering: Vectors) -> None:
    lowering.define(operation.result, lowering.as_value(lowering.subgroup()))


def _num_subgroups(operation: indices.NumSubgroupsOp, lowering: Vectors) -> None:
    lowering.define(operation.result, lowering.index(lowering.subgroups))


def _subgroup_size(operation: indices.SubgroupSizeOp, lowering: Vectors) -> None:
    lowering.define(operation.result, lowering.index(lowering.subgroup_size))


def _block_dim(operation: indices.BlockDimOp, lowering: Vectors) -> None:
    """The size that the source has."""
    dimension = list(Dimension).index(operation.dimension.data)
    lowering.define(operation.result, lowering.index(lowering.block_size[dimension]))


def _barrier(operation: Operation, lowering: Vectors) -> None:
    """The only work-item of a work-group does not wait for itself."""
    if lowering.subgroups > 1:
        lowering.emit(BarrierOp())


_OF_SUBGROUPS: dict[str, Rule] = {
    BarrierOp.name: _barrier,
    indices.BlockDimOp.name: _block_dim,
    indices.LaneIdOp.name: _lane_id,
    indices.NumSubgroupsOp.name: _num_subgroups,
    indices.SubgroupIdOp.name: _subgroup_id,
    indices.SubgroupSizeOp.name: _subgroup_size,
}

RULES: dict[str, Rule] = {
    FuncOp.name: _function,
    **{name: _of_subgroups(rule) for name, rule in _OF_SUBGROUPS.items()},
}
