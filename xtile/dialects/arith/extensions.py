"""What LLVM says of the `arith` operations whose classes are xDSL's, and which are ours.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td` and `ArithOps.cpp`.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.irdl import VarConstraint
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.arith.assembly import Overflow
from xtile.dialects.arith.types import verify_same_shape, width_of
from xtile.dialects.upstream import FLOAT_LIKE, SIGNLESS_INTEGER_LIKE, element_type
from xtile.text.extensions import Extension, Replacement, Table

_CASTS = "xtile.dialects.arith.casts"
_COMPARISONS = "xtile.dialects.arith.comparisons"
_ARITHMETIC = "xtile.dialects.arith.arithmetic"

_INTEGER = VarConstraint("T", SIGNLESS_INTEGER_LIKE)
_FLOAT = VarConstraint("T", FLOAT_LIKE)


def _verify_bitcast(operation: arith.BitcastOp) -> None:
    source, result = operation.input.type, operation.result.type
    verify_same_shape(source, result)
    if width_of(element_type(source)) != width_of(element_type(result)):
        raise VerifyException(f"expected types of equal width, got {source} and {result}")


_integers = Extension(
    operands={"lhs": _INTEGER, "rhs": _INTEGER},
    results={"result": _INTEGER},
)
"""`%c = arith.andi %a, %b : i32`."""

_integers_with_overflow = Extension(
    operands={"lhs": _INTEGER, "rhs": _INTEGER},
    results={"result": _INTEGER},
    assembly_format="$lhs `,` $rhs custom<Overflow>($overflowFlags) attr-dict `:` type($result)",
    custom_directives=(Overflow,),
)
"""`%c = arith.addi %a, %b overflow<nsw, nuw> : i32`."""

_floats = Extension(
    operands={"lhs": _FLOAT, "rhs": _FLOAT},
    results={"result": _FLOAT},
)
"""`%c = arith.addf %a, %b fastmath<fast> : f32`."""

OPERATIONS: Table = {
    arith.AddiOp: _integers_with_overflow,
    arith.MuliOp: _integers_with_overflow,
    arith.ShLIOp: _integers_with_overflow,
    arith.SubiOp: _integers_with_overflow,
    arith.AndIOp: _integers,
    arith.CeilDivSIOp: _integers,
    arith.CeilDivUIOp: _integers,
    arith.FloorDivSIOp: _integers,
    arith.MaxSIOp: _integers,
    arith.MaxUIOp: _integers,
    arith.MinSIOp: _integers,
    arith.MinUIOp: _integers,
    arith.OrIOp: _integers,
    arith.RemSIOp: _integers,
    arith.RemUIOp: _integers,
    arith.XOrIOp: _integers,
    arith.AddfOp: _floats,
    arith.DivfOp: _floats,
    arith.MaximumfOp: _floats,
    arith.MaxnumfOp: _floats,
    arith.MinimumfOp: _floats,
    arith.MinnumfOp: _floats,
    arith.MulfOp: _floats,
    arith.SubfOp: _floats,
    arith.NegfOp: Extension(operands={"operand": _FLOAT}, results={"result": _FLOAT}),
    arith.BitcastOp: Extension(verify=_verify_bitcast),
    arith.CmpfOp: Replacement(_COMPARISONS, "CmpFOp"),
    arith.CmpiOp: Replacement(_COMPARISONS, "CmpIOp"),
    arith.DivSIOp: Replacement(_ARITHMETIC, "DivSIOp"),
    arith.DivUIOp: Replacement(_ARITHMETIC, "DivUIOp"),
    arith.ExtFOp: Replacement(_CASTS, "ExtFOp"),
    arith.ExtSIOp: Replacement(_CASTS, "ExtSIOp"),
    arith.ExtUIOp: Replacement(_CASTS, "ExtUIOp"),
    arith.FPToSIOp: Replacement(_CASTS, "FPToSIOp"),
    arith.FPToUIOp: Replacement(_CASTS, "FPToUIOp"),
    arith.IndexCastOp: Replacement(_CASTS, "IndexCastOp"),
    arith.SIToFPOp: Replacement(_CASTS, "SIToFPOp"),
    arith.SelectOp: Replacement(_COMPARISONS, "SelectOp"),
    arith.ShRSIOp: Replacement(_ARITHMETIC, "ShRSIOp"),
    arith.ShRUIOp: Replacement(_ARITHMETIC, "ShRUIOp"),
    arith.TruncFOp: Replacement(_CASTS, "TruncFOp"),
    arith.TruncIOp: Replacement(_CASTS, "TruncIOp"),
    arith.UIToFPOp: Replacement(_CASTS, "UIToFPOp"),
}
"""xDSL's classes hold no flag of exactness, no rounding, no overflow of `trunci` and no fast-math
flags of casts, and allow no vectors in casts, comparisons and conditions."""
