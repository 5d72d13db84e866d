"""The whole `core` dialect, which loads every module of it."""

from xdsl.ir import Dialect

from xtile.dialects.core.assumptions import AssumeOp
from xtile.dialects.core.atomics import AtomicCompareAndSwapOp, AtomicRMWOp
from xtile.dialects.core.attributes import MemoryOrderAttr, MemoryScopeAttr
from xtile.dialects.core.blas import AxpbyOp, CumsumOp, GemmOp, GemvOp, GerOp, HadamardOp, SumOp
from xtile.dialects.core.complex_parts import ComplexPartAttr, ComplexPartOp
from xtile.dialects.core.cooperative_matrix import (
    CooperativeMatrixFillOp,
    CooperativeMatrixLoadOp,
    CooperativeMatrixMultiplyAddOp,
    CooperativeMatrixStoreOp,
    CooperativeMatrixType,
)
from xtile.dialects.core.elements import GatherOp, HistogramOp
from xtile.dialects.core.packing import PackOp, UnpackOp
from xtile.dialects.core.pointers import (
    IntegerToPointerOp,
    PointerAddOp,
    PointerCastOp,
    PointerToIntegerOp,
    PointerType,
)
from xtile.dialects.core.printing import PrintOp
from xtile.dialects.core.reductions import ReduceOp, ScanOp
from xtile.dialects.core.scaled_products import ScaledContractOp
from xtile.dialects.core.scattered import GatherLoadOp, ScatterStoreOp
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
from xtile.dialects.core.views import ViewOp

Core = Dialect(
    "core",
    [
        AssumeOp,
        AtomicCompareAndSwapOp,
        AtomicRMWOp,
        AtomicUpdateOp,
        AxpbyOp,
        ComplexPartOp,
        CooperativeMatrixFillOp,
        CooperativeMatrixLoadOp,
        CooperativeMatrixMultiplyAddOp,
        CooperativeMatrixStoreOp,
        CumsumOp,
        FragmentExtractOp,
        FragmentInsertOp,
        GatherLoadOp,
        GatherOp,
        GemmOp,
        GemvOp,
        GerOp,
        HadamardOp,
        HistogramOp,
        IntegerToPointerOp,
        MapOp,
        PackOp,
        ParallelOp,
        PointerAddOp,
        PointerCastOp,
        PointerToIntegerOp,
        PrefetchOp,
        PrintOp,
        ReduceOp,
        ScaledContractOp,
        ScanOp,
        ScatterStoreOp,
        SubgroupScanOp,
        SumOp,
        UnpackOp,
        ViewOp,
        YieldOp,
    ],
    [
        AtomicKindAttr,
        ComplexPartAttr,
        CooperativeMatrixType,
        MemoryOrderAttr,
        MemoryScopeAttr,
        PointerType,
        ScanKindAttr,
    ],
)
