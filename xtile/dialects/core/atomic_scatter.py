"""Atomic updates of elements that lie anywhere in memory."""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, MemRefType, VectorType, i1
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.core.subgroup import AtomicKindAttr


@irdl_op_definition
class AtomicScatterOp(IRDLOperation):
    """Updates elements of memory atomically where a mask is true; returns what they were before.

    ```
    %old = core.atomic_scatter addf %memory[%i, %j] [%positions], %mask, %v
        : memref<?x?xf32>, vector<8xindex>, vector<8xi1>, vector<8xf32>
    ```

    As in `vector.scatter`, the positions count along the last dimension from the indices on. The
    old value of an element that is left out is 0.
    """

    name = "core.atomic_scatter"

    kind = prop_def(AtomicKindAttr)
    memory = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    positions = operand_def(VectorType)
    mask = operand_def(VectorType)
    value = operand_def(VectorType)
    result = result_def(VectorType)

    assembly_format = (
        "$kind $memory `[` $indices `]` `[` $positions `]` `,` $mask `,` $value attr-dict `:` "
        "type($memory) `,` type($positions) `,` type($mask) `,` type($value) `->` type($result)"
    )

    @override
    def verify_(self) -> None:
        memory, value = self.memory.type, self.value.type
        assert isa(memory, MemRefType)
        assert isa(value, VectorType)
        rank, shape = memory.get_num_dims(), value.get_shape()
        if len(self.indices) != rank:
            raise VerifyException(f"expected {rank} indices, got {len(self.indices)}")
        _verify_type(self.positions, VectorType(IndexType(), shape))
        _verify_type(self.mask, VectorType(i1, shape))
        _verify_type(self.value, VectorType(memory.element_type, shape))
        _verify_type(self.result, value)


def _verify_type(value: SSAValue, expected: VectorType) -> None:
    if value.type != expected:
        raise VerifyException(f"expected {expected}, got {value.type}")
