"""The `vector` dialect's operations, each by its name: xDSL's own where they lack nothing."""

from __future__ import annotations

from xtile.dialects.vector.contractions import (
    ContractionOp,
)
from xtile.dialects.vector.elements import (
    FromElementsOp,
    StepOp,
    ToElementsOp,
    VectorScaleOp,
)
from xtile.dialects.vector.gathers import (
    GatherOp,
    ScatterOp,
)
from xtile.dialects.vector.masks import (
    ConstantMaskOp,
    CreateMaskOp,
    MaskOp,
    YieldOp,
)
from xtile.dialects.vector.memory import (
    CompressStoreOp,
    ExpandLoadOp,
    LoadOp,
    MaskedLoadOp,
    MaskedStoreOp,
    StoreOp,
    TypeCastOp,
)
from xtile.dialects.vector.positions import (
    ExtractOp,
    InsertOp,
)
from xtile.dialects.vector.printing import (
    PrintOp,
)
from xtile.dialects.vector.products import (
    FMAOp,
    OuterProductOp,
)
from xtile.dialects.vector.reductions import (
    MultiDimReductionOp,
    ReductionOp,
    ScanOp,
)
from xtile.dialects.vector.shapes import (
    BitCastOp,
    BroadcastOp,
    ShapeCastOp,
    TransposeOp,
)
from xtile.dialects.vector.shuffles import (
    DeinterleaveOp,
    InterleaveOp,
    ShuffleOp,
)
from xtile.dialects.vector.slices import (
    ExtractStridedSliceOp,
    InsertStridedSliceOp,
    ScalableExtractOp,
    ScalableInsertOp,
)
from xtile.dialects.vector.transfers import (
    TransferReadOp,
    TransferWriteOp,
)

__all__ = [
    "BitCastOp",
    "BroadcastOp",
    "CompressStoreOp",
    "ConstantMaskOp",
    "ContractionOp",
    "CreateMaskOp",
    "DeinterleaveOp",
    "ExpandLoadOp",
    "ExtractOp",
    "ExtractStridedSliceOp",
    "FMAOp",
    "FromElementsOp",
    "GatherOp",
    "InsertOp",
    "InsertStridedSliceOp",
    "InterleaveOp",
    "LoadOp",
    "MaskOp",
    "MaskedLoadOp",
    "MaskedStoreOp",
    "MultiDimReductionOp",
    "OuterProductOp",
    "PrintOp",
    "ReductionOp",
    "ScalableExtractOp",
    "ScalableInsertOp",
    "ScanOp",
    "ScatterOp",
    "ShapeCastOp",
    "ShuffleOp",
    "StepOp",
    "StoreOp",
    "ToElementsOp",
    "TransferReadOp",
    "TransferWriteOp",
    "TransposeOp",
    "TypeCastOp",
    "VectorScaleOp",
    "YieldOp",
]
