"""The whole `cuda_tile` dialect, which loads every module of it."""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from xtile.dialects.cuda_tile import attributes, debug_info, types
from xtile.dialects.cuda_tile.ops import (
    atomics,
    bitwise,
    control_flow,
    conversions,
    core,
    floating_point,
    global_variables,
    grid,
    integer,
    launches,
    loops,
    mathematics,
    matrix_multiply,
    memory,
    miscellaneous,
    module,
    packing,
    parts,
    reductions,
    view_access,
    views,
)

OPERATIONS: list[type[Operation]] = [
    *atomics.OPERATIONS,
    *bitwise.OPERATIONS,
    *control_flow.OPERATIONS,
    *conversions.OPERATIONS,
    *core.OPERATIONS,
    *floating_point.OPERATIONS,
    *global_variables.OPERATIONS,
    *grid.OPERATIONS,
    *integer.OPERATIONS,
    *launches.OPERATIONS,
    *loops.OPERATIONS,
    *mathematics.OPERATIONS,
    *matrix_multiply.OPERATIONS,
    *memory.OPERATIONS,
    *miscellaneous.OPERATIONS,
    *module.OPERATIONS,
    *packing.OPERATIONS,
    *parts.OPERATIONS,
    *reductions.OPERATIONS,
    *view_access.OPERATIONS,
    *views.OPERATIONS,
]
"""Every operation of the dialect."""

CudaTile = Dialect(
    "cuda_tile", OPERATIONS, [*types.TYPES, *attributes.ATTRIBUTES, *debug_info.ATTRIBUTES]
)
"""The dialect's operations, one module for each group of the specification."""
