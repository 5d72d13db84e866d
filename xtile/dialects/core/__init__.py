"""The `core` dialect: the few words the core form needs beside upstream's (docs/core-form.md)."""

from xdsl.ir import Dialect

from xtile.dialects.core.attributes import AtomicKind, Level, ScanKind, level_of
from xtile.dialects.core.blas import (
    AxpbyOp,
    BlasA2Operation,
    BlasA3Operation,
    BlasOperation,
    CumsumOp,
    GemmOp,
    GemvOp,
    GerOp,
    HadamardOp,
    SumOp,
)
from xtile.dialects.core.subgroup import (
    AtomicKindAttr,
    AtomicUpdateOp,
    FragmentExtractOp,
    FragmentInsertOp,
    MapOp,
    ParallelOp,
    PrefetchOp,
    ScanKindAttr,
    SubgroupScanOp,
    YieldOp,
)

__all__ = [
    "AtomicKind",
    "AtomicKindAttr",
    "AtomicUpdateOp",
    "AxpbyOp",
    "BlasA2Operation",
    "BlasA3Operation",
    "BlasOperation",
    "Core",
    "CumsumOp",
    "FragmentExtractOp",
    "FragmentInsertOp",
    "GemmOp",
    "GemvOp",
    "GerOp",
    "HadamardOp",
    "Level",
    "MapOp",
    "ParallelOp",
    "PrefetchOp",
    "ScanKind",
    "ScanKindAttr",
    "SubgroupScanOp",
    "SumOp",
    "YieldOp",
    "level_of",
]

Core = Dialect(
    "core",
    [
        AtomicUpdateOp,
        AxpbyOp,
        CumsumOp,
        FragmentExtractOp,
        FragmentInsertOp,
        GemmOp,
        GemvOp,
        GerOp,
        HadamardOp,
        MapOp,
        ParallelOp,
        PrefetchOp,
        SubgroupScanOp,
        SumOp,
        YieldOp,
    ],
    [AtomicKindAttr, ScanKindAttr],
)
