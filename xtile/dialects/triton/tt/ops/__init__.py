"""The dialect's operations, each by its name; its family is loaded when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xtile.dialects.triton.tt.ops.aggregates import (
        MapElementwiseOp,
        MapElementwiseReturnOp,
        ReduceOp,
        ReduceReturnOp,
        ScanOp,
        ScanReturnOp,
    )
    from xtile.dialects.triton.tt.ops.atomics import (
        AtomicCASOp,
        AtomicLoadOp,
        AtomicPollOp,
        AtomicRMWOp,
        AtomicStoreOp,
    )
    from xtile.dialects.triton.tt.ops.block_pointers import (
        AdvanceOp,
        MakeTensorPtrOp,
    )
    from xtile.dialects.triton.tt.ops.descriptors import (
        DescriptorGatherOp,
        DescriptorLoadOp,
        DescriptorReduceOp,
        DescriptorScatterOp,
        DescriptorStoreOp,
        MakeTensorDescOp,
    )
    from xtile.dialects.triton.tt.ops.external import (
        AssertOp,
        ElementwiseInlineAsmOp,
        ExternElementwiseOp,
        PrintOp,
    )
    from xtile.dialects.triton.tt.ops.functions import (
        CallOp,
        FuncOp,
        ReturnOp,
    )
    from xtile.dialects.triton.tt.ops.memory import (
        LoadOp,
        StoreOp,
    )
    from xtile.dialects.triton.tt.ops.numbers import (
        ApproxDivFOp,
        ClampFOp,
        FpToFpOp,
        MulhiUIOp,
        PreciseDivFOp,
        PreciseSqrtOp,
    )
    from xtile.dialects.triton.tt.ops.pointers import (
        AddPtrOp,
        BitcastOp,
        IntToPtrOp,
        PtrToIntOp,
    )
    from xtile.dialects.triton.tt.ops.products import (
        DotOp,
        DotScaledOp,
    )
    from xtile.dialects.triton.tt.ops.programs import (
        GetNumProgramsOp,
        GetProgramIdOp,
        GridDependencyLaunchDependentsOp,
        GridDependencyWaitOp,
        MakeRangeOp,
    )
    from xtile.dialects.triton.tt.ops.shapes import (
        BroadcastOp,
        CatOp,
        ExpandDimsOp,
        GatherOp,
        HistogramOp,
        JoinOp,
        ReshapeOp,
        SplatOp,
        SplitOp,
        TransOp,
        UnsplatOp,
    )

__all__ = [
    "AddPtrOp",
    "AdvanceOp",
    "ApproxDivFOp",
    "AssertOp",
    "AtomicCASOp",
    "AtomicLoadOp",
    "AtomicPollOp",
    "AtomicRMWOp",
    "AtomicStoreOp",
    "BitcastOp",
    "BroadcastOp",
    "CallOp",
    "CatOp",
    "ClampFOp",
    "DescriptorGatherOp",
    "DescriptorLoadOp",
    "DescriptorReduceOp",
    "DescriptorScatterOp",
    "DescriptorStoreOp",
    "DotOp",
    "DotScaledOp",
    "ElementwiseInlineAsmOp",
    "ExpandDimsOp",
    "ExternElementwiseOp",
    "FpToFpOp",
    "FuncOp",
    "GatherOp",
    "GetNumProgramsOp",
    "GetProgramIdOp",
    "GridDependencyLaunchDependentsOp",
    "GridDependencyWaitOp",
    "HistogramOp",
    "IntToPtrOp",
    "JoinOp",
    "LoadOp",
    "MakeRangeOp",
    "MakeTensorDescOp",
    "MakeTensorPtrOp",
    "MapElementwiseOp",
    "MapElementwiseReturnOp",
    "MulhiUIOp",
    "PreciseDivFOp",
    "PreciseSqrtOp",
    "PrintOp",
    "PtrToIntOp",
    "ReduceOp",
    "ReduceReturnOp",
    "ReshapeOp",
    "ReturnOp",
    "ScanOp",
    "ScanReturnOp",
    "SplatOp",
    "SplitOp",
    "StoreOp",
    "TransOp",
    "UnsplatOp",
]

_FAMILIES = (
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
)


def __getattr__(name: str) -> object:
    """Finds an operation in the families."""
    from xtile.dialects.lazy_operations import find_operation

    value = find_operation(__name__, _FAMILIES, name)
    globals()[name] = value
    return value
