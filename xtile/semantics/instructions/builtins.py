"""Builtin values: where a work-item stands in the launch."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.dialects.tensorlang.attributes import Component
from xtile.dialects.tensorlang.ops import builtins as ops
from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.state import State
from xtile.semantics.values import Value

_DIMENSIONS = {Component.X: 0, Component.Y: 1, Component.Z: 2}


def _fixed(
    operation: ops.IndexBuiltinOperation | ops.I32BuiltinOperation | ops.NumSubgroupsOp,
    compiler: Compiler,
    value: Value,
) -> Step:
    result = compiler.slot(operation.result)

    def step(state: State) -> None:
        state.values[result] = value

    return step


def _group_id(operation: ops.GroupIdOp, compiler: Compiler) -> Step:
    result = compiler.slot(operation.result)
    dimension = _DIMENSIONS[operation.component.data]

    def step(state: State) -> None:
        state.values[result] = np.int64(state.group[dimension])

    return step


def _num_groups(operation: ops.NumGroupsOp, compiler: Compiler) -> Step:
    grid = compiler.configuration.grid
    return _fixed(operation, compiler, np.int64(grid[_DIMENSIONS[operation.component.data]]))


def _num_subgroups(operation: ops.NumSubgroupsOp, compiler: Compiler) -> Step:
    counts = compiler.configuration.num_subgroups
    return _fixed(operation, compiler, np.int32(counts[_DIMENSIONS[operation.component.data]]))


def _subgroup_size(operation: ops.SubgroupSizeOp, compiler: Compiler) -> Step:
    return _fixed(operation, compiler, np.int32(compiler.configuration.subgroup_size))


def _subgroup_linear_id(operation: ops.SubgroupLinearIdOp, compiler: Compiler) -> Step:
    result = compiler.slot(operation.result)

    def step(state: State) -> None:
        state.values[result] = state.linear_ids().astype(np.int32)

    return step


def _subgroup_id(operation: ops.SubgroupIdOp, compiler: Compiler) -> Step:
    result = compiler.slot(operation.result)
    columns = np.int64(compiler.configuration.num_subgroups[0])
    component = operation.component.data

    def step(state: State) -> None:
        linear = state.linear_ids()
        ids = {
            Component.X: lambda: linear % columns,
            Component.Y: lambda: linear // columns,
            Component.Z: lambda: np.int64(0),
        }
        state.values[result] = ids[component]().astype(np.int32)

    return step


def _subgroup_local_id(operation: ops.SubgroupLocalIdOp, compiler: Compiler) -> Step:
    ids = np.arange(compiler.configuration.subgroup_size, dtype=np.int32)[np.newaxis, :]
    return _fixed(operation, compiler, ids)


HANDLERS: dict[type[Operation], Handler] = {
    ops.GroupIdOp: _group_id,
    ops.NumGroupsOp: _num_groups,
    ops.NumSubgroupsOp: _num_subgroups,
    ops.SubgroupSizeOp: _subgroup_size,
    ops.SubgroupIdOp: _subgroup_id,
    ops.SubgroupLinearIdOp: _subgroup_linear_id,
    ops.SubgroupLocalIdOp: _subgroup_local_id,
}
