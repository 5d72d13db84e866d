"""The whole `arith` dialect, which loads every module of it."""

from xdsl.dialects import arith
from xdsl.ir import Dialect

from xtile.dialects.arith import casts, comparisons, floats, integers
from xtile.dialects.upstream import replaced

Arith = Dialect(
    "arith",
    replaced(
        arith.Arith.operations,
        [
            *casts.OPERATIONS,
            *comparisons.OPERATIONS,
            *floats.OPERATIONS,
            *integers.OPERATIONS,
        ],
    ),
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)
