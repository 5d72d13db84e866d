"""Operations on integers, some with promises: no overflow, or no remainder.

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

_plain = completes(operands=_OPERANDS, results=_RESULT)
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


@_plain
class CeilDivUIOp(arith.CeilDivUIOp):
    """The unsigned quotient, rounded up: `%c = arith.ceildivui %a, %b : i32`."""


@_plain
class CeilDivSIOp(arith.CeilDivSIOp):
    """The signed quotient, rounded up: `%c = arith.ceildivsi %a, %b : i32`."""


@_plain
class FloorDivSIOp(arith.FloorDivSIOp):
    """The signed quotient, rounded down: `%c = arith.floordivsi %a, %b : i32`."""


@_plain
class RemUIOp(arith.RemUIOp):
    """The unsigned remainder: `%c = arith.remui %a, %b : i32`."""


@_plain
class RemSIOp(arith.RemSIOp):
    """The signed remainder, of the dividend's sign: `%c = arith.remsi %a, %b : i32`."""


@_plain
class AndIOp(arith.AndIOp):
    """The bitwise and: `%c = arith.andi %a, %b : i32`."""


@_plain
class OrIOp(arith.OrIOp):
    """The bitwise or: `%c = arith.ori %a, %b : i32`."""


@_plain
class XOrIOp(arith.XOrIOp):
    """The bitwise exclusive or: `%c = arith.xori %a, %b : i32`."""


@_plain
class MaxSIOp(arith.MaxSIOp):
    """The signed maximum: `%c = arith.maxsi %a, %b : i32`."""


@_plain
class MaxUIOp(arith.MaxUIOp):
    """The unsigned maximum: `%c = arith.maxui %a, %b : i32`."""


@_plain
class MinSIOp(arith.MinSIOp):
    """The signed minimum: `%c = arith.minsi %a, %b : i32`."""


@_plain
class MinUIOp(arith.MinUIOp):
    """The unsigned minimum: `%c = arith.minui %a, %b : i32`."""


OPERATIONS: list[type[Operation]] = [
    AddIOp,
    AndIOp,
    CeilDivSIOp,
    CeilDivUIOp,
    DivSIOp,
    DivUIOp,
    FloorDivSIOp,
    MaxSIOp,
    MaxUIOp,
    MinSIOp,
    MinUIOp,
    MulIOp,
    OrIOp,
    RemSIOp,
    RemUIOp,
    ShLIOp,
    ShRSIOp,
    ShRUIOp,
    SubIOp,
    XOrIOp,
]
"""The operations of this module."""
