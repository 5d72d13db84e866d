"""The operations of CUDA Tile IR, one module for each group of the specification.

Each is here by its name. The family of an operation is loaded when its name is first used;
`xtile.dialects.cuda_tile.ops.FAMILY` loads one family only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.cuda_tile.ops.atomics import (
        AtomicCASTkoOp,
        AtomicRedViewTkoOp,
        AtomicRMWTkoOp,
    )
    from xtile.dialects.cuda_tile.ops.bitwise import (
        AndIOp,
        OrIOp,
        XOrIOp,
    )
    from xtile.dialects.cuda_tile.ops.control_flow import (
        AssertOp,
        BreakOp,
        ContinueOp,
        IfOp,
        ReturnOp,
        YieldOp,
    )
    from xtile.dialects.cuda_tile.ops.conversions import (
        BitcastOp,
        ExtIOp,
        FToFOp,
        FToIOp,
        IntToPtrOp,
        IToFOp,
        PtrToIntOp,
        PtrToPtrOp,
        TruncIOp,
    )
    from xtile.dialects.cuda_tile.ops.core import (
        BroadcastOp,
        CatOp,
        ConstantOp,
        ExtractOp,
        IotaOp,
        OffsetOp,
        PermuteOp,
        ReshapeOp,
        SelectOp,
    )
    from xtile.dialects.cuda_tile.ops.floating_point import (
        AbsFOp,
        AddFOp,
        CeilOp,
        CmpFOp,
        DivFOp,
        FloorOp,
        FmaOp,
        MaxFOp,
        MinFOp,
        MulFOp,
        NegFOp,
        RemFOp,
        SubFOp,
    )
    from xtile.dialects.cuda_tile.ops.global_variables import (
        GetGlobalOp,
        GlobalOp,
    )
    from xtile.dialects.cuda_tile.ops.grid import (
        GetNumTileBlocksOp,
        GetTileBlockIdOp,
    )
    from xtile.dialects.cuda_tile.ops.integer import (
        AbsIOp,
        AddIOp,
        CmpIOp,
        DivIOp,
        MaxIOp,
        MinIOp,
        MulhiIOp,
        MulIOp,
        NegIOp,
        RemIOp,
        ShLIOp,
        ShRIOp,
        SubIOp,
    )
    from xtile.dialects.cuda_tile.ops.launches import (
        GdcLaunchDependentsTkoOp,
        GdcWaitTkoOp,
    )
    from xtile.dialects.cuda_tile.ops.loops import (
        ForOp,
        LoopOp,
    )
    from xtile.dialects.cuda_tile.ops.mathematics import (
        Atan2Op,
        CosHOp,
        CosOp,
        Exp2Op,
        ExpOp,
        FPowIOp,
        Log2Op,
        LogOp,
        PowOp,
        RsqrtOp,
        SinHOp,
        SinOp,
        SqrtOp,
        TanHOp,
        TanOp,
    )
    from xtile.dialects.cuda_tile.ops.matrix_multiply import (
        MmaFOp,
        MmaFScaledOp,
        MmaIOp,
    )
    from xtile.dialects.cuda_tile.ops.memory import (
        AllocaOp,
        JoinTokensOp,
        LoadPtrTkoOp,
        MakeTokenOp,
        MemoryFenceAliasTkoOp,
        StorePtrTkoOp,
    )
    from xtile.dialects.cuda_tile.ops.miscellaneous import (
        AssumeOp,
        PrintTkoOp,
    )
    from xtile.dialects.cuda_tile.ops.module import (
        EntryOp,
        ModuleOp,
    )
    from xtile.dialects.cuda_tile.ops.packing import (
        PackOp,
        UnpackOp,
    )
    from xtile.dialects.cuda_tile.ops.parts import (
        InsertOp,
    )
    from xtile.dialects.cuda_tile.ops.reductions import (
        ReduceOp,
        ScanOp,
    )
    from xtile.dialects.cuda_tile.ops.view_access import (
        LoadViewTkoOp,
        StoreViewTkoOp,
    )
    from xtile.dialects.cuda_tile.ops.views import (
        GetIndexSpaceShapeOp,
        GetTensorShapeOp,
        MakeGatherScatterViewOp,
        MakePartitionViewOp,
        MakeStridedViewOp,
        MakeTensorViewOp,
    )

__all__ = [
    "AbsFOp",
    "AbsIOp",
    "AddFOp",
    "AddIOp",
    "AllocaOp",
    "AndIOp",
    "AssertOp",
    "AssumeOp",
    "Atan2Op",
    "AtomicCASTkoOp",
    "AtomicRMWTkoOp",
    "AtomicRedViewTkoOp",
    "BitcastOp",
    "BreakOp",
    "BroadcastOp",
    "CatOp",
    "CeilOp",
    "CmpFOp",
    "CmpIOp",
    "ConstantOp",
    "ContinueOp",
    "CosHOp",
    "CosOp",
    "DivFOp",
    "DivIOp",
    "EntryOp",
    "Exp2Op",
    "ExpOp",
    "ExtIOp",
    "ExtractOp",
    "FPowIOp",
    "FToFOp",
    "FToIOp",
    "FloorOp",
    "FmaOp",
    "ForOp",
    "GdcLaunchDependentsTkoOp",
    "GdcWaitTkoOp",
    "GetGlobalOp",
    "GetIndexSpaceShapeOp",
    "GetNumTileBlocksOp",
    "GetTensorShapeOp",
    "GetTileBlockIdOp",
    "GlobalOp",
    "IToFOp",
    "IfOp",
    "InsertOp",
    "IntToPtrOp",
    "IotaOp",
    "JoinTokensOp",
    "LoadPtrTkoOp",
    "LoadViewTkoOp",
    "Log2Op",
    "LogOp",
    "LoopOp",
    "MakeGatherScatterViewOp",
    "MakePartitionViewOp",
    "MakeStridedViewOp",
    "MakeTensorViewOp",
    "MakeTokenOp",
    "MaxFOp",
    "MaxIOp",
    "MemoryFenceAliasTkoOp",
    "MinFOp",
    "MinIOp",
    "MmaFOp",
    "MmaFScaledOp",
    "MmaIOp",
    "ModuleOp",
    "MulFOp",
    "MulIOp",
    "MulhiIOp",
    "NegFOp",
    "NegIOp",
    "OffsetOp",
    "OrIOp",
    "PackOp",
    "PermuteOp",
    "PowOp",
    "PrintTkoOp",
    "PtrToIntOp",
    "PtrToPtrOp",
    "ReduceOp",
    "RemFOp",
    "RemIOp",
    "ReshapeOp",
    "ReturnOp",
    "RsqrtOp",
    "ScanOp",
    "SelectOp",
    "ShLIOp",
    "ShRIOp",
    "SinHOp",
    "SinOp",
    "SqrtOp",
    "StorePtrTkoOp",
    "StoreViewTkoOp",
    "SubFOp",
    "SubIOp",
    "TanHOp",
    "TanOp",
    "TruncIOp",
    "UnpackOp",
    "XOrIOp",
    "YieldOp",
]

_FAMILIES = (
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
)


def __getattr__(name: str) -> object:
    """Finds an operation in the families."""
    from xtile.dialects.lazy_operations import find_operation

    value = find_operation(__name__, _FAMILIES, name)
    globals()[name] = value
    return value
