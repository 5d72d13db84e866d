"""Matrix products.

Source: MLIR (LLVM 22), `XeGPUOps.td` and `XeGPUOps.cpp`, `dpas`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.xegpu.constraints import DPAS_OPERAND, DPAS_RESULT, LAYOUT
from xtile.dialects.xegpu.distribution import DistributeLayoutAttr
from xtile.dialects.xegpu.operation import (
    Operand,
    XeGPUOperation,
    expect_same_element_type,
    shape_of,
    shape_text,
)
from xtile.dialects.xegpu.rfc.verifier import verify_rfc
from xtile.dialects.xegpu.types import bit_width

_REGISTER_BITS = 32


@op_definition
class DpasOp(XeGPUOperation):
    """A matrix product, added to `acc` if there is one.

    A subgroup's matrices have two dimensions, where `rhs` may be packed and so have three. A lane's
    parts have one.

    ```
    %d = xegpu.dpas %a, %b, %c
      : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
    ```
    """

    name = "xegpu.dpas"

    lhs = operand_def(DPAS_OPERAND)
    rhs = operand_def(DPAS_OPERAND)
    acc = opt_operand_def(DPAS_RESULT)
    layout_a = opt_prop_def(LAYOUT)
    layout_b = opt_prop_def(LAYOUT)
    layout_cd = opt_prop_def(LAYOUT)
    result = result_def(DPAS_RESULT)

    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs (`,` $acc^)? attr-dict `:` type($lhs) `,` type($rhs) (`,` type($acc)^)? "
        "`->` type($result)"
    )

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        acc: Operand | None = None,
        result_type: Attribute | None = None,
        *,
        layout_a: DistributeLayoutAttr | None = None,
        layout_b: DistributeLayoutAttr | None = None,
        layout_cd: DistributeLayoutAttr | None = None,
    ) -> None:
        if result_type is None:
            if acc is None:
                raise ValueError("a product that is added to nothing needs a result_type")
            result_type = SSAValue.get(acc).type
        super().__init__(
            operands=[lhs, rhs, acc],
            properties={"layout_a": layout_a, "layout_b": layout_b, "layout_cd": layout_cd},
            result_types=[result_type],
        )

    @property
    def is_for_lane(self) -> bool:
        """Whether the operands are the parts of one lane."""
        types = (self.lhs.type, self.rhs.type, self.result.type)
        return all(len(shape_of(type)) == 1 for type in types)

    @override
    def verify_(self) -> None:
        if verify_rfc(self):
            return
        expect_same_element_type("lhs", self.lhs.type, "rhs", self.rhs.type)
        if self.acc is not None and self.acc.type != self.result.type:
            raise VerifyException(
                f"acc is {self.acc.type}, but the result {self.result.type}; they must be the same"
            )
        if self.is_for_lane:
            _verify_part(self.rhs.type)
            return
        _verify_matrices(
            shape_of(self.lhs.type), shape_of(self.rhs.type), shape_of(self.result.type)
        )


OPERATIONS: list[type[Operation]] = [DpasOp]
"""Every operation of this module."""


def _verify_part(rhs: Attribute) -> None:
    """Checks that one lane's part of the right matrix fills whole registers."""
    assert isa(rhs, VectorType)
    factor = max(1, _REGISTER_BITS // bit_width(rhs.element_type))
    if rhs.element_count() % factor:
        raise VerifyException(
            f"rhs has {rhs.element_count()} elements; it must have a multiple of {factor}, "
            f"so that {rhs.element_type} fills {_REGISTER_BITS} bits"
        )


def _verify_matrices(lhs: tuple[int, ...], rhs: tuple[int, ...], result: tuple[int, ...]) -> None:
    if len(lhs) != 2 or len(rhs) not in (2, 3) or len(result) != 2:
        raise VerifyException(
            f"lhs is {shape_text(lhs)}, rhs {shape_text(rhs)} and the result {shape_text(result)}; "
            "expected two dimensions for each, or three for a packed rhs, or one for each in the "
            "code of one lane"
        )
    inner = rhs[0] * rhs[2] if len(rhs) == 3 else rhs[0]
    if lhs[1] != inner:
        raise VerifyException(
            f"lhs has {lhs[1]} columns and rhs {inner} rows; they must be as many"
        )
    if lhs[0] != result[0]:
        raise VerifyException(
            f"lhs has {lhs[0]} rows and the result {result[0]}; they must be as many"
        )
    if rhs[1] != result[1]:
        raise VerifyException(
            f"rhs has {rhs[1]} columns and the result {result[1]}; they must be as many"
        )
