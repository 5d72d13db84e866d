"""Who executes the operations of a kernel: a work-group, a subgroup or a lane, as the types say.

Source: MLIR (LLVM 22), `Dialect/XeGPU/IR/XeGPUOps.td`; docs/semantics.md, "XeGPU", "Levels".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, cast, get_args

from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.ir import Operation

from xtile.dialects.gpu.subgroup_sizes import VECTOR_COMPUTE
from xtile.dialects.xegpu.operation import layouts_of, shape_of
from xtile.dialects.xegpu.ops.atomics import AtomicRMWOp
from xtile.dialects.xegpu.ops.block import LoadNdOp, StoreNdOp
from xtile.dialects.xegpu.ops.product import DpasOp
from xtile.dialects.xegpu.ops.scattered import LoadGatherOp, StoreScatterOp
from xtile.dialects.xegpu.rfc.names import MODE

Level = Literal["work-group", "subgroup", "lane"]

LEVEL = "xegpu.level"
"""The attribute of a kernel that says its level, whatever its operations would tell."""


def level_of_kernel(
    function: Operation, operations: Sequence[Operation]
) -> tuple[Level, Operation | None]:
    """The level of a kernel, and the operation that tells it, where one does.

    A kernel says its level in its attribute `xegpu.level`, or by `VectorComputeFunctionINTEL` that
    each of its work-items is a subgroup. Otherwise its operations tell.

    Args:
        function: The kernel.
        operations: Its operations of XeGPU.
    """
    named = function.attributes.get(LEVEL)
    if isinstance(named, StringAttr) and named.data in get_args(Level):
        return cast("Level", named.data), None
    level, because = level_of(operations)
    if level == "lane" and VECTOR_COMPUTE in function.attributes:
        return "subgroup", None
    return level, because


def set_level(function: Operation, level: str) -> None:
    """Lets a kernel say its level.

    Args:
        function: The kernel; it is changed.
        level: "work-group", "subgroup", "lane", or "vc" for the form in which a work-item is a
            subgroup.
    """
    if level == "vc":
        function.attributes[VECTOR_COMPUTE] = UnitAttr()
    function.attributes[LEVEL] = StringAttr("subgroup" if level == "vc" else level)


def level_of(operations: Iterable[Operation]) -> tuple[Level, Operation | None]:
    """The level of a kernel with these operations of XeGPU, and the operation that tells.

    It is the highest that one of them has; where all may be those of a lane, none tells.
    """
    of_subgroup = None
    for operation in operations:
        layouts = layouts_of(operation)
        if any(layout.is_for_workgroup for layout in layouts):
            return "work-group", operation
        if of_subgroup is None and _is_for_subgroup(operation, has_layout=bool(layouts)):
            of_subgroup = operation
    return ("lane" if of_subgroup is None else "subgroup"), of_subgroup


def _is_for_subgroup(operation: Operation, *, has_layout: bool) -> bool:
    """Whether an operation is on whole vectors, or on all points of a subgroup."""
    mode = operation.attributes.get(MODE)
    if isinstance(mode, StringAttr):
        return mode.data != "simt"
    if isinstance(operation, DpasOp):
        # A layout may stand beside the parts that lanes hold, too.
        return not operation.is_for_lane
    if has_layout:
        return True
    if isinstance(operation, LoadNdOp | StoreNdOp):
        return not operation.is_for_lane
    if isinstance(operation, AtomicRMWOp):
        return shape_of(operation.value.type) != (1,)
    if isinstance(operation, LoadGatherOp | StoreScatterOp):
        # As many points as lanes with one chunk together are a lane's, too.
        points, value = shape_of(operation.mask.type), shape_of(operation.value.type)
        chunk = operation.effective_chunk_size
        return points != (1,) and (chunk == 1 or value != (chunk,))
    return False
