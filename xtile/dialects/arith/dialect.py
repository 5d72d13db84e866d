"""The whole `arith` dialect, which loads every module of it."""

from xdsl.dialects import arith
from xdsl.ir import Dialect

from xtile.dialects.arith.casts import IndexCastUIOp, ScalingExtFOp, ScalingTruncFOp
from xtile.dialects.arith.extensions import OPERATIONS
from xtile.dialects.arith.floats import RemFOp
from xtile.text.extensions import completed

Arith = Dialect(
    "arith",
    completed(
        list(arith.Arith.operations),
        OPERATIONS,
        [IndexCastUIOp, RemFOp, ScalingExtFOp, ScalingTruncFOp],
    ),
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)
