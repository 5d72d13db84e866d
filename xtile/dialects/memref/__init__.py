"""The `memref` dialect in upstream's syntax.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/MemRef/IR`.
"""

from xdsl.ir import Dialect

from xtile.dialects.memref import access, allocation, reshapes, views
from xtile.dialects.memref.access import AtomicYieldOp, GenericAtomicRMWOp

MemRef = Dialect(
    "memref",
    [
        *access.OPERATIONS,
        *allocation.OPERATIONS,
        *reshapes.OPERATIONS,
        *views.OPERATIONS,
    ],
    [],
)

__all__ = ["AtomicYieldOp", "GenericAtomicRMWOp", "MemRef"]
