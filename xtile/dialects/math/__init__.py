"""The `math` dialect, with the operations that xDSL's lacks.

Source: MLIR (LLVM 22), `Dialect/Math/IR/MathOps.td`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects import math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.arith.types import BOOLEAN_LIKE, truth_type
from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import FLOAT_LIKE

_NO_FLAGS = FastMathFlagsAttr("none")


@op_definition
class ErfcOp(math.FloatingPointLikeUnaryMathOperation):
    """One minus the error function: `%b = math.erfc %a : f32`."""

    name = "math.erfc"

    traits = traits_def(Pure())


class ClassificationOperation(IRDLOperation, ABC):
    """What kind of number a float is; a vector gives a vector of truth values.

    Its flags stand in the attribute dictionary, unlike those of other operations.
    """

    operand = operand_def(FLOAT_LIKE)
    fastmath = prop_def(FastMathFlagsAttr, default_value=_NO_FLAGS)
    result = result_def(BOOLEAN_LIKE)

    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, fastmath: FastMathFlagsAttr = _NO_FLAGS) -> None:
        super().__init__(
            operands=[operand],
            properties={"fastmath": fastmath},
            result_types=[truth_type(operand.type)],
        )

    @classmethod
    @override
    def parse(cls, parser: Parser) -> ClassificationOperation:
        operand = parser.parse_unresolved_operand()
        attributes = {**parser.parse_optional_attr_dict()}
        parser.parse_punctuation(":")
        value = parser.resolve_operand(operand, parser.parse_type())
        return cls.build(
            operands=[value],
            properties={"fastmath": attributes.pop("fastmath", _NO_FLAGS)},
            attributes=attributes,
            result_types=[truth_type(value.type)],
        )

    @override
    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        attributes = {**self.attributes}
        if self.fastmath != _NO_FLAGS:
            attributes["fastmath"] = self.fastmath
        printer.print_op_attributes(dict(sorted(attributes.items())))
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)

    @override
    def verify_(self) -> None:
        expected = truth_type(self.operand.type)
        if self.result.type != expected:
            raise VerifyException(f"expected a result of type {expected}, got {self.result.type}")


@op_definition
class IsFiniteOp(ClassificationOperation):
    """Neither infinite nor NaN: `%b = math.isfinite %a : f32`."""

    name = "math.isfinite"


@op_definition
class IsInfOp(ClassificationOperation):
    """Infinite: `%b = math.isinf %a : f32`."""

    name = "math.isinf"


@op_definition
class IsNaNOp(ClassificationOperation):
    """Not a number: `%b = math.isnan %a : vector<4xf32>`."""

    name = "math.isnan"


@op_definition
class IsNormalOp(ClassificationOperation):
    """Neither zero, subnormal, infinite nor NaN: `%b = math.isnormal %a : f32`."""

    name = "math.isnormal"


@op_definition
class ClampFOp(IRDLOperation):
    """The value, but not below a minimum nor above a maximum.

    ```
    %b = math.clampf %a to [%min, %max] fastmath<fast> : f32
    ```
    """

    name = "math.clampf"

    TYPE: ClassVar = VarConstraint("TYPE", FLOAT_LIKE)

    value = operand_def(TYPE)
    min = operand_def(TYPE)
    max = operand_def(TYPE)
    fastmath = prop_def(FastMathFlagsAttr, default_value=_NO_FLAGS)
    result = result_def(TYPE)

    assembly_format = (
        "$value `to` ` ` `[` $min `,` $max `]` (`fastmath` `` $fastmath^)? "
        "attr-dict `:` type($result)"
    )

    traits = traits_def(Pure())


@op_definition
class SincosOp(IRDLOperation):
    """The sine and the cosine: `%sin, %cos = math.sincos %a : f32`."""

    name = "math.sincos"

    TYPE: ClassVar = VarConstraint("TYPE", FLOAT_LIKE)

    operand = operand_def(TYPE)
    fastmath = prop_def(FastMathFlagsAttr, default_value=_NO_FLAGS)
    sin = result_def(TYPE)
    cos = result_def(TYPE)

    assembly_format = "$operand (`fastmath` `` $fastmath^)? attr-dict `:` type($operand)"

    traits = traits_def(Pure())


Math = Dialect(
    "math",
    [
        *math.Math.operations,
        ClampFOp,
        ErfcOp,
        IsFiniteOp,
        IsInfOp,
        IsNaNOp,
        IsNormalOp,
        SincosOp,
    ],
    [*math.Math.attributes],
)
