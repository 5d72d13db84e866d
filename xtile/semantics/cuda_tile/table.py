"""The meanings of all operations of CUDA Tile IR."""

from __future__ import annotations

from xtile.semantics.compiler import Handler
from xtile.semantics.cuda_tile import (
    bitwise,
    comparisons,
    conversions,
    floating_point,
    integer,
    mathematics,
    matrix_multiply,
    reductions,
    shapes,
)

HANDLERS: dict[str, Handler] = {
    **bitwise.HANDLERS,
    **comparisons.HANDLERS,
    **conversions.HANDLERS,
    **floating_point.HANDLERS,
    **integer.HANDLERS,
    **mathematics.HANDLERS,
    **matrix_multiply.HANDLERS,
    **reductions.HANDLERS,
    **shapes.HANDLERS,
}
"""The handler of each operation, by name."""
