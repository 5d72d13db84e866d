"""Operations on floats.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.ir import Operation
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from xtile.dialects.upstream import FLOAT_LIKE, completes

_TYPE = VarConstraint("T", FLOAT_LIKE)
_binary = completes(operands={"lhs": _TYPE, "rhs": _TYPE}, results={"result": _TYPE})


@_binary
class AddFOp(arith.AddfOp):
    """The sum: `%c = arith.addf %a, %b fastmath<fast> : f32`."""


@_binary
class SubFOp(arith.SubfOp):
    """The difference: `%c = arith.subf %a, %b fastmath<fast> : f32`."""


@_binary
class MulFOp(arith.MulfOp):
    """The product: `%c = arith.mulf %a, %b fastmath<fast> : f32`."""


@_binary
class DivFOp(arith.DivfOp):
    """The quotient: `%c = arith.divf %a, %b fastmath<fast> : f32`."""


@_binary
class MaximumFOp(arith.MaximumfOp):
    """The maximum; NaN if either is: `%c = arith.maximumf %a, %b fastmath<fast> : f32`."""


@_binary
class MaxNumFOp(arith.MaxnumfOp):
    """The maximum; the other if one is NaN: `%c = arith.maxnumf %a, %b fastmath<fast> : f32`."""


@_binary
class MinimumFOp(arith.MinimumfOp):
    """The minimum; NaN if either is: `%c = arith.minimumf %a, %b fastmath<fast> : f32`."""


@_binary
class MinNumFOp(arith.MinnumfOp):
    """The minimum; the other if one is NaN: `%c = arith.minnumf %a, %b fastmath<fast> : f32`."""


@irdl_op_definition
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


@completes(operands={"operand": _TYPE}, results={"result": _TYPE})
class NegFOp(arith.NegfOp):
    """The value with the other sign: `%b = arith.negf %a : f32`."""


OPERATIONS: list[type[Operation]] = [
    AddFOp,
    DivFOp,
    MaxNumFOp,
    MaximumFOp,
    MinNumFOp,
    MinimumFOp,
    MulFOp,
    NegFOp,
    RemFOp,
    SubFOp,
]
"""The operations of this module."""
