"""Products of matrices whose narrow factors share scales.

Source: CUDA Tile IR, `mmaf_scaled`; triton-lang/triton, `TritonOps.td` (`tt.dot_scaled`); OCP
Microscaling Formats (MX) 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float8E4M3FNType,
    Float8E8M0FNUType,
    Float16Type,
    Float32Type,
    UnitAttr,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.number_attributes import NARROW_FLOATS
from xtile.dialects.shapes import shape_of, vector_type, verify_type
from xtile.dialects.upstream import TypeWhere

_HALVES = (Float16Type, BFloat16Type)
_SCALES = (Float8E8M0FNUType, Float8E4M3FNType)


def _vector_of(description: str, types: tuple[type[Attribute], ...]) -> TypeWhere:
    return TypeWhere(
        f"a vector of {description}",
        lambda type: (
            isinstance(type, VectorType)
            and isinstance(cast("VectorType[Attribute]", type).element_type, types)
        ),
    )


FACTOR = _vector_of("narrow floats, f16 or bf16", (*NARROW_FLOATS, *_HALVES))
SCALE = _vector_of("f8E8M0FNU or f8E4M3FN", _SCALES)
SUMS = _vector_of("f32", (Float32Type,))


@op_definition
class ScaledContractOp(IRDLOperation):
    """A product of matrices with a sum, in which groups of factors along the depth share a scale.

    ```
    %d = core.scaled_contract %a, %b, %c lhs_scale %s rhs_scale %t
        : vector<16x64xf8E4M3FN>, vector<64x8xf8E4M3FN>, vector<16x8xf32>
          lhs_scale vector<16x2xf8E8M0FNU> rhs_scale vector<2x8xf8E8M0FNU> -> vector<16x8xf32>
    ```

    Element [i, j] is %c[i, j] + sum over k of %a[i, k] %s[i, k / g] %b[k, j] %t[k / h, j], in f32
    and with one rounding; the order of the sums is not specified. With three dimensions the first
    one counts products. A side without a scale has none, as factors of f16 and bf16 have. With
    `fast` no scale is NaN.
    """

    name = "core.scaled_contract"

    lhs = operand_def(FACTOR)
    rhs = operand_def(FACTOR)
    acc = operand_def(SUMS)
    lhs_scale = opt_operand_def(SCALE)
    rhs_scale = opt_operand_def(SCALE)
    fast = opt_prop_def(UnitAttr)
    result = result_def(SUMS)

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    assembly_format: ClassVar[str | None] = (
        "$lhs `,` $rhs `,` $acc (`lhs_scale` $lhs_scale^)? (`rhs_scale` $rhs_scale^)? "
        "(`fast` $fast^)? attr-dict `:` type($lhs) `,` type($rhs) `,` type($acc) "
        "(`lhs_scale` type($lhs_scale)^)? (`rhs_scale` type($rhs_scale)^)? `->` type($result)"
    )

    def __init__(
        self,
        lhs: SSAValue,
        rhs: SSAValue,
        acc: SSAValue,
        lhs_scale: SSAValue | None = None,
        rhs_scale: SSAValue | None = None,
        *,
        fast: bool = False,
    ) -> None:
        super().__init__(
            operands=[lhs, rhs, acc, lhs_scale, rhs_scale],
            properties={"fast": UnitAttr() if fast else None},
            result_types=[acc.type],
        )

    @override
    def verify_(self) -> None:
        lhs, rhs, acc = shape_of(self.lhs), shape_of(self.rhs), shape_of(self.acc)
        if len(lhs) not in (2, 3) or len({len(lhs), len(rhs), len(acc)}) > 1:
            raise VerifyException(
                "expected matrices of 2 dimensions, or all of 3, got "
                f"{self.lhs.type}, {self.rhs.type} and {self.acc.type}"
            )
        if lhs[-1] != rhs[-2]:
            raise VerifyException(
                f"rows of {self.lhs.type} are {lhs[-1]} elements deep, columns of {self.rhs.type} "
                f"{rhs[-2]}; they must be as deep"
            )
        expected = VectorType(vector_type(self.acc).element_type, [*lhs[:-1], rhs[-1]])
        if lhs[:-2] != rhs[:-2]:
            raise VerifyException(f"{self.lhs.type} and {self.rhs.type} must be as many matrices")
        verify_type(self.acc.type, expected, "the accumulator")
        verify_type(self.result.type, expected, "the result")
        if self.lhs_scale is None and self.rhs_scale is None:
            raise VerifyException("expected a scale; without any there is vector.contract")
        _verify_scale("lhs", self.lhs, self.lhs_scale, len(lhs) - 1)
        _verify_scale("rhs", self.rhs, self.rhs_scale, len(lhs) - 2)


def _verify_scale(side: str, factor: SSAValue, scale: SSAValue | None, depth: int) -> None:
    """Checks the scales of a factor, whose elements are added up along a dimension.

    Raises:
        VerifyException: They do not fit.
    """
    element = vector_type(factor).element_type
    if scale is None:
        return
    if isinstance(element, _HALVES):
        raise VerifyException(f"{side} is of {element}, so that it has no {side}_scale")
    shape, given = shape_of(factor), shape_of(scale)
    fits = len(given) == len(shape) and all(
        size == own if i != depth else size and own % size == 0
        for i, (size, own) in enumerate(zip(given, shape, strict=False))
    )
    if not fits:
        raise VerifyException(
            f"expected scales for groups of {factor.type} along {depth}, got {scale.type}"
        )


def group_size(factor: SSAValue, scale: SSAValue, depth: int) -> int:
    """How many factors along a dimension share a scale."""
    return shape_of(factor)[depth] // shape_of(scale)[depth]


def depths(operation: ScaledContractOp) -> Sequence[int]:
    """The dimensions of the left and of the right factor along which products are added up."""
    rank = len(shape_of(operation.lhs))
    return rank - 1, rank - 2
