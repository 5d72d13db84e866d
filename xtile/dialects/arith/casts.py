"""Changes of type.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td` and `ArithOps.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects import arith
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import I32, IntegerAttr, MemRefType
from xdsl.ir import Attribute
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    OptPropertyDef,
    PropertyDef,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.arith.assembly import Overflow, RoundingMode
from xtile.dialects.arith.types import (
    FIXED_WIDTH_INTEGER_LIKE,
    verify_narrower,
    verify_same_shape,
    verify_wider,
)
from xtile.dialects.definitions import op_definition
from xtile.dialects.upstream import (
    FLOAT_LIKE,
    TypeWhere,
    completes,
    element_type,
    is_index,
    is_signless_integer_or_index,
    like,
)

_FAST_MATH = {"fastmath": OptPropertyDef(BaseAttr(FastMathFlagsAttr))}
_ROUNDING = {"roundingmode": OptPropertyDef(BaseAttr(IntegerAttr))}
_INDEX_CAST = TypeWhere(
    "a signless integer, an index, or a vector, tensor or memref of them",
    lambda type: (
        like(is_signless_integer_or_index)(type)
        or (isa(type, MemRefType) and is_signless_integer_or_index(type.element_type))
    ),
)

_integer_to_float = completes(
    operands={"input": FIXED_WIDTH_INTEGER_LIKE}, results={"result": FLOAT_LIKE}
)
_float_to_integer = completes(
    operands={"input": FLOAT_LIKE}, results={"result": FIXED_WIDTH_INTEGER_LIKE}
)
_integer_to_integer = completes(
    operands={"input": FIXED_WIDTH_INTEGER_LIKE}, results={"result": FIXED_WIDTH_INTEGER_LIKE}
)


@_integer_to_integer
class ExtSIOp(arith.ExtSIOp):
    """More bits, filled with the sign.

    ```
    %b = arith.extsi %a : vector<4xi8> to vector<4xi32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_wider(self.input.type, self.result.type)


@_integer_to_integer
class ExtUIOp(arith.ExtUIOp):
    """More bits, filled with zeros.

    ```
    %b = arith.extui %a : i1 to i32
    ```
    """

    @override
    def verify_(self) -> None:
        verify_wider(self.input.type, self.result.type)


@completes(
    operands={"input": FIXED_WIDTH_INTEGER_LIKE},
    results={"result": FIXED_WIDTH_INTEGER_LIKE},
    properties={
        "overflowFlags": PropertyDef(BaseAttr(IntegerOverflowAttr), IntegerOverflowAttr("none"))
    },
    assembly_format=(
        "$input custom<Overflow>($overflowFlags) attr-dict `:` type($input) `to` type($result)"
    ),
    custom_directives=(Overflow,),
)
class TruncIOp(arith.TruncIOp):
    """Fewer bits.

    ```
    %b = arith.trunci %a overflow<nsw> : i32 to i8
    ```
    """

    @override
    def verify_(self) -> None:
        verify_narrower(self.input.type, self.result.type)


@completes(
    properties=_FAST_MATH,
    assembly_format=(
        "$input (`fastmath` `` $fastmath^)? attr-dict `:` type($input) `to` type($result)"
    ),
)
class ExtFOp(arith.ExtFOp):
    """A float of more bits.

    ```
    %b = arith.extf %a : f16 to f32
    ```
    """

    @override
    def verify_(self) -> None:
        verify_wider(self.input.type, self.result.type)


@completes(
    properties={**_FAST_MATH, **_ROUNDING},
    assembly_format=(
        "$input custom<RoundingMode>($roundingmode) (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($input) `to` type($result)"
    ),
    custom_directives=(RoundingMode,),
)
class TruncFOp(arith.TruncFOp):
    """A float of fewer bits, rounded.

    ```
    %b = arith.truncf %a to_nearest_even : f32 to f16
    ```
    """

    @override
    def verify_(self) -> None:
        verify_narrower(self.input.type, self.result.type)


@op_definition
class ScalingExtFOp(IRDLOperation):
    """A float of more bits, times a power of two.

    ```
    %b = arith.scaling_extf %a, %scale : f4E2M1FN, f8E8M0FNU to f32
    ```
    """

    name = "arith.scaling_extf"

    input = operand_def(FLOAT_LIKE)
    scale = operand_def(FLOAT_LIKE)
    fastmath = opt_prop_def(FastMathFlagsAttr)
    result = result_def(FLOAT_LIKE)

    assembly_format = (
        "$input `,` $scale (`fastmath` `` $fastmath^)? attr-dict `:` "
        "type($input) `,` type($scale) `to` type($result)"
    )

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        verify_wider(self.input.type, self.result.type)


@op_definition
class ScalingTruncFOp(IRDLOperation):
    """A float of fewer bits, divided by a power of two.

    ```
    %b = arith.scaling_truncf %a, %scale to_nearest_even : f32, f8E8M0FNU to f4E2M1FN
    ```
    """

    name = "arith.scaling_truncf"

    input = operand_def(FLOAT_LIKE)
    scale = operand_def(FLOAT_LIKE)
    roundingmode = opt_prop_def(IntegerAttr[I32])
    fastmath = opt_prop_def(FastMathFlagsAttr)
    result = result_def(FLOAT_LIKE)

    assembly_format = (
        "$input `,` $scale custom<RoundingMode>($roundingmode) (`fastmath` `` $fastmath^)? "
        "attr-dict `:` type($input) `,` type($scale) `to` type($result)"
    )
    custom_directives = (RoundingMode,)

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        verify_narrower(self.input.type, self.result.type)


@_integer_to_float
class SIToFPOp(arith.SIToFPOp):
    """A signed integer as a float.

    ```
    %b = arith.sitofp %a : i32 to f32
    ```
    """

    @override
    def verify_(self) -> None:
        verify_same_shape(self.input.type, self.result.type)


@_integer_to_float
class UIToFPOp(arith.UIToFPOp):
    """An unsigned integer as a float.

    ```
    %b = arith.uitofp %a : vector<4xi32> to vector<4xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_same_shape(self.input.type, self.result.type)


