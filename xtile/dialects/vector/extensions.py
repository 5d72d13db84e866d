"""What LLVM says of the `vector` operations whose classes are xDSL's, and which are ours."""

from __future__ import annotations

from xdsl.dialects import vector
from xdsl.ir import Operation

from xtile.dialects.vector import positions, products, reductions, shapes, shuffles
from xtile.text.extensions import Replacement, Table

_MEMORY = "xtile.dialects.vector.memory"
_TRANSFERS = "xtile.dialects.vector.transfers"


def _end_line(operation: Operation) -> None:
    """XDSL's prints end the line."""
    from xtile.dialects.vector.printing import NEWLINE

    operation.properties["punctuation"] = NEWLINE


OPERATIONS: Table = {
    **positions.EXTENSIONS,
    **products.EXTENSIONS,
    **reductions.EXTENSIONS,
    **shapes.EXTENSIONS,
    **shuffles.EXTENSIONS,
    vector.BitcastOp: Replacement("xtile.dialects.vector.shapes", "BitCastOp"),
    vector.CreateMaskOp: Replacement("xtile.dialects.vector.masks", "CreateMaskOp"),
    vector.ExtractOp: Replacement("xtile.dialects.vector.positions", "ExtractOp"),
    vector.LoadOp: Replacement(_MEMORY, "LoadOp"),
    vector.MaskedLoadOp: Replacement(_MEMORY, "MaskedLoadOp"),
    vector.MaskedStoreOp: Replacement(_MEMORY, "MaskedStoreOp"),
    vector.PrintOp: Replacement("xtile.dialects.vector.printing", "PrintOp", _end_line),
    vector.StoreOp: Replacement(_MEMORY, "StoreOp"),
    vector.TransferReadOp: Replacement(_TRANSFERS, "TransferReadOp"),
    vector.TransferWriteOp: Replacement(_TRANSFERS, "TransferWriteOp"),
}
"""xDSL's classes hold no alignment of accesses and no punctuation of prints, and allow neither
masks of several dimensions nor vectors without dimensions and memrefs of vectors."""
