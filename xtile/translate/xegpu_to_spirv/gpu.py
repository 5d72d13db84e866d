"""Where a work-item stands, and barriers.

Source: SPIR-V Specification, 3.21 "BuiltIn"; MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from xdsl.dialects.builtin import VectorType, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.gpu.indices import dimension_number
from xtile.dialects.spirv import PointerType, decorate, operation
from xtile.rewrite.indices import Index
from xtile.rewrite.rebuilder import Rule
from xtile.translate.xegpu_to_spirv.lowering import Lowering

WORKGROUP_SCOPE = 2
SUBGROUP_SCOPE = 3
DEVICE_SCOPE = 1
"""The scopes of synchronization and of atomic updates (SPIR-V Specification, 3.27 "Scope")."""

ACQUIRE_RELEASE = 0x8
WORKGROUP_MEMORY = 0x100
CROSS_WORKGROUP_MEMORY = 0x200
"""Bits of memory semantics (SPIR-V Specification, 3.25 "Memory Semantics")."""


def builtin(lowering: Lowering, name: str, type_: Attribute) -> SSAValue:
    """The value of a builtin variable, read at the start of the function."""

    def read() -> SSAValue:
        return lowering.compute("Load", type_, _variable(lowering, name, type_))

    return lowering.shared(("builtin", name), (), read)


def _variable(lowering: Lowering, name: str, type_: Attribute) -> SSAValue:
    variable = lowering.builtins.get(name)
    if variable is None:
        made = operation("Variable", PointerType(type_, "Input"), "Input")
        decorate(made, ("BuiltIn", name), "Constant")
        lowering.declarations.add_op(made)
        variable = lowering.builtins[name] = made.results[0]
    return variable


_VECTOR = VectorType(i64, [3])


def component(lowering: Lowering, name: str, dimension: int) -> SSAValue:
    """One component of a builtin variable that has three."""
    vector = builtin(lowering, name, _VECTOR)
    return lowering.shared(
        (name, dimension),
        (),
        lambda: lowering.compute("CompositeExtract", i64, vector, dimension),
    )


def _of_dimension(name: str) -> Rule:
    def rule(operation: Operation, lowering: Lowering) -> None:
        lowering.define(
            operation.results[0], component(lowering, name, dimension_number(operation))
        )

    return rule


def _block_dim(operation: Operation, lowering: Lowering) -> None:
    size = _extent(lowering, dimension_number(operation))
    lowering.define(operation.results[0], lowering.as_value(size))


def _grid_dim(operation: Operation, lowering: Lowering) -> None:
    sizes, dimension = lowering.kernel.grid, dimension_number(operation)
    value = (
        component(lowering, "NumWorkgroups", dimension)
        if sizes is None
        else lowering.integer(sizes[dimension], i64)
    )
    lowering.define(operation.results[0], value)


def of_subgroup(lowering: Lowering, name: str) -> SSAValue:
    """A builtin variable of subgroups as an i64."""
    word = builtin(lowering, name, i32)
    return lowering.shared((name, i64), (), lambda: lowering.compute("UConvert", i64, word))


def lane(lowering: Lowering) -> SSAValue:
    """The number of the work-item in its subgroup, as an i32."""
    assert lowering.kernel.lanes > 0
    return builtin(lowering, "SubgroupLocalInvocationId", i32)


def _lane_id(operation: Operation, lowering: Lowering) -> None:
    lanes = lowering.kernel.lanes
    assert lanes > 0
    lowering.define(operation.results[0], of_subgroup(lowering, "SubgroupLocalInvocationId"))


def _subgroup_id(operation: Operation, lowering: Lowering) -> None:
    kernel = lowering.kernel
    lanes, sizes = kernel.lanes, kernel.work_group_size
    if not kernel.has_rows:
        value = of_subgroup(lowering, "SubgroupId")
    elif sizes is not None and math.prod(sizes) <= lanes:
        value = lowering.integer(0, i64)
    else:
        value = _row_of_subgroup(lowering)
    lowering.define(operation.results[0], value)


def _linear_id(lowering: Lowering) -> Index:
    """The number of a work-item in its work-group.

    There is a builtin variable for it, but Intel's CPU runtime does not find its function.
    """
    number: Index = 0
    for dimension in (2, 1, 0):
        extent = _extent(lowering, dimension)
        if extent != 1:
            own = component(lowering, "LocalInvocationId", dimension)
            number = lowering.add(lowering.multiply(number, extent), own)
    return number


def _extent(lowering: Lowering, dimension: int) -> Index:
    """Work-items of a work-group along a dimension."""
    sizes = lowering.kernel.work_group_size
    return component(lowering, "WorkgroupSize", dimension) if sizes is None else sizes[dimension]


def _row_of_subgroup(lowering: Lowering) -> SSAValue:
    """The number of a subgroup where all its work-items have one y and z.

    Intel's CPU runtime takes the builtin for different in each work-item, and gathers and scatters
    what is accessed with it.
    """
    sizes, lanes = lowering.kernel.work_group_size, lowering.kernel.lanes
    if sizes is not None and sizes[0] == lanes:
        rows = component(lowering, "LocalInvocationId", 1)
        if sizes[2] == 1:
            return rows
        planes = lowering.multiply(component(lowering, "LocalInvocationId", 2), sizes[1])
        return lowering.as_value(lowering.add(rows, planes))

    def emit() -> SSAValue:
        index = lowering.as_value(_linear_id(lowering))
        number = lowering.compute("UDiv", i64, index, lowering.integer(lanes, i64))
        scope, first = lowering.integer(SUBGROUP_SCOPE, i32), lowering.integer(0, i32)
        return lowering.compute("GroupBroadcast", i64, scope, number, first)

    return lowering.shared("row of subgroup", (), emit)


def _constant(number: Callable[[Lowering], int]) -> Rule:
    def rule(operation: Operation, lowering: Lowering) -> None:
        lowering.define(operation.results[0], lowering.integer(number(lowering), i64))

    return rule


def _num_subgroups(operation: Operation, lowering: Lowering) -> None:
    sizes, lanes = lowering.kernel.work_group_size, lowering.kernel.lanes
    if sizes is None:
        value = of_subgroup(lowering, "NumSubgroups")
    else:
        # Loops often have this step. For all that a driver knows a builtin could be 0, and the loop
        # endless; Intel's CPU runtime then ignores the size of the subgroup.
        value = lowering.integer(-(-math.prod(sizes) // lanes), i64)
    lowering.define(operation.results[0], value)


def _barrier(operation: Operation, lowering: Lowering) -> None:
    """All work-items of the work-group wait, and see what all have written."""
    barrier(lowering, WORKGROUP_MEMORY | CROSS_WORKGROUP_MEMORY)


def barrier(lowering: Lowering, memory: int) -> None:
    """Emits a barrier of the work-group.

    Args:
        lowering: Where to emit.
        memory: Bits of the kinds of memory of which all see what was written.
    """
    scope = lowering.integer(WORKGROUP_SCOPE, i32)
    semantics = lowering.integer(ACQUIRE_RELEASE | memory, i32)
    lowering.do("ControlBarrier", scope, scope, semantics)


RULES: dict[str, Rule] = {
    "gpu.barrier": _barrier,
    "gpu.block_dim": _block_dim,
    "gpu.block_id": _of_dimension("WorkgroupId"),
    # Each work-group is a cluster of its own.
    "gpu.cluster_block_id": _constant(lambda lowering: 0),
    "gpu.cluster_dim": _grid_dim,
    "gpu.cluster_dim_blocks": _constant(lambda lowering: 1),
    "gpu.cluster_id": _of_dimension("WorkgroupId"),
    "gpu.global_id": _of_dimension("GlobalInvocationId"),
    "gpu.grid_dim": _grid_dim,
    "gpu.lane_id": _lane_id,
    "gpu.num_subgroups": _num_subgroups,
    "gpu.subgroup_id": _subgroup_id,
    "gpu.subgroup_size": _constant(lambda lowering: lowering.kernel.lanes),
    "gpu.thread_id": _of_dimension("LocalInvocationId"),
}
"""The rule of each operation, by name."""
