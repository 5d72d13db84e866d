"""Matrices that a subgroup holds together.

Source: MLIR (LLVM 22), `Dialect/GPU/IR/GPUOps.td` and `GPUDialect.cpp`.
"""

# Operands are named as upstream names them.
# ruff: noqa: N815

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    ParamAttrConstraint,
    ParsePropInAttrDict,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.gpu.attributes import MMAElementwiseOpAttr
from xtile.dialects.gpu.types import MMAMatrixType
from xtile.dialects.memref.layouts import layout_of

_MATRIX: BaseAttr[MMAMatrixType] = BaseAttr(MMAMatrixType)
_MEMREF: BaseAttr[MemRefType] = BaseAttr(MemRefType)
_ELEMENT = VarConstraint("ELEMENT", AnyAttr())
_MATRIX_OF_ELEMENT = ParamAttrConstraint(MMAMatrixType, (AnyAttr(), _ELEMENT, AnyAttr()))


def _matrix_type(type: Attribute) -> MMAMatrixType:
    assert isinstance(type, MMAMatrixType)
    return type


def _verify_unit_stride(type: Attribute) -> None:
    """Checks that the last dimension of a memref is contiguous."""
    layout = layout_of(type)
    if layout is None or layout.strides[-1:] != (1,):
        raise VerifyException(f"expected a memref whose last dimension has stride 1, got {type}")


@irdl_op_definition
class SubgroupMmaLoadMatrixOp(IRDLOperation):
    """Loads a matrix.

    ```
    %a = gpu.subgroup_mma_load_matrix %memory[%i, %j] {leadDimension = 32 : index}
        : memref<32x32xf16, 3> -> !gpu.mma_matrix<16x16xf16, "AOp">
    ```
    """

    name = "gpu.subgroup_mma_load_matrix"

    srcMemref = operand_def(_MEMREF)
    indices = var_operand_def(IndexType())
    leadDimension = prop_def(IntegerAttr[IndexType])
    transpose = opt_prop_def(UnitAttr)
    res = result_def(_MATRIX)

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$srcMemref `[` $indices `]` attr-dict `:` type($srcMemref) `->` type($res)"

    @override
    def verify_(self) -> None:
        _verify_unit_stride(self.srcMemref.type)


@irdl_op_definition
class SubgroupMmaStoreMatrixOp(IRDLOperation):
    """Stores a matrix.

    ```
    gpu.subgroup_mma_store_matrix %c, %memory[%i, %j] {leadDimension = 32 : index}
        : !gpu.mma_matrix<16x16xf16, "COp">, memref<32x32xf16, 3>
    ```
    """

    name = "gpu.subgroup_mma_store_matrix"

    src = operand_def(_MATRIX)
    dstMemref = operand_def(_MEMREF)
    indices = var_operand_def(IndexType())
    leadDimension = prop_def(IntegerAttr[IndexType])
    transpose = opt_prop_def(UnitAttr)

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = (
        "$src `,` $dstMemref `[` $indices `]` attr-dict `:` type($src) `,` type($dstMemref)"
    )

    @override
    def verify_(self) -> None:
        _verify_unit_stride(self.dstMemref.type)
        operand = _matrix_type(self.src.type).operand.data
        if operand != "COp":
            raise VerifyException(f"only a COp matrix can be stored, got {operand}")


@irdl_op_definition
class SubgroupMmaComputeOp(IRDLOperation):
    """Multiplies two matrices and adds the product to a third.

    ```
    %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf16, "AOp">,
        !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
    ```
    """

    name = "gpu.subgroup_mma_compute"

    RESULT: ClassVar = VarConstraint("RESULT", _MATRIX)

    opA = operand_def(_MATRIX)
    opB = operand_def(_MATRIX)
    opC = operand_def(RESULT)
    a_transpose = opt_prop_def(UnitAttr)
    b_transpose = opt_prop_def(UnitAttr)
    res = result_def(RESULT)

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = (
        "$opA `,` $opB `,` $opC attr-dict `:` type($opA) `,` type($opB) `->` type($res)"
    )

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        types = [_matrix_type(operand.type) for operand in (self.opA, self.opB, self.opC)]
        names = [type.operand.data for type in types]
        if names != ["AOp", "BOp", "COp"]:
            raise VerifyException(f"expected operands AOp, BOp, COp, got {', '.join(names)}")
        (rows, inner), (inner_b, columns), result = (type.sizes for type in types)
        if inner != inner_b or result != (rows, columns):
            raise VerifyException(
                f"a {rows}x{inner} matrix times a {inner_b}x{columns} matrix is no "
                f"{result[0]}x{result[1]} matrix"
            )


