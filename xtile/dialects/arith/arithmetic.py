"""Quotients and shifts that may promise that nothing remains, and the remainder of floats.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    OptPropertyDef,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import FLOAT_LIKE, SIGNLESS_INTEGER_LIKE, completes

_TYPE = VarConstraint("T", SIGNLESS_INTEGER_LIKE)

_with_exact = completes(
    operands={"lhs": _TYPE, "rhs": _TYPE},
    results={"result": _TYPE},
    properties={"isExact": OptPropertyDef(BaseAttr(UnitAttr))},
    assembly_format="$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)",
)


@_with_exact
class DivUIOp(arith.DivUIOp):
    """The unsigned quotient, rounded to zero.

    ```
    %c = arith.divui %a, %b exact : i32
    ```
    """


@_with_exact
class DivSIOp(arith.DivSIOp):
    """The signed quotient, rounded to zero.

    ```
    %c = arith.divsi %a, %b : i32
    ```
    """


@_with_exact
class ShRUIOp(arith.ShRUIOp):
    """The right shift that fills with zeros.

    ```
    %c = arith.shrui %a, %b exact : i32
    ```
    """


@_with_exact
class ShRSIOp(arith.ShRSIOp):
    """The right shift that keeps the sign.

    ```
    %c = arith.shrsi %a, %b : i32
    ```
    """


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
