"""Arithmetic on floats.

Results are rounded to the nearest, ties to even, unless another mode is said.

Source: CUDA Tile IR specification, "Operations", "Floating Point"; NVIDIA/cuda-tile 13.3.0,
`Ops.td` and `CudaTile.cpp`.
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.traits import Pure

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.assembly_numbers import (
    DivisionRounding,
    NearestRounding,
    OrderingOf,
    PredicateOf,
)
from xtile.dialects.cuda_tile.attributes import (
    ComparisonOrderingAttr,
    ComparisonPredicateAttr,
    RoundingModeAttr,
)
from xtile.dialects.cuda_tile.constraints import (
    BASE_FLOAT_TILE,
    BOOLEAN_TILE,
    DIVISION_MODES,
    IEEE_MODES,
    RoundingModeAmong,
    SameType,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonOrdering,
    ComparisonPredicate,
    RoundingMode,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.elementwise import (
    BinaryFloatOperation,
    FloatOperation,
    UnaryFloatOperation,
    boolean_type,
    flag,
    verify_comparison,
)
from xtile.dialects.definitions import op_definition
from xtile.text.directives import Oilist


@irdl_custom_directive
class ExtremumFlags(Oilist):
    """The flags of maxf and minf, in any order."""

    flush_to_zero: AttributeVariable
    propagate_nan: AttributeVariable


class _RoundedOperation(BinaryFloatOperation, ABC):
    """An operation on two floats that says how it is rounded, and whether it flushes to zero."""

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        *,
        rounding_mode: RoundingMode = RoundingMode.NEAREST_EVEN,
        flush_to_zero: bool = False,
    ) -> None:
        super().__init__(
            lhs,
            rhs,
            properties={
                "rounding_mode": RoundingModeAttr(rounding_mode),
                "flush_to_zero": flag(flush_to_zero),
            },
        )


class _IeeeOperation(_RoundedOperation, ABC):
    """An operation on two floats that is rounded once, in one of the modes of IEEE 754."""

    rounding_mode = prop_def(RoundingModeAmong(IEEE_MODES))
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs custom<NearestRounding>($rounding_mode) "
        "(`flush_to_zero` $flush_to_zero^)? attr-dict `:` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, NearestRounding)


class _ExtremumOperation(BinaryFloatOperation, ABC):
    """The greater or the lesser of two floats."""

    propagate_nan = opt_prop_def(UnitAttr)
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs custom<ExtremumFlags>($flush_to_zero, $propagate_nan) attr-dict `:` "
        "custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, ExtremumFlags)

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        *,
        propagate_nan: bool = False,
        flush_to_zero: bool = False,
    ) -> None:
        super().__init__(
            lhs,
            rhs,
            properties={
                "propagate_nan": flag(propagate_nan),
                "flush_to_zero": flag(flush_to_zero),
            },
        )


@op_definition
class AbsFOp(UnaryFloatOperation):
    """The absolute value.

    ```
    %b = absf %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.absf"
    OPCODE: ClassVar[int] = 0x00


@op_definition
class AddFOp(_IeeeOperation):
    """A sum.

    ```
    %c = addf %a, %b rounding<zero> flush_to_zero : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.addf"
    OPCODE: ClassVar[int] = 0x02


