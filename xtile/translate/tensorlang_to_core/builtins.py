"""Builtin values: where a work-item stands in the launch.

Subgroups are numbered as in docs/semantics.md: those along x first, which `gpu.subgroup_id` does
too.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from xtile.dialects.gpu.attributes import DimensionAttr
from xtile.dialects.gpu.enumerations import Dimension
from xtile.dialects.tensorlang.attributes import Component
from xtile.dialects.tensorlang.ops import builtins as ops
from xtile.dialects.tensorlang.types import I32, INDEX
from xtile.rewrite.rebuilder import Rebuilder, Rules
from xtile.translate.tensorlang_to_core.casts import convert
from xtile.translate.tensorlang_to_core.emit import constant, emit, make

_DIMENSIONS = {
    Component.X: Dimension.X,
    Component.Y: Dimension.Y,
    Component.Z: Dimension.Z,
}


def dimension_value(r: Rebuilder, name: str, dimension: Dimension) -> SSAValue:
    """An id or a size along one dimension, such as `gpu.thread_id`."""
    return emit(r, name, [], INDEX, {"dimension": DimensionAttr(dimension)})


def subgroup_value(r: Rebuilder, name: str) -> SSAValue:
    """An id or a size of subgroups, such as `gpu.subgroup_id`."""
    return emit(r, name, [], INDEX)


def subgroups_along_x(r: Rebuilder) -> SSAValue:
    """How many subgroups stand side by side along x."""
    size = dimension_value(r, "gpu.block_dim", Dimension.X)
    return emit(r, "arith.divui", [size, subgroup_value(r, "gpu.subgroup_size")], INDEX)


def _group_id(operation: ops.GroupIdOp, r: Rebuilder) -> None:
    _dimension(operation, "gpu.block_id", r)


def _num_groups(operation: ops.NumGroupsOp, r: Rebuilder) -> None:
    _dimension(operation, "gpu.grid_dim", r)


def _dimension(operation: ops.IndexBuiltinOperation, name: str, r: Rebuilder) -> None:
    dimension = DimensionAttr(_DIMENSIONS[operation.component.data])
    r.replace(operation, make(name, [], [INDEX], {"dimension": dimension}))


def _num_subgroups(operation: ops.NumSubgroupsOp, r: Rebuilder) -> None:
    match operation.component.data:
        case Component.X:
            _define_i32(operation.result, subgroups_along_x(r), r)
        case Component.Y:
            _define_i32(operation.result, dimension_value(r, "gpu.block_dim", Dimension.Y), r)
        case Component.Z:
            r.define(operation.result, constant(r, 1, I32))


def _subgroup_id(operation: ops.SubgroupIdOp, r: Rebuilder) -> None:
    if operation.component.data is Component.Z:
        r.define(operation.result, constant(r, 0, I32))
        return
    name = "arith.remui" if operation.component.data is Component.X else "arith.divui"
    operands = [subgroup_value(r, "gpu.subgroup_id"), subgroups_along_x(r)]
    _define_i32(operation.result, emit(r, name, operands, INDEX), r)


def _subgroup_size(operation: ops.SubgroupSizeOp, r: Rebuilder) -> None:
    _define_i32(operation.result, subgroup_value(r, "gpu.subgroup_size"), r)


def _subgroup_linear_id(operation: ops.SubgroupLinearIdOp, r: Rebuilder) -> None:
    _define_i32(operation.result, subgroup_value(r, "gpu.subgroup_id"), r)


def _subgroup_local_id(operation: ops.SubgroupLocalIdOp, r: Rebuilder) -> None:
    _define_i32(operation.result, subgroup_value(r, "gpu.lane_id"), r)


def _define_i32(result: SSAValue, value: SSAValue, r: Rebuilder) -> None:
    r.define(result, convert(r, value, I32))


RULES: Rules = {
    ops.GroupIdOp: _group_id,
    ops.NumGroupsOp: _num_groups,
    ops.NumSubgroupsOp: _num_subgroups,
    ops.SubgroupIdOp: _subgroup_id,
    ops.SubgroupLinearIdOp: _subgroup_linear_id,
    ops.SubgroupLocalIdOp: _subgroup_local_id,
    ops.SubgroupSizeOp: _subgroup_size,
}
