"""Reads and writes of elements of memory at positions of their own.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import I64, IndexType, IntegerAttr, MemRefType, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import shape_of, vector_type, verify_type
from xtile.dialects.upstream import TypeWhere
from xtile.dialects.vector.memory import verify_alignment_of, verify_shape
from xtile.dialects.vector.types import INDICES, MASK, VECTOR_WITH_DIMENSIONS

MEMREF_OR_TENSOR = TypeWhere(
    "a memref or a tensor of known rank",
    lambda type: isinstance(type, MemRefType | TensorType),
)


@op_definition
class GatherOp(IRDLOperation):
    """Reads elements at positions along the last dimension, where a mask is true.

    The others are those of the last operand.

    ```
    %v = vector.gather %memory[%i, %j] [%positions], %mask, %pass_thru
        : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    ```
    """

    name = "vector.gather"

    base = operand_def(MEMREF_OR_TENSOR)
    offsets = var_operand_def(IndexType())
    indices = operand_def(INDICES)
    mask = operand_def(MASK)
    pass_thru = operand_def(VECTOR_WITH_DIMENSIONS)
    alignment = opt_prop_def(IntegerAttr[I64])
    result = result_def(VECTOR_WITH_DIMENSIONS)

    assembly_format = (
        "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` "
        "type($base) `,` type($indices) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    @override
    def verify_(self) -> None:
        _verify_access(self, self.result)
        verify_type(self.pass_thru.type, self.result.type, "what passes through")


@op_definition
class ScatterOp(IRDLOperation):
    """Writes elements to positions along the last dimension, where a mask is true.

    On a tensor the result is the tensor with the elements in it.

    ```
    vector.scatter %memory[%i, %j] [%positions], %mask, %v
        : memref<?x?xf32>, vector<8xi32>, vector<8xi1>, vector<8xf32>
    ```
    """

    name = "vector.scatter"

    base = operand_def(MEMREF_OR_TENSOR)
    offsets = var_operand_def(IndexType())
    indices = operand_def(INDICES)
    mask = operand_def(MASK)
    valueToStore = operand_def(VECTOR_WITH_DIMENSIONS)  # noqa: N815
    alignment = opt_prop_def(IntegerAttr[I64])
    result = opt_result_def(TensorType)

    assembly_format = (
        "$base `[` $offsets `]` `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` "
        "type($base) `,` type($indices) `,` type($mask) `,` type($valueToStore) "
        "(`->` type($result)^)?"
    )

    @override
    def verify_(self) -> None:
        _verify_access(self, self.valueToStore)
        if self.result is not None:
            verify_type(self.result.type, self.base.type, "the result")


def _verify_access(operation: GatherOp | ScatterOp, value: SSAValue) -> None:
    base = operation.base.type
    assert isa(base, MemRefType | TensorType)
    verify_type(vector_type(value).element_type, base.element_type, "the vector's element type")
    if len(operation.offsets) != base.get_num_dims():
        raise VerifyException(
            f"expected {base.get_num_dims()} indices for {base}, got {len(operation.offsets)}"
        )
    verify_shape(operation.indices, shape_of(value), "the vector of positions")
    verify_shape(operation.mask, shape_of(value), "the mask")
    verify_alignment_of(operation)
