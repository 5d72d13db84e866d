"""The whole `vector` dialect; its operations are here by their names.

They are xDSL's own where these lack nothing; `OPERATIONS` has what LLVM says of them beside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import vector
from xdsl.ir import Dialect, Operation

from xtile.dialects.registry import operations_by_name
from xtile.dialects.vector import positions, products, reductions, shapes, shuffles
from xtile.dialects.vector.attributes import IteratorTypeAttr, PrintPunctuationAttr
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.elements import FromElementsOp, StepOp, ToElementsOp, VectorScaleOp
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.vector.masked_operations import MaskOp, YieldOp
from xtile.dialects.vector.masks import ConstantMaskOp
from xtile.dialects.vector.memory import CompressStoreOp, ExpandLoadOp, TypeCastOp
from xtile.dialects.vector.products import OuterProductOp
from xtile.dialects.vector.reductions import MultiDimReductionOp, ScanOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.vector.shuffles import DeinterleaveOp, InterleaveOp
from xtile.dialects.vector.slices import (
    ExtractStridedSliceOp,
    InsertStridedSliceOp,
    ScalableExtractOp,
    ScalableInsertOp,
)
from xtile.text.extensions import Replacement, Table, completed

if TYPE_CHECKING:
    from xtile.dialects.vector.contractions import *
    from xtile.dialects.vector.elements import *
    from xtile.dialects.vector.gathers import *
    from xtile.dialects.vector.masked_operations import *
    from xtile.dialects.vector.masks import *
    from xtile.dialects.vector.memory import *
    from xtile.dialects.vector.positions import *
    from xtile.dialects.vector.printing import *
    from xtile.dialects.vector.products import *
    from xtile.dialects.vector.reductions import *
    from xtile.dialects.vector.shapes import *
    from xtile.dialects.vector.shuffles import *
    from xtile.dialects.vector.slices import *
    from xtile.dialects.vector.transfers import *

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

Vector = Dialect(
    "vector",
    completed(
        list(vector.Vector.operations),
        OPERATIONS,
        [
            CompressStoreOp,
            ConstantMaskOp,
            ContractionOp,
            DeinterleaveOp,
            ExpandLoadOp,
            ExtractStridedSliceOp,
            FromElementsOp,
            GatherOp,
            InsertStridedSliceOp,
            InterleaveOp,
            MaskOp,
            MultiDimReductionOp,
            OuterProductOp,
            ScalableExtractOp,
            ScalableInsertOp,
            ScanOp,
            ScatterOp,
            ShapeCastOp,
            StepOp,
            ToElementsOp,
            TransposeOp,
            TypeCastOp,
            VectorScaleOp,
            YieldOp,
        ],
    ),
    [*vector.Vector.attributes, IteratorTypeAttr, PrintPunctuationAttr],
)

__getattr__ = operations_by_name("vector")
