"""The whole `core` dialect; its operations are here by their names."""

from xdsl.ir import Dialect

from xtile.dialects.core.assumptions import *
from xtile.dialects.core.atomics import *
from xtile.dialects.core.attributes import *
from xtile.dialects.core.blas import *
from xtile.dialects.core.complex_parts import *
from xtile.dialects.core.cooperative_matrix import *
from xtile.dialects.core.elements import *
from xtile.dialects.core.packing import *
from xtile.dialects.core.pointers import *
from xtile.dialects.core.printing import *
from xtile.dialects.core.reductions import *
from xtile.dialects.core.scaled_products import *
from xtile.dialects.core.scattered import *
from xtile.dialects.core.subgroup import *
from xtile.dialects.core.views import *

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
