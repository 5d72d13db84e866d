"""The `memref` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xdsl.dialects.memref import (
    DeallocOp,
    DmaStartOp,
    DmaWaitOp,
    ExtractStridedMetaDataOp,
)

from xtile.dialects.memref.access import (
    AtomicRMWOp,
    AtomicYieldOp,
    CopyOp,
    GenericAtomicRMWOp,
    LoadOp,
    PrefetchOp,
    StoreOp,
)
from xtile.dialects.memref.allocation import (
    AllocaOp,
    AllocaScopeOp,
    AllocaScopeReturnOp,
    AllocOp,
    GetGlobalOp,
    GlobalOp,
    ReallocOp,
)
from xtile.dialects.memref.reshapes import (
    CollapseShapeOp,
    ExpandShapeOp,
    ReshapeOp,
    TransposeOp,
    ViewOp,
)
from xtile.dialects.memref.views import (
    AssumeAlignmentOp,
    CastOp,
    DimOp,
    DistinctObjectsOp,
    ExtractAlignedPointerAsIndexOp,
    MemorySpaceCastOp,
    RankOp,
    ReinterpretCastOp,
    SubviewOp,
)

__all__ = [
    "AllocOp",
    "AllocaOp",
    "AllocaScopeOp",
    "AllocaScopeReturnOp",
    "AssumeAlignmentOp",
    "AtomicRMWOp",
    "AtomicYieldOp",
    "CastOp",
    "CollapseShapeOp",
    "CopyOp",
    "DeallocOp",
    "DimOp",
    "DistinctObjectsOp",
    "DmaStartOp",
    "DmaWaitOp",
    "ExpandShapeOp",
    "ExtractAlignedPointerAsIndexOp",
    "ExtractStridedMetaDataOp",
    "GenericAtomicRMWOp",
    "GetGlobalOp",
    "GlobalOp",
    "LoadOp",
    "MemorySpaceCastOp",
    "PrefetchOp",
    "RankOp",
    "ReallocOp",
    "ReinterpretCastOp",
    "ReshapeOp",
    "StoreOp",
    "SubviewOp",
    "TransposeOp",
    "ViewOp",
]
