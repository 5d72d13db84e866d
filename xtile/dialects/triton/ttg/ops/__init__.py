"""The dialect's operations, each by its name; its family is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.triton.ttg.ops.async_copies import (
        AsyncCommitGroupOp,
        AsyncCopyGlobalToLocalOp,
        AsyncWaitOp,
    )
    from xtile.dialects.triton.ttg.ops.layouts import (
        ConvertLayoutOp,
        Fp4ToFpOp,
    )
    from xtile.dialects.triton.ttg.ops.local_memory import (
        LocalAllocOp,
        LocalAtomicScatterRMWOp,
        LocalDeallocOp,
        LocalGatherOp,
        LocalLoadOp,
        LocalScatterOp,
        LocalStoreOp,
    )
    from xtile.dialects.triton.ttg.ops.miscellaneous import (
        GlobalScratchAllocOp,
        InlineAsmOp,
        MaskOp,
        MaskReturnOp,
        PredicateStageOp,
    )
    from xtile.dialects.triton.ttg.ops.views import (
        MemDescIndexOp,
        MemDescReinterpretOp,
        MemDescReshapeOp,
        MemDescSubsliceOp,
        MemDescSubviewOp,
        MemDescTransOp,
    )
    from xtile.dialects.triton.ttg.ops.warps import (
        BarrierOp,
        WarpIdOp,
        WarpReturnOp,
        WarpSpecializeOp,
        WarpSpecializePartitionsOp,
        WarpYieldOp,
    )

__all__ = [
    "AsyncCommitGroupOp",
    "AsyncCopyGlobalToLocalOp",
    "AsyncWaitOp",
    "BarrierOp",
    "ConvertLayoutOp",
    "Fp4ToFpOp",
    "GlobalScratchAllocOp",
    "InlineAsmOp",
    "LocalAllocOp",
    "LocalAtomicScatterRMWOp",
    "LocalDeallocOp",
    "LocalGatherOp",
    "LocalLoadOp",
    "LocalScatterOp",
    "LocalStoreOp",
    "MaskOp",
    "MaskReturnOp",
    "MemDescIndexOp",
    "MemDescReinterpretOp",
    "MemDescReshapeOp",
    "MemDescSubsliceOp",
    "MemDescSubviewOp",
    "MemDescTransOp",
    "PredicateStageOp",
    "WarpIdOp",
    "WarpReturnOp",
    "WarpSpecializeOp",
    "WarpSpecializePartitionsOp",
    "WarpYieldOp",
]

_FAMILIES = (
    "async_copies",
    "layouts",
    "local_memory",
    "miscellaneous",
    "views",
    "warps",
)


def __getattr__(name: str) -> object:
    """Finds an operation in the families."""
    from xtile.dialects.lazy_operations import find_operation

    value = find_operation(__name__, _FAMILIES, name)
    globals()[name] = value
    return value
