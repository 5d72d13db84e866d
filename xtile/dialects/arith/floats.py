"""Operations on floats that xDSL lacks.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import FLOAT_LIKE


@op_definition
class RemFOp(IRDLOperation):
    """The remainder, of the dividend's sign: `%c = arith.remf %a, %b : f32`."""

    name = "arith.remf"

    TYPE: ClassVar = VarConstraint("TYPE", FLOAT_LIKE)

    lhs = operand_def(TYPE)
    rhs = operand_def(TYPE)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    result = result_def(TYPE)

    assembly_format = "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result)"

    traits = traits_def(Pure())
