"""Numbers, element by element, that `arith` and `math` do not have.

Source: Triton 3.9, `TritonOps.td` and `lib/Dialect/Triton/IR/Ops.cpp`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import Float32Type, IntegerAttr, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    VarConstraint,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.triton.operation import (
    Operand,
    TritonOperation,
    element_of,
    verify_same_form,
    verify_type,
)
from xtile.dialects.triton.tt.constraints import FLOAT, INTEGER
from xtile.dialects.triton.tt.enumerations import PropagateNan, RoundingMode, number
from xtile.dialects.triton.tt.keywords import Nan, Rounding, verify_member
from xtile.dialects.triton.versions import V3_9, Release

_SAME_FLOAT: VarConstraint[Attribute] = VarConstraint("T", FLOAT)
_SAME_INTEGER: VarConstraint[Attribute] = VarConstraint("T", INTEGER)


@op_definition
class FpToFpOp(TritonOperation):
    """A float as another float; rounding is said where the result is narrower.

    ```
    %y = tt.fp_to_fp %x, rounding = rtne : tensor<8xf32> -> tensor<8xf8E5M2>
    ```
    """

    name = "tt.fp_to_fp"

    src = operand_def(FLOAT)
    rounding = opt_prop_def(IntegerAttr.constr(i32))
    result = result_def(FLOAT)

    traits = traits_def(Pure())
    assembly_format = (
        "$src attr-dict (`,` `rounding` `=` custom<Rounding>($rounding)^)? "
        "`:` type($src) `->` type($result)"
    )
    custom_directives: ClassVar = (Rounding,)

    def __init__(
        self, src: Operand, result_type: Attribute, *, rounding: RoundingMode | None = None
    ) -> None:
        super().__init__(
            operands=[src],
            properties={"rounding": None if rounding is None else number(rounding)},
            result_types=[result_type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(RoundingMode, "rounding", self.rounding)
        verify_same_form({"src": self.src.type, "the result": self.result.type})
        source, result = element_of(self.src.type), element_of(self.result.type)
        is_narrower = getattr(result, "bitwidth", 0) < getattr(source, "bitwidth", 0)
        if is_narrower and self.rounding is None:
            raise VerifyException(
                f"{result} is narrower than {source}; say `rounding = rtne` or `rounding = rtz`"
            )


@op_definition
class ClampFOp(TritonOperation):
    """A float within bounds.

    ```
    %y = tt.clampf %x, %lowest, %highest, propagateNan = none : tensor<8xf32>
    ```
    """

    name = "tt.clampf"

    x = operand_def(_SAME_FLOAT)
    min = operand_def(_SAME_FLOAT)
    max = operand_def(_SAME_FLOAT)
    propagateNan = prop_def(IntegerAttr.constr(i32))  # noqa: N815
    result = result_def(_SAME_FLOAT)

    traits = traits_def(Pure())
    assembly_format = (
        "$x `,` $min `,` $max `,` `propagateNan` `=` custom<Nan>($propagateNan) attr-dict "
        "`:` type($result)"
    )
    custom_directives: ClassVar = (Nan,)

    def __init__(
        self,
        x: Operand,
        min: Operand,
        max: Operand,
        *,
        propagate_nan: PropagateNan = PropagateNan.NONE,
    ) -> None:
        super().__init__(
            operands=[x, min, max],
            properties={"propagateNan": number(propagate_nan)},
            result_types=[SSAValue.get(x).type],
        )

    @override
    def verify_(self) -> None:
        super().verify_()
        verify_member(PropagateNan, "propagateNan", self.propagateNan)
        for name, value in (("x", self.x), ("min", self.min), ("max", self.max)):
            verify_type(name, value.type, self.result.type)


class SameTypeOperation(TritonOperation, ABC):
    """An operation whose operands and result have one type."""

    traits = traits_def(Pure())

    def __init__(self, *operands: Operand) -> None:
        super().__init__(operands=operands, result_types=[SSAValue.get(operands[0]).type])

    @override
    def verify_(self) -> None:
        super().verify_()
        for value in self.operands:
            verify_type("an operand", value.type, self.results[0].type)


@op_definition
class PreciseSqrtOp(SameTypeOperation):
    """A square root, rounded to the nearest.

    ```
    %y = tt.precise_sqrt %x : tensor<8xf32>
    ```
    """

    name = "tt.precise_sqrt"

    x = operand_def(_SAME_FLOAT)
    result = result_def(_SAME_FLOAT)

    assembly_format = "$x attr-dict `:` type($x)"


@op_definition
class PreciseDivFOp(SameTypeOperation):
    """A quotient, rounded to the nearest.

    ```
    %z = tt.precise_divf %x, %y : tensor<8xf32>
    ```
    """

    name = "tt.precise_divf"

    x = operand_def(_SAME_FLOAT)
    y = operand_def(_SAME_FLOAT)
    result = result_def(_SAME_FLOAT)

    assembly_format = "$x `,` $y attr-dict `:` type($x)"


@op_definition
class ApproxDivFOp(SameTypeOperation):
    """An approximate quotient of f32: within 2.5 units in the last digit, on AMD and NVIDIA.

    ```
    %z = tt.approx_divf %x, %y : tensor<8xf32>
    ```
    """

    name = "tt.approx_divf"
    SINCE: ClassVar[Release] = V3_9

    x = operand_def(_SAME_FLOAT)
    y = operand_def(_SAME_FLOAT)
    result = result_def(_SAME_FLOAT)

    assembly_format = "$x `,` $y attr-dict `:` type($x)"

    @override
    def verify_(self) -> None:
        super().verify_()
        if not isinstance(element_of(self.x.type), Float32Type):
            raise VerifyException(f"expected f32 or a tensor of f32, but got {self.x.type}")


@op_definition
class MulhiUIOp(SameTypeOperation):
    """The upper half of a product of unsigned integers.

    ```
    %z = tt.mulhiui %x, %y : tensor<8xi32>
    ```
    """

    name = "tt.mulhiui"

    x = operand_def(_SAME_INTEGER)
    y = operand_def(_SAME_INTEGER)
    result = result_def(_SAME_INTEGER)

    assembly_format = "$x `,` $y attr-dict `:` type($x)"


OPERATIONS: list[type[Operation]] = [
    FpToFpOp,
    ClampFOp,
    PreciseSqrtOp,
    PreciseDivFOp,
    ApproxDivFOp,
    MulhiUIOp,
]
"""Every operation of this module."""
