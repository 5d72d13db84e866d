"""The dialect's operations, each by its name; its family is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_of_families

if TYPE_CHECKING:
    from xtile.dialects.triton.tt.ops.aggregates import *
    from xtile.dialects.triton.tt.ops.atomics import *
    from xtile.dialects.triton.tt.ops.block_pointers import *
    from xtile.dialects.triton.tt.ops.descriptors import *
    from xtile.dialects.triton.tt.ops.external import *
    from xtile.dialects.triton.tt.ops.functions import *
    from xtile.dialects.triton.tt.ops.memory import *
    from xtile.dialects.triton.tt.ops.numbers import *
    from xtile.dialects.triton.tt.ops.pointers import *
    from xtile.dialects.triton.tt.ops.products import *
    from xtile.dialects.triton.tt.ops.programs import *
    from xtile.dialects.triton.tt.ops.shapes import *

__getattr__ = operations_of_families(
    __name__,
    (
        "aggregates",
        "atomics",
        "block_pointers",
        "descriptors",
        "external",
        "functions",
        "memory",
        "numbers",
        "pointers",
        "products",
        "programs",
        "shapes",
    ),
)
