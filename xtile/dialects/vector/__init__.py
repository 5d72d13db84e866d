"""The `vector` dialect in upstream's syntax.

Operations that xDSL's classes hold are xDSL's own; `extensions.py` says which, and what LLVM says
of them beside.

Source: MLIR (LLVM 22), `Dialect/Vector/IR`.
"""

from xdsl.dialects import vector
from xdsl.ir import Dialect

from xtile.dialects.vector.attributes import IteratorType, IteratorTypeAttr, PrintPunctuationAttr
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.elements import FromElementsOp, StepOp, ToElementsOp, VectorScaleOp
from xtile.dialects.vector.extensions import OPERATIONS
from xtile.dialects.vector.gathers import GatherOp, ScatterOp
from xtile.dialects.vector.masks import ConstantMaskOp, MaskOp, YieldOp
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
from xtile.text.extensions import completed

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

__all__ = [
    "ContractionOp",
    "ExtractStridedSliceOp",
    "FromElementsOp",
    "InsertStridedSliceOp",
    "IteratorType",
    "IteratorTypeAttr",
    "MultiDimReductionOp",
    "ShapeCastOp",
    "StepOp",
    "ToElementsOp",
    "TransposeOp",
    "Vector",
]
