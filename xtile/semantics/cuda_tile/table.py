"""The meanings of all operations of CUDA Tile IR."""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.cuda_tile import (
    assumptions,
    atomics,
    comparisons,
    control,
    conversions,
    floating_point,
    integer,
    matrix_multiply,
    memory,
    miscellaneous,
    reductions,
    shapes,
    views,
)

HANDLERS: dict[str, Handler] = {
    **assumptions.HANDLERS,
    **atomics.HANDLERS,
    **comparisons.HANDLERS,
    **control.HANDLERS,
    **conversions.HANDLERS,
    **floating_point.HANDLERS,
    **integer.HANDLERS,
    **matrix_multiply.HANDLERS,
    **memory.HANDLERS,
    **miscellaneous.HANDLERS,
    **reductions.HANDLERS,
    **shapes.HANDLERS,
    **views.HANDLERS,
}
"""The handler of each operation, by name."""
