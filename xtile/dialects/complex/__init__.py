"""The `complex` dialect, with the operation that xDSL's lacks.

Source: MLIR (LLVM 22), `Dialect/Complex/IR/ComplexOps.td`.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects import complex
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import TypeWhere, is_float, is_signless_integer


@op_definition
class PowiOp(IRDLOperation):
    """A complex number to the power of an integer.

    ```
    %c = complex.powi %a, %n fastmath<fast> : complex<f32>, i32
    ```
    """

    name = "complex.powi"

    TYPE: ClassVar = VarConstraint(
        "TYPE",
        TypeWhere(
            "a complex number of floats",
            lambda type: isa(type, ComplexType) and is_float(type.element_type),
        ),
    )

    lhs = operand_def(TYPE)
    rhs = operand_def(TypeWhere("a signless integer", is_signless_integer))
    fastmath = opt_prop_def(FastMathFlagsAttr)
    result = result_def(TYPE)

    assembly_format = (
        "$lhs `,` $rhs (`fastmath` `` $fastmath^)? attr-dict `:` type($result) `,` type($rhs)"
    )

    traits = traits_def(Pure())


Complex = Dialect("complex", [*complex.Complex.operations, PowiOp], [*complex.Complex.attributes])
