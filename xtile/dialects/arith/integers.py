"""Operations on integers with promises: no overflow, or no remainder.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation
from xdsl.irdl import BaseAttr, OptPropertyDef, VarConstraint

from xtile.dialects.arith.assembly import Overflow
from xtile.dialects.upstream import SIGNLESS_INTEGER_LIKE, completes

_TYPE = VarConstraint("T", SIGNLESS_INTEGER_LIKE)
_OPERANDS = {"lhs": _TYPE, "rhs": _TYPE}
_RESULT = {"result": _TYPE}

_with_overflow = completes(
    operands=_OPERANDS,
    results=_RESULT,
    assembly_format="$lhs `,` $rhs custom<Overflow>($overflowFlags) attr-dict `:` type($result)",
    custom_directives=(Overflow,),
)
_with_exact = completes(
    operands=_OPERANDS,
    results=_RESULT,
    properties={"isExact": OptPropertyDef(BaseAttr(UnitAttr))},
    assembly_format="$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)",
)


@_with_overflow
class AddIOp(arith.AddiOp):
    """The sum.

    ```
    %c = arith.addi %a, %b overflow<nsw, nuw> : i32
    ```
    """


@_with_overflow
class SubIOp(arith.SubiOp):
    """The difference.

    ```
    %c = arith.subi %a, %b : i32
    ```
    """


@_with_overflow
class MulIOp(arith.MuliOp):
    """The product.

    ```
    %c = arith.muli %a, %b overflow<nsw> : index
    ```
    """


@_with_overflow
class ShLIOp(arith.ShLIOp):
    """The left shift.

    ```
    %c = arith.shli %a, %b : i32
    ```
    """


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


OPERATIONS: list[type[Operation]] = [
    AddIOp,
    DivSIOp,
    DivUIOp,
    MulIOp,
    ShLIOp,
    ShRSIOp,
    ShRUIOp,
    SubIOp,
]
"""The operations of this module."""
