"""The `vector` dialect in upstream's syntax, with what xDSL's lacks."""

from xdsl.dialects import vector
from xdsl.ir import Dialect

from xtile.dialects.vector.elements import FromElementsOp, StepOp, ToElementsOp
from xtile.dialects.vector.reductions import ContractionOp, IteratorTypeAttr, MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp, InsertStridedSliceOp

ShuffleOp = vector.ShuffleOp

Vector = Dialect(
    "vector",
    [
        *vector.Vector.operations,
        ContractionOp,
        ExtractStridedSliceOp,
        FromElementsOp,
        InsertStridedSliceOp,
        MultiDimReductionOp,
        ShapeCastOp,
        StepOp,
        ToElementsOp,
        TransposeOp,
    ],
    [*vector.Vector.attributes, IteratorTypeAttr],
)

__all__ = [
    "ContractionOp",
    "ExtractStridedSliceOp",
    "FromElementsOp",
    "InsertStridedSliceOp",
    "IteratorTypeAttr",
    "MultiDimReductionOp",
    "ShapeCastOp",
    "ShuffleOp",
    "StepOp",
    "ToElementsOp",
    "TransposeOp",
    "Vector",
]
