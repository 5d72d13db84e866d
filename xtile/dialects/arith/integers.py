"""Operations on integers that may promise that nothing remains.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.irdl import BaseAttr, OptPropertyDef, VarConstraint

from xtile.dialects.upstream import SIGNLESS_INTEGER_LIKE, completes

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
