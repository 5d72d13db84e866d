"""The operations of CUDA Tile IR, one module for each group of the specification.

Each is here by its name. The family of an operation is loaded when its name is first used;
`xtile.dialects.cuda_tile.ops.FAMILY` loads one family only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_of_families

if TYPE_CHECKING:
    from xtile.dialects.cuda_tile.ops.atomics import *
    from xtile.dialects.cuda_tile.ops.bitwise import *
    from xtile.dialects.cuda_tile.ops.control_flow import *
    from xtile.dialects.cuda_tile.ops.conversions import *
    from xtile.dialects.cuda_tile.ops.core import *
    from xtile.dialects.cuda_tile.ops.floating_point import *
    from xtile.dialects.cuda_tile.ops.global_variables import *
    from xtile.dialects.cuda_tile.ops.grid import *
    from xtile.dialects.cuda_tile.ops.integer import *
    from xtile.dialects.cuda_tile.ops.launches import *
    from xtile.dialects.cuda_tile.ops.loops import *
    from xtile.dialects.cuda_tile.ops.mathematics import *
    from xtile.dialects.cuda_tile.ops.matrix_multiply import *
    from xtile.dialects.cuda_tile.ops.memory import *
    from xtile.dialects.cuda_tile.ops.miscellaneous import *
    from xtile.dialects.cuda_tile.ops.module import *
    from xtile.dialects.cuda_tile.ops.packing import *
    from xtile.dialects.cuda_tile.ops.parts import *
    from xtile.dialects.cuda_tile.ops.reductions import *
    from xtile.dialects.cuda_tile.ops.view_access import *
    from xtile.dialects.cuda_tile.ops.views import *

__getattr__ = operations_of_families(
    __name__,
    (
        "atomics",
        "bitwise",
        "control_flow",
        "conversions",
        "core",
        "floating_point",
        "global_variables",
        "grid",
        "integer",
        "launches",
        "loops",
        "mathematics",
        "matrix_multiply",
        "memory",
        "miscellaneous",
        "module",
        "packing",
        "parts",
        "reductions",
        "view_access",
        "views",
    ),
)
