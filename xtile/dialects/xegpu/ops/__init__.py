"""The dialect's operations, one module for each family.

Each is here by its name. The family of an operation is loaded when its name is first used;
`xtile.dialects.xegpu.ops.FAMILY` loads one family only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xtile.dialects.registry import operations_of_families

if TYPE_CHECKING:
    from xtile.dialects.xegpu.ops.atomics import *
    from xtile.dialects.xegpu.ops.barriers import *
    from xtile.dialects.xegpu.ops.block import *
    from xtile.dialects.xegpu.ops.convert_layout import *
    from xtile.dialects.xegpu.ops.descriptors import *
    from xtile.dialects.xegpu.ops.matrix import *
    from xtile.dialects.xegpu.ops.product import *
    from xtile.dialects.xegpu.ops.scattered import *

__getattr__ = operations_of_families(
    __name__,
    (
        "atomics",
        "barriers",
        "block",
        "convert_layout",
        "descriptors",
        "matrix",
        "product",
        "scattered",
    ),
)
