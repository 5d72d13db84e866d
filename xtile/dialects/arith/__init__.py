"""The `arith` dialect, with what xDSL's lacks: vectors, flags and rounding modes.

Operations that xDSL has are xDSL's or derived from them, so that its passes know them.

Source: MLIR (LLVM 22), `Dialect/Arith/IR`.
"""

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

__all__ = ["Arith"]
