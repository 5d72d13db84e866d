"""The operations of the `gpu` and `rocdl` dialects that say where a work-item stands.

Work-items are numbered with x varying fastest, and a subgroup has those with numbers that follow
each other.

Of `rocdl` there are also hints.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`, `Dialect/LLVMIR/ROCDLOps.td`;
docs/semantics.md, "Upstream dialects".
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from xtile.semantics.compiler import Compiler, Handler, Step
from xtile.semantics.configuration import Configuration
from xtile.semantics.state import State
from xtile.semantics.upstream.constants import word_attribute
from xtile.semantics.upstream.elementwise import constant
from xtile.semantics.values import Array, Value

_DIMENSIONS = ("x", "y", "z")


def compact(values: Array) -> Value:
    """An array with the axes (rows, lanes) in which axes along which it is constant have length 1.

    What is equal everywhere becomes a scalar.
    """
    for axis in (0, 1):
        first = np.take(values, [0], axis)
        if (values == first).all():
            values = first
    return values[0, 0] if values.size == 1 else values


def linear_ids(configuration: Configuration) -> Array:
    """The number of each work-item in its work-group, as an array with the axes (rows, lanes)."""
    shape = configuration.subgroups, configuration.subgroup_size
    return np.arange(shape[0] * shape[1], dtype=np.int64).reshape(shape)


def thread_id(configuration: Configuration, dimension: int) -> Value:
    """The id of each work-item in its work-group along a dimension."""
    x, y, _ = configuration.work_group_size
    linear = linear_ids(configuration)
    return compact((linear % x, linear // x % y, linear // (x * y))[dimension])


def _dimension(operation: Operation) -> int:
    return _DIMENSIONS.index(word_attribute(operation, "dimension"))


def _thread_id(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, thread_id(compiler.configuration, _dimension(operation)))


def _block_dim(operation: Operation, compiler: Compiler) -> Step:
    size = compiler.configuration.work_group_size[_dimension(operation)]
    return constant(operation, compiler, np.int64(size))


def _grid_dim(operation: Operation, compiler: Compiler) -> Step:
    return constant(
        operation, compiler, np.int64(compiler.configuration.grid[_dimension(operation)])
    )


def _block_id(operation: Operation, compiler: Compiler) -> Step:
    dimension = _dimension(operation)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = np.int64(state.group[dimension])

    return step


def _global_id(operation: Operation, compiler: Compiler) -> Step:
    dimension = _dimension(operation)
    size = compiler.configuration.work_group_size[dimension]
    local = thread_id(compiler.configuration, dimension)
    (result,) = compiler.slots(operation.results)

    def step(state: State) -> None:
        state.values[result] = np.int64(state.group[dimension] * size) + local

    return step


def _lane_id(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, compact(_lanes(compiler.configuration)))


def _lanes(configuration: Configuration) -> Array:
    return np.arange(configuration.subgroup_size, dtype=np.int64)[np.newaxis, :]


def _subgroup_id(operation: Operation, compiler: Compiler) -> Step:
    ids = np.arange(compiler.configuration.subgroups, dtype=np.int64)[:, np.newaxis]
    return constant(operation, compiler, compact(ids))


def _num_subgroups(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, np.int64(compiler.configuration.subgroups))


def _subgroup_size(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, np.int64(compiler.configuration.subgroup_size))


def _one(operation: Operation, compiler: Compiler) -> Step:
    """Each work-group is a cluster of its own."""
    return constant(operation, compiler, np.int64(1))


def _zero(operation: Operation, compiler: Compiler) -> Step:
    return constant(operation, compiler, np.int64(0))


def _hint(operation: Operation, compiler: Compiler) -> Step:
    """What says how instructions are scheduled has no effect on values."""
    return lambda state: None


def _work_item(operation: Operation, compiler: Compiler) -> Step:
    if compiler.configuration.level != "tile":
        raise ValueError(f"{operation.name} has a meaning in programs of Triton only")
    return constant(operation, compiler, np.int32(0))


HANDLERS: dict[str, Handler] = {
    "gpu.block_dim": _block_dim,
    "gpu.block_id": _block_id,
    "gpu.cluster_block_id": _zero,
    "gpu.cluster_dim": _grid_dim,
    "gpu.cluster_dim_blocks": _one,
    "gpu.cluster_id": _block_id,
    "gpu.global_id": _global_id,
    "gpu.grid_dim": _grid_dim,
    "gpu.lane_id": _lane_id,
    "gpu.num_subgroups": _num_subgroups,
    "gpu.subgroup_id": _subgroup_id,
    "gpu.subgroup_size": _subgroup_size,
    "gpu.thread_id": _thread_id,
    "rocdl.s.setprio": _hint,
    "rocdl.sched.barrier": _hint,
    "rocdl.workitem.id.x": _work_item,
}
"""The handler of each operation, by name."""
