"""The dialect's operations, one module for each family.

Each is here by its name. The family of an operation is loaded when its name is first used;
`xtile.dialects.xegpu.ops.FAMILY` loads one family only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.xegpu.ops.atomics import (
        AtomicRMWOp,
    )
    from xtile.dialects.xegpu.ops.barriers import (
        AllocNbarrierOp,
        FenceOp,
        InitNbarrierOp,
        NbarrierArriveOp,
        NbarrierWaitOp,
    )
    from xtile.dialects.xegpu.ops.block import (
        LoadNdOp,
        PrefetchNdOp,
        StoreNdOp,
    )
    from xtile.dialects.xegpu.ops.convert_layout import (
        ConvertLayoutOp,
    )
    from xtile.dialects.xegpu.ops.descriptors import (
        CreateDescOp,
        CreateNdDescOp,
        UpdateNdOffsetOp,
        UpdateOffsetOp,
    )
    from xtile.dialects.xegpu.ops.matrix import (
        CreateMemDescOp,
        LoadMatrixOp,
        StoreMatrixOp,
    )
    from xtile.dialects.xegpu.ops.product import (
        DpasOp,
    )
    from xtile.dialects.xegpu.ops.scattered import (
        LoadGatherOp,
        PrefetchOp,
        StoreScatterOp,
    )

__all__ = [
    "AllocNbarrierOp",
    "AtomicRMWOp",
    "ConvertLayoutOp",
    "CreateDescOp",
    "CreateMemDescOp",
    "CreateNdDescOp",
    "DpasOp",
    "FenceOp",
    "InitNbarrierOp",
    "LoadGatherOp",
    "LoadMatrixOp",
    "LoadNdOp",
    "NbarrierArriveOp",
    "NbarrierWaitOp",
    "PrefetchNdOp",
    "PrefetchOp",
    "StoreMatrixOp",
    "StoreNdOp",
    "StoreScatterOp",
    "UpdateNdOffsetOp",
    "UpdateOffsetOp",
]

_FAMILIES = (
    "atomics",
    "barriers",
    "block",
    "convert_layout",
    "descriptors",
    "matrix",
    "product",
    "scattered",
)


def __getattr__(name: str) -> object:
    """Finds an operation in the families."""
    from xtile.dialects.lazy_operations import find_operation

    value = find_operation(__name__, _FAMILIES, name)
    globals()[name] = value
    return value
