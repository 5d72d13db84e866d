"""The whole `memref` dialect, which loads every module of it."""

from xdsl.dialects import memref
from xdsl.ir import Dialect

from xtile.dialects.memref.access import AtomicYieldOp, GenericAtomicRMWOp, PrefetchOp
from xtile.dialects.memref.allocation import ReallocOp
from xtile.dialects.memref.extensions import OPERATIONS
from xtile.dialects.memref.reshapes import ReshapeOp, TransposeOp
from xtile.dialects.memref.views import DistinctObjectsOp
from xtile.text.extensions import completed

MemRef = Dialect(
    "memref",
    completed(
        list(memref.MemRef.operations),
        OPERATIONS,
        [
            AtomicYieldOp,
            DistinctObjectsOp,
            GenericAtomicRMWOp,
            PrefetchOp,
            ReallocOp,
            ReshapeOp,
            TransposeOp,
        ],
    ),
    [],
)
