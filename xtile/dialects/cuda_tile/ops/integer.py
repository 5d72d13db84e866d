"""Arithmetic on integers.

Integers wrap around unless `overflow` promises that they do not. Whether they are signed is said by
the operation.

Source: CUDA Tile IR specification, "Operations", "Integer"; NVIDIA/cuda-tile 13.3.0, `Ops.td` and
`CudaTile.cpp`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from typing_extensions import override
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def
from xdsl.traits import NoMemoryEffect, Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.cuda_tile.assembly import CudaTileType
from xtile.dialects.cuda_tile.assembly_numbers import PredicateOf, SignednessOf
from xtile.dialects.cuda_tile.attributes import (
    ComparisonPredicateAttr,
    IntegerOverflowAttr,
    RoundingModeAttr,
    SignednessAttr,
)
from xtile.dialects.cuda_tile.constraints import (
    BOOLEAN_TILE,
    INTEGER_DIVISION_MODES,
    INTEGER_TILE,
    RoundingModeAmong,
    SameType,
)
from xtile.dialects.cuda_tile.enumerations import (
    ComparisonPredicate,
    IntegerOverflow,
    RoundingMode,
    Signedness,
)
from xtile.dialects.cuda_tile.operation import CudaTileOperation, Operand
from xtile.dialects.cuda_tile.ops.elementwise import boolean_type, verify_comparison
from xtile.dialects.cuda_tile.versions import V13_2, Version
from xtile.dialects.definitions import op_definition

NO_PROMISE = IntegerOverflowAttr(IntegerOverflow.NONE)


class _BinaryIntegerOperation(CudaTileOperation, ABC):
    """An operation with two integers of one type, and a result of that type."""

    T: ClassVar = SameType("T", INTEGER_TILE)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)

    custom_directives: ClassVar = (CudaTileType, SignednessOf)

    def __init__(self, lhs: Operand, rhs: Operand, *, properties: Mapping[str, Attribute]) -> None:
        super().__init__(
            operands=(lhs, rhs), result_types=(SSAValue.get(lhs).type,), properties=properties
        )


class _WrappingOperation(_BinaryIntegerOperation, ABC):
    """An operation of which overflow can be ruled out."""

    overflow = prop_def(IntegerOverflowAttr, default_value=NO_PROMISE)

    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs (`overflow` `` $overflow^)? attr-dict `:` "
        "custom<CudaTileType>(type($result))"
    )

    def __init__(
        self, lhs: Operand, rhs: Operand, *, overflow: IntegerOverflow = IntegerOverflow.NONE
    ) -> None:
        promise = (
            IntegerOverflowAttr(overflow) if overflow is not IntegerOverflow.NONE else NO_PROMISE
        )
        super().__init__(lhs, rhs, properties={"overflow": promise})


class _SignedOperation(_BinaryIntegerOperation, ABC):
    """An operation whose result depends on whether the operands are signed."""

    signedness = prop_def(SignednessAttr)

    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs custom<SignednessOf>($signedness) attr-dict `:` "
        "custom<CudaTileType>(type($result))"
    )

    def __init__(self, lhs: Operand, rhs: Operand, *, signedness: Signedness) -> None:
        super().__init__(lhs, rhs, properties={"signedness": SignednessAttr(signedness)})


@op_definition
class AbsIOp(CudaTileOperation):
    """The absolute value of signed integers, as unsigned ones.

    ```
    %b = absi %a : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.absi"
    OPCODE: ClassVar[int] = 0x01

    T: ClassVar = SameType("T", INTEGER_TILE)

    source = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, source: Operand) -> None:
        super().__init__(operands=(source,), result_types=(SSAValue.get(source).type,))


@op_definition
class AddIOp(_WrappingOperation):
    """A sum.

    ```
    %c = addi %a, %b overflow<no_signed_wrap> : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.addi"
    OPCODE: ClassVar[int] = 0x03


