"""Linear algebra of a whole work-group on row-major memrefs, updated in place.

The instructions of the tensor language (reference, section "Collective instructions") on the
transposed matrices, because its memrefs are column-major: `C := A B` there is `C^T := B^T A^T`
here. What rounding and `beta = 0` mean stands in docs/semantics.md, section "Linear algebra".
"""

from __future__ import annotations

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, MemRefType, UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    prop_def,
)

from xtile.dialects.definitions import op_definition


class BlasOperation(IRDLOperation, ABC):
    """An operation that every work-item of the work-group takes part in.

    With `atomic`, elements are added (beta = 1) or replaced (beta = 0) atomically.
    """

    atomic = opt_prop_def(UnitAttr)


class BlasA2Operation(BlasOperation, ABC):
    """Operands alpha, A, beta, B; B is updated."""

    alpha = operand_def(Attribute)
    a = operand_def(MemRefType)
    beta = operand_def(Attribute)
    b = operand_def(MemRefType)

    OPERANDS: ClassVar[str] = "$alpha `,` $a `,` $beta `,` $b attr-dict `:` "
    TYPES: ClassVar[str] = "type($alpha) `,` type($a) `,` type($beta) `,` type($b)"


class BlasA3Operation(BlasOperation, ABC):
    """Operands alpha, A, B, beta, C; C is updated."""

    alpha = operand_def(Attribute)
    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    beta = operand_def(Attribute)
    c = operand_def(MemRefType)

    OPERANDS: ClassVar[str] = "$alpha `,` $a `,` $b `,` $beta `,` $c attr-dict `:` "
    TYPES: ClassVar[str] = "type($alpha) `,` type($a) `,` type($b) `,` type($beta) `,` type($c)"


@op_definition
class AxpbyOp(BlasA2Operation):
    """B := alpha op(A) + beta B, for scalars, vectors and matrices.

    ```
    core.axpby transpose_a %alpha, %a, %beta, %b : f32, memref<4x8xf32>, f32, memref<8x4xf32>
    ```
    """

    name = "core.axpby"

    transpose_a = opt_prop_def(UnitAttr)

    assembly_format = (
        "(`atomic` $atomic^)? (`transpose_a` $transpose_a^)? "
        + BlasA2Operation.OPERANDS
        + BlasA2Operation.TYPES
    )


@op_definition
class CumsumOp(BlasA2Operation):
    """B := alpha cumulative sum of A along dimension `dimension` + beta B.

    ```
    core.cumsum 0 %alpha, %a, %beta, %b : f32, memref<8xf32>, f32, memref<8xf32>
    ```
    """

    name = "core.cumsum"

    dimension = prop_def(IntegerAttr[I64])

    assembly_format = (
        "(`atomic` $atomic^)? $dimension " + BlasA2Operation.OPERANDS + BlasA2Operation.TYPES
    )


@op_definition
class SumOp(BlasA2Operation):
    """b := alpha op(A) 1 + beta b: b_i is the sum of row i of op(A); a vector has one row.

    ```
    core.sum %alpha, %a, %beta, %b : f32, memref<4x8xf32>, f32, memref<4xf32>
    ```
    """

    name = "core.sum"

    transpose_a = opt_prop_def(UnitAttr)

    assembly_format = (
        "(`atomic` $atomic^)? (`transpose_a` $transpose_a^)? "
        + BlasA2Operation.OPERANDS
        + BlasA2Operation.TYPES
    )


@op_definition
class GemmOp(BlasA3Operation):
    """C := alpha op(A) op(B) + beta C.

    ```
    core.gemm transpose_b %alpha, %a, %b, %beta, %c
        : f32, memref<4x8xf16>, memref<6x8xf16>, f32, memref<4x6xf32>
    ```
    """

    name = "core.gemm"

    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)

    assembly_format = (
        "(`atomic` $atomic^)? (`transpose_a` $transpose_a^)? (`transpose_b` $transpose_b^)? "
        + BlasA3Operation.OPERANDS
        + BlasA3Operation.TYPES
    )


@op_definition
class GemvOp(BlasA3Operation):
    """c := alpha op(A) b + beta c.

    ```
    core.gemv %alpha, %a, %b, %beta, %c
        : f32, memref<4x8xf32>, memref<8xf32>, f32, memref<4xf32>
    ```
    """

    name = "core.gemv"

    transpose_a = opt_prop_def(UnitAttr)

    assembly_format = (
        "(`atomic` $atomic^)? (`transpose_a` $transpose_a^)? "
        + BlasA3Operation.OPERANDS
        + BlasA3Operation.TYPES
    )


@op_definition
class GerOp(BlasA3Operation):
    """C := alpha a b^T + beta C.

    ```
    core.ger %alpha, %a, %b, %beta, %c
        : f32, memref<4xf32>, memref<8xf32>, f32, memref<4x8xf32>
    ```
    """

    name = "core.ger"

    assembly_format = "(`atomic` $atomic^)? " + BlasA3Operation.OPERANDS + BlasA3Operation.TYPES


@op_definition
class HadamardOp(BlasA3Operation):
    """C := alpha A ∘ B + beta C, element by element, for scalars, vectors and matrices.

    ```
    core.hadamard %alpha, %a, %b, %beta, %c
        : f32, memref<4x8xf32>, memref<4x8xf32>, f32, memref<4x8xf32>
    ```
    """

    name = "core.hadamard"

    assembly_format = "(`atomic` $atomic^)? " + BlasA3Operation.OPERANDS + BlasA3Operation.TYPES
