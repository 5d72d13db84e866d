"""The `vector` dialect in upstream's syntax.

Operations that xDSL has are derived from xDSL's, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Vector/IR`.
"""

from xdsl.dialects import vector
from xdsl.ir import Dialect

from xtile.dialects.vector import (
    contractions,
    elements,
    gathers,
    masks,
    memory,
    positions,
    printing,
    products,
    reductions,
    shapes,
    shuffles,
    slices,
    transfers,
)
from xtile.dialects.vector.attributes import IteratorType, IteratorTypeAttr, PrintPunctuationAttr
from xtile.dialects.vector.contractions import ContractionOp
from xtile.dialects.vector.elements import FromElementsOp, StepOp, ToElementsOp
from xtile.dialects.vector.reductions import MultiDimReductionOp
from xtile.dialects.vector.shapes import ShapeCastOp, TransposeOp
from xtile.dialects.vector.shuffles import ShuffleOp
from xtile.dialects.vector.slices import ExtractStridedSliceOp, InsertStridedSliceOp

Vector = Dialect(
    "vector",
    [
        *contractions.OPERATIONS,
        *elements.OPERATIONS,
        *gathers.OPERATIONS,
        *masks.OPERATIONS,
        *memory.OPERATIONS,
        *positions.OPERATIONS,
        *printing.OPERATIONS,
        *products.OPERATIONS,
        *reductions.OPERATIONS,
        *shapes.OPERATIONS,
        *shuffles.OPERATIONS,
        *slices.OPERATIONS,
        *transfers.OPERATIONS,
    ],
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
    "ShuffleOp",
    "StepOp",
    "ToElementsOp",
    "TransposeOp",
    "Vector",
]