@op_definition
class CmpIOp(CudaTileOperation):
    """Whether integers compare as a predicate says.

    ```
    %c = cmpi less_than %a, %b, signed : tile<4x8xi32> -> tile<4x8xi1>
    ```
    """

    name = "cuda_tile.cmpi"
    OPCODE: ClassVar[int] = 0x0F

    T: ClassVar = SameType("T", INTEGER_TILE)

    comparison_predicate = prop_def(ComparisonPredicateAttr)
    lhs = operand_def(T)
    rhs = operand_def(T)
    signedness = prop_def(SignednessAttr)
    result = result_def(BOOLEAN_TILE)

    traits = traits_def(Pure())
    assembly_format = (
        "custom<PredicateOf>($comparison_predicate) $lhs `,` $rhs `,` "
        "custom<SignednessOf>($signedness) attr-dict `:` "
        "custom<CudaTileType>(type($lhs)) `->` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType, PredicateOf, SignednessOf)

    def __init__(
        self,
        comparison_predicate: ComparisonPredicate,
        lhs: Operand,
        rhs: Operand,
        *,
        signedness: Signedness,
    ) -> None:
        super().__init__(
            operands=(lhs, rhs),
            result_types=(boolean_type(SSAValue.get(lhs).type),),
            properties={
                "comparison_predicate": ComparisonPredicateAttr(comparison_predicate),
                "signedness": SignednessAttr(signedness),
            },
        )

    @override
    def verify_(self) -> None:
        verify_comparison(self.lhs.type, self.result.type)


@op_definition
class DivIOp(_BinaryIntegerOperation):
    """A quotient, rounded to zero unless another direction is said.

    ```
    %c = divi %a, %b signed rounding<negative_inf> : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.divi"
    OPCODE: ClassVar[int] = 0x15

    signedness = prop_def(SignednessAttr)
    rounding = prop_def(
        RoundingModeAmong(INTEGER_DIVISION_MODES),
        default_value=RoundingModeAttr(RoundingMode.ZERO),
    )

    # A division by zero is undefined, so it must not be moved to where it was not executed.
    traits = traits_def(NoMemoryEffect())
    assembly_format = (
        "$lhs `,` $rhs custom<SignednessOf>($signedness) (`rounding` `` $rounding^)? attr-dict "
        "`:` custom<CudaTileType>(type($result))"
    )

    def __init__(
        self,
        lhs: Operand,
        rhs: Operand,
        *,
        signedness: Signedness,
        rounding: RoundingMode = RoundingMode.ZERO,
    ) -> None:
        super().__init__(
            lhs,
            rhs,
            properties={
                "signedness": SignednessAttr(signedness),
                "rounding": RoundingModeAttr(rounding),
            },
        )

    @override
    def verify_(self) -> None:
        is_down = self.rounding.data is RoundingMode.NEGATIVE_INF
        if is_down and self.signedness.data is Signedness.UNSIGNED:
            raise VerifyException(
                "rounding mode 'negative_inf' is for signed integers only; "
                "expected 'zero', which is the same for unsigned ones"
            )


@op_definition
class MaxIOp(_SignedOperation):
    """The greater one.

    ```
    %c = maxi %a, %b signed : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.maxi"
    OPCODE: ClassVar[int] = 0x46


@op_definition
class MinIOp(_SignedOperation):
    """The lesser one.

    ```
    %c = mini %a, %b unsigned : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.mini"
    OPCODE: ClassVar[int] = 0x48


@op_definition
class MulhiIOp(CudaTileOperation):
    """The upper half of the product of unsigned integers.

    ```
    %c = mulhii %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.mulhii"
    OPCODE: ClassVar[int] = 0x4D

    T: ClassVar = SameType("T", INTEGER_TILE)

    x = operand_def(T)
    y = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$x `,` $y attr-dict `:` custom<CudaTileType>(type($result))"
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(self, x: Operand, y: Operand) -> None:
        super().__init__(operands=(x, y), result_types=(SSAValue.get(x).type,))


@op_definition
class MulIOp(_WrappingOperation):
    """A product.

    ```
    %c = muli %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.muli"
    OPCODE: ClassVar[int] = 0x4E


@op_definition
class NegIOp(CudaTileOperation):
    """Signed integers with the other sign.

    ```
    %b = negi %a overflow<no_signed_wrap> : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.negi"
    OPCODE: ClassVar[int] = 0x50
    SINCE_OF: ClassVar[Mapping[str, Version]] = MappingProxyType({"overflow": V13_2})

    T: ClassVar = SameType("T", INTEGER_TILE)

    source = operand_def(T)
    overflow = prop_def(IntegerOverflowAttr, default_value=NO_PROMISE)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = (
        "$source (`overflow` `` $overflow^)? attr-dict `:` custom<CudaTileType>(type($result))"
    )
    custom_directives: ClassVar = (CudaTileType,)

    def __init__(
        self, source: Operand, *, overflow: IntegerOverflow = IntegerOverflow.NONE
    ) -> None:
        super().__init__(
            operands=(source,),
            result_types=(SSAValue.get(source).type,),
            properties={"overflow": IntegerOverflowAttr(overflow)},
        )

    @override
    def verify_(self) -> None:
        if self.overflow.data is IntegerOverflow.NUW:
            raise VerifyException(
                "negi takes its operand as signed; expected overflow 'none', 'no_signed_wrap' or "
                "'no_wrap', but got 'no_unsigned_wrap'"
            )


@op_definition
class RemIOp(_SignedOperation):
    """The remainder of a division that is rounded to zero.

    ```
    %c = remi %a, %b signed : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.remi"
    OPCODE: ClassVar[int] = 0x5A


@op_definition
class ShLIOp(_WrappingOperation):
    """Bits moved to the left, by unsigned distances.

    ```
    %c = shli %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.shli"
    OPCODE: ClassVar[int] = 0x60


@op_definition
class ShRIOp(_SignedOperation):
    """Bits moved to the right, by unsigned distances; signed integers keep their sign.

    ```
    %c = shri %a, %b unsigned : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.shri"
    OPCODE: ClassVar[int] = 0x61


@op_definition
class SubIOp(_WrappingOperation):
    """A difference.

    ```
    %c = subi %a, %b : tile<4x8xi32>
    ```
    """

    name = "cuda_tile.subi"
    OPCODE: ClassVar[int] = 0x68


OPERATIONS: list[type[Operation]] = [
    AbsIOp,
    AddIOp,
    CmpIOp,
    DivIOp,
    MaxIOp,
    MinIOp,
    MulIOp,
    MulhiIOp,
    NegIOp,
    RemIOp,
    ShLIOp,
    ShRIOp,
    SubIOp,
]
"""Every operation of this module."""