@irdl_op_definition
class SubgroupMmaConstantMatrixOp(IRDLOperation):
    """Fills a matrix with one value.

    ```
    %c = gpu.subgroup_mma_constant_matrix %zero : !gpu.mma_matrix<16x16xf16, "COp">
    ```
    """

    name = "gpu.subgroup_mma_constant_matrix"

    value = operand_def(_ELEMENT)
    res = result_def(_MATRIX_OF_ELEMENT)

    assembly_format = "$value attr-dict `:` type($res)"

    traits = traits_def(Pure())


@irdl_op_definition
class SubgroupMmaExtractThreadLocalOp(IRDLOperation):
    """Reads an element that this work-item holds.

    ```
    %x = gpu.subgroup_mma_extract_thread_local %c[%i] : !gpu.mma_matrix<16x16xf16, "COp"> -> f16
    ```
    """

    name = "gpu.subgroup_mma_extract_thread_local"

    matrix = operand_def(_MATRIX_OF_ELEMENT)
    indices = var_operand_def(IndexType())
    res = result_def(_ELEMENT)

    assembly_format = "$matrix `[` $indices `]` attr-dict `:` type($matrix) `->` type($res)"

    traits = traits_def(Pure())


@irdl_op_definition
class SubgroupMmaInsertThreadLocalOp(IRDLOperation):
    """Replaces an element that this work-item holds.

    ```
    %d = gpu.subgroup_mma_insert_thread_local %x, %c[%i] : f16,
        !gpu.mma_matrix<16x16xf16, "COp"> -> !gpu.mma_matrix<16x16xf16, "COp">
    ```
    """

    name = "gpu.subgroup_mma_insert_thread_local"

    value = operand_def(_ELEMENT)
    matrix = operand_def(_MATRIX_OF_ELEMENT)
    indices = var_operand_def(IndexType())
    res = result_def(_MATRIX)

    assembly_format = (
        "$value `,` $matrix `[` $indices `]` attr-dict "
        "`:` type($value) `,` type($matrix) `->` type($res)"
    )

    traits = traits_def(Pure())


@irdl_op_definition
class SubgroupMmaElementwiseOp(IRDLOperation):
    """Computes every element from the elements of the operands.

    ```
    %e = gpu.subgroup_mma_elementwise  addf %c, %d : (!gpu.mma_matrix<16x16xf16, "COp">,
        !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
    ```
    """

    name = "gpu.subgroup_mma_elementwise"

    args = var_operand_def(_MATRIX)
    opType = prop_def(MMAElementwiseOpAttr)
    res = result_def(_MATRIX)

    assembly_format = "` ` $opType $args attr-dict `:` functional-type($args, $res)"

    traits = traits_def(Pure())

    @override
    def verify_(self) -> None:
        if len(set(self.args.types)) > 1:
            names = ", ".join(str(type) for type in self.args.types)
            raise VerifyException(f"expected operands of one type, got {names}")


OPERATIONS: list[type[Operation]] = [
    SubgroupMmaComputeOp,
    SubgroupMmaConstantMatrixOp,
    SubgroupMmaElementwiseOp,
    SubgroupMmaExtractThreadLocalOp,
    SubgroupMmaInsertThreadLocalOp,
    SubgroupMmaLoadMatrixOp,
    SubgroupMmaStoreMatrixOp,
]
"""The operations of this module."""
