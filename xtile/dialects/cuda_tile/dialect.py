"""The whole `cuda_tile` dialect, which loads every module of it."""

from __future__ import annotations

from xdsl.ir import Dialect, Operation

from xtile.dialects.cuda_tile import attributes, debug_info, types
from xtile.dialects.cuda_tile.ops import (
    bitwise,
    conversions,
    floating_point,
    integer,
    mathematics,
    matrix_multiply,
)

OPERATIONS: list[type[Operation]] = [
    *bitwise.OPERATIONS,
    *conversions.OPERATIONS,
    *floating_point.OPERATIONS,
    *integer.OPERATIONS,
    *mathematics.OPERATIONS,
    *matrix_multiply.OPERATIONS,
]
"""Every operation of the dialect."""

CudaTile = Dialect(
    "cuda_tile", OPERATIONS, [*types.TYPES, *attributes.ATTRIBUTES, *debug_info.ATTRIBUTES]
)
"""The dialect's operations, one module for each group of the specification."""
