"""The whole `memref` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing; `OPERATIONS` has what LLVM says of them beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import memref
from xdsl.ir import Dialect

from xtile.dialects.memref import access, allocation, reshapes, views
from xtile.dialects.registry import operations_by_name
from xtile.text.extensions import Replacement, Table, completed

if TYPE_CHECKING:
    from xtile.dialects.memref.access import *
    from xtile.dialects.memref.allocation import *
    from xtile.dialects.memref.reshapes import *
    from xtile.dialects.memref.views import *

_ACCESS = "xtile.dialects.memref.access"
_ALLOCATION = "xtile.dialects.memref.allocation"
_VIEWS = "xtile.dialects.memref.views"

OPERATIONS: Table = {
    **access.EXTENSIONS,
    **allocation.EXTENSIONS,
    **reshapes.EXTENSIONS,
    **views.EXTENSIONS,
    memref.CopyOp: Replacement(_ACCESS, "CopyOp"),
    memref.ExtractAlignedPointerAsIndexOp: Replacement(_VIEWS, "ExtractAlignedPointerAsIndexOp"),
    memref.GlobalOp: Replacement(_ALLOCATION, "GlobalOp"),
    memref.LoadOp: Replacement(_ACCESS, "LoadOp"),
    memref.MemorySpaceCastOp: Replacement(_VIEWS, "MemorySpaceCastOp"),
    memref.RankOp: Replacement(_VIEWS, "RankOp"),
    memref.ReinterpretCastOp: Replacement(_VIEWS, "ReinterpretCastOp"),
    memref.StoreOp: Replacement(_ACCESS, "StoreOp"),
}
"""xDSL's classes hold no alignment of accesses and no global without visibility, and allow no
memrefs of unknown rank in copies and casts."""

MemRef = Dialect(
    "memref",
    completed(
        list(memref.MemRef.operations),
        OPERATIONS,
        [
            access.AtomicYieldOp,
            access.GenericAtomicRMWOp,
            access.PrefetchOp,
            allocation.ReallocOp,
            reshapes.ReshapeOp,
            reshapes.TransposeOp,
            views.DistinctObjectsOp,
        ],
    ),
    [],
)

__getattr__ = operations_by_name("memref")
