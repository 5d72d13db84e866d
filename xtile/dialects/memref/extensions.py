"""What LLVM says of the `memref` operations whose classes are xDSL's, and which are ours."""

from __future__ import annotations

from xdsl.dialects import memref

from xtile.dialects.memref import access, allocation, reshapes, views
from xtile.text.extensions import Replacement, Table

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