@_float_to_integer
class FPToSIOp(arith.FPToSIOp):
    """A float as a signed integer, rounded to zero.

    ```
    %b = arith.fptosi %a : f32 to i32
    ```
    """

    @override
    def verify_(self) -> None:
        verify_same_shape(self.input.type, self.result.type)


@_float_to_integer
class FPToUIOp(arith.FPToUIOp):
    """A float as an unsigned integer, rounded to zero.

    ```
    %b = arith.fptoui %a : f32 to i32
    ```
    """

    @override
    def verify_(self) -> None:
        verify_same_shape(self.input.type, self.result.type)


def _verify_index_cast(source: Attribute, result: Attribute) -> None:
    verify_same_shape(source, result)
    if is_index(element_type(source)) == is_index(element_type(result)):
        raise VerifyException(
            f"expected a cast between an index and an integer, got {source} to {result}"
        )


@completes(operands={"input": _INDEX_CAST}, results={"result": _INDEX_CAST})
class IndexCastOp(arith.IndexCastOp):
    """An index as an integer or the other way round; more bits are filled with the sign.

    ```
    %b = arith.index_cast %a : index to i64
    ```
    """

    @override
    def verify_(self) -> None:
        _verify_index_cast(self.input.type, self.result.type)


@op_definition
class IndexCastUIOp(IRDLOperation):
    """An index as an integer or the other way round; more bits are filled with zeros.

    ```
    %b = arith.index_castui %a : i32 to index
    ```
    """

    name = "arith.index_castui"

    input = operand_def(_INDEX_CAST)
    result = result_def(_INDEX_CAST)

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        _verify_index_cast(self.input.type, self.result.type)