@op_definition
class CeilOp(UnaryFloatOperation):
    """The least integer that is not less.

    ```
    %b = ceil %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.ceil"
    OPCODE: ClassVar[int] = 0x0D


@op_definition
class CmpFOp(CudaTileOperation):
    """Whether floats compare as a predicate says; with NaN: `unordered` is true, `ordered` false.

    ```
    %c = cmpf less_than ordered %a, %b : tile<4x8xf32> -> tile<4x8xi1>
    ```
    """

    name = "cuda_tile.cmpf"
    OPCODE: ClassVar[int] = 0x0E

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    comparison_ordering = prop_def(ComparisonOrderingAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(BOOLEAN_TILE)

    traits = traits_def(Pure())
    assembly_format = (
        "custom<PredicateOf>($comparison_predicate) custom<OrderingOf>($comparison_ordering) "
        "$lhs `,` $rhs attr-dict `:` "
        "custom<CudaTileType>(type($lhs)) `->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, PredicateOf, OrderingOf)

    def __init__(
        self,
        comparison_predicate: ComparisonPredicate,
        comparison_ordering: ComparisonOrdering,
        lhs: Operand,
        rhs: Operand,
    ) -> None:
        super().__init__(
            operands=(lhs, rhs),
            result_types=(boolean_type(SSAValue.get(lhs).type),),
            properties={
                "comparison_predicate": ComparisonPredicateAttr(comparison_predicate),
                "comparison_ordering": ComparisonOrderingAttr(comparison_ordering),
            },
        )

    @override
    def verify_(self) -> None:
        verify_comparison(self.lhs.type, self.result.type)


@op_definition
class DivFOp(_RoundedOperation):
    """A quotient; `full` and `approx` are faster, and for f32 only.

    ```
    %c = divf %a, %b rounding<approx> : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.divf"
    OPCODE: ClassVar[int] = 0x14

    rounding_mode = prop_def(RoundingModeAmong(DIVISION_MODES))
    flush_to_zero = opt_prop_def(UnitAttr)

    assembly_format = (
        "$lhs `,` $rhs custom<DivisionRounding>($rounding_mode) "
        "(`flush_to_zero` $flush_to_zero^)? attr-dict `:` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, DivisionRounding)


@op_definition
class FloorOp(UnaryFloatOperation):
    """The greatest integer that is not greater.

    ```
    %b = floor %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.floor"
    OPCODE: ClassVar[int] = 0x27


@op_definition
class FmaOp(FloatOperation):
    """A product and a sum, rounded once: `lhs * rhs + acc`.

    ```
    %d = fma %a, %b, %c : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.fma"
    OPCODE: ClassVar[int] = 0x28

    T: ClassVar = SameType("T", BASE_FLOAT_TILE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    acc = operand_def(T)
    rounding_mode = prop_def(RoundingModeAmong(IEEE_MODES))
    flush_to_zero = opt_prop_def(UnitAttr)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs `,` $acc custom<NearestRounding>($rounding_mode) "
        "(`flush_to_zero` $flush_to_zero^)? attr-dict `:` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, NearestRounding)

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        acc: Operand,
        *,
        rounding_mode: RoundingMode = RoundingMode.NEAREST_EVEN,
        flush_to_zero: bool = False,
    ) -> None:
        super().__init__(
            operands=(lhs, rhs, acc),
            result_types=(SSAValue.get(lhs).type,),
            properties={
                "rounding_mode": RoundingModeAttr(rounding_mode),
                "flush_to_zero": flag(flush_to_zero),
            },
        )


@op_definition
class MaxFOp(_ExtremumOperation):
    """The greater one; the other of a NaN, unless that is propagated.

    ```
    %c = maxf %a, %b flush_to_zero propagate_nan : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.maxf"
    OPCODE: ClassVar[int] = 0x45


@op_definition
class MinFOp(_ExtremumOperation):
    """The lesser one; the other of a NaN, unless that is propagated.

    ```
    %c = minf %a, %b propagate_nan : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.minf"
    OPCODE: ClassVar[int] = 0x47


@op_definition
class MulFOp(_IeeeOperation):
    """A product.

    ```
    %c = mulf %a, %b : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.mulf"
    OPCODE: ClassVar[int] = 0x4C


@op_definition
class NegFOp(UnaryFloatOperation):
    """The other sign.

    ```
    %b = negf %a : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.negf"
    OPCODE: ClassVar[int] = 0x4F


@op_definition
class RemFOp(BinaryFloatOperation):
    """The remainder of a division that is rounded to zero.

    ```
    %c = remf %a, %b : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.remf"
    OPCODE: ClassVar[int] = 0x59


@op_definition
class SubFOp(_IeeeOperation):
    """A difference.

    ```
    %c = subf %a, %b : tile<4x8xf32>
    ```
    """

    name = "cuda_tile.subf"
    OPCODE: ClassVar[int] = 0x67


OPERATIONS: list[type[Operation]] = [
    AbsFOp,
    AddFOp,
    CeilOp,
    CmpFOp,
    DivFOp,
    FloorOp,
    FmaOp,
    MaxFOp,
    MinFOp,
    MulFOp,
    NegFOp,
    RemFOp,
    SubFOp,
]
"""Every operation of this module."""
