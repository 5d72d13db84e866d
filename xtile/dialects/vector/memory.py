"""Reads and writes of neighbouring elements of memory.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import I64, IndexType, IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    OptPropertyDef,
    irdl_to_attr_constraint,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.definitions import op_definition
from xtile.dialects.memref.layouts import (
    is_identity,
    layout_of,
    ranked,
    sizes_of,
    verify_alignment,
    verify_indices,
)
from xtile.dialects.shapes import AnyVector, as_vector, shape_of, vector_type, verify_type
from xtile.dialects.upstream import TypeWhere, completes
from xtile.dialects.vector.types import FIXED_MASK, MASK, VECTOR_WITH_DIMENSIONS, verify_elements

MEMREF = TypeWhere("a memref of known rank", lambda type: isinstance(type, MemRefType))

_ALIGNMENT = {"alignment": OptPropertyDef(irdl_to_attr_constraint(IntegerAttr[I64]))}


def verify_alignment_of(operation: Operation) -> None:
    """Checks that the alignment of an operation is a power of two, if it has one.

    Raises:
        VerifyException: It is not.
    """
    alignment = operation.properties.get("alignment")
    if isa(alignment, IntegerAttr[I64]):
        verify_alignment(alignment.value.data)


@completes(operands={"base": MEMREF}, properties=_ALIGNMENT)
class LoadOp(vector.LoadOp):
    """Reads a slice of memory, whose last dimensions are the vector's.

    ```
    %v = vector.load %memory[%i, %j] : memref<16x32xf32>, vector<4x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        _verify_slice(self, self.base, vector_type(self.result), len(self.indices))


@completes(operands={"base": MEMREF}, properties=_ALIGNMENT)
class StoreOp(vector.StoreOp):
    """Writes a slice of memory, whose last dimensions are the vector's.

    ```
    vector.store %v, %memory[%i, %j] : memref<16x32xf32>, vector<4x8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        _verify_slice(self, self.base, vector_type(self.vector), len(self.indices))


def _verify_slice(operation: Operation, base: SSAValue, moved: AnyVector, indices: int) -> None:
    """Checks that a vector is a slice of a memref."""
    memory = ranked(base.type)
    rank = len(sizes_of(memory))
    is_one_element = moved.get_num_scalable_dims() == 0 and set(moved.get_shape()) <= {1}
    if not is_one_element:
        _verify_unit_stride(memory)
    if moved.get_num_dims() > rank:
        raise VerifyException(f"expected a vector of at most {rank} dimensions, got {moved}")
    held = as_vector(memory.element_type)
    if held is not None:
        verify_type(moved, held, "the vector")
    else:
        verify_elements(moved, memory.element_type, "the vector")
    verify_indices([None] * indices, memory)
    verify_alignment_of(operation)


def _verify_unit_stride(memory: MemRefType) -> None:
    """Checks that the elements along the last dimension lie side by side."""
    layout = layout_of(memory)
    strides = None if layout is None else layout.strides
    if strides is None or (strides and strides[-1] != 1):
        raise VerifyException(f"the last dimension must have stride 1, got {memory}")


@completes(
    operands={"base": MEMREF, "mask": MASK, "pass_thru": VECTOR_WITH_DIMENSIONS},
    results={"result": VECTOR_WITH_DIMENSIONS},
    properties=_ALIGNMENT,
)
class MaskedLoadOp(vector.MaskedLoadOp):
    """Reads elements where a mask is true; the others are those of the last operand.

    ```
    %v = vector.maskedload %memory[%i], %mask, %pass_thru
        : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_access(self, self.base, self.result, len(self.indices))
        verify_shape(self.mask, shape_of(self.result), "the mask")
        verify_type(self.pass_thru.type, self.result.type, "what passes through")


@completes(operands={"mask": MASK, "value_to_store": VECTOR_WITH_DIMENSIONS}, properties=_ALIGNMENT)
class MaskedStoreOp(vector.MaskedStoreOp):
    """Writes elements where a mask is true.

    ```
    vector.maskedstore %memory[%i], %mask, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        verify_access(self, self.base, self.value_to_store, len(self.indices))
        verify_shape(self.mask, shape_of(self.value_to_store), "the mask")


@op_definition
class ExpandLoadOp(IRDLOperation):
    """Reads the next elements of memory, one for each position where a mask is true.

    ```
    %v = vector.expandload %memory[%i], %mask, %pass_thru
        : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    ```
    """

    name = "vector.expandload"

    base = operand_def(MEMREF)
    indices = var_operand_def(IndexType())
    mask = operand_def(FIXED_MASK)
    pass_thru = operand_def(VECTOR_WITH_DIMENSIONS)
    alignment = opt_prop_def(IntegerAttr[I64])
    result = result_def(VECTOR_WITH_DIMENSIONS)

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` "
        "type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    @override
    def verify_(self) -> None:
        verify_access(self, self.base, self.result, len(self.indices))
        _verify_length(self.mask, self.result)
        verify_type(self.pass_thru.type, self.result.type, "what passes through")


@op_definition
class CompressStoreOp(IRDLOperation):
    """Writes the elements where a mask is true side by side.

    ```
    vector.compressstore %memory[%i], %mask, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
    ```
    """

    name = "vector.compressstore"

    base = operand_def(MEMREF)
    indices = var_operand_def(IndexType())
    mask = operand_def(FIXED_MASK)
    valueToStore = operand_def(VECTOR_WITH_DIMENSIONS)  # noqa: N815
    alignment = opt_prop_def(IntegerAttr[I64])

    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` "
        "type($base) `,` type($mask) `,` type($valueToStore)"
    )

    @override
    def verify_(self) -> None:
        verify_access(self, self.base, self.valueToStore, len(self.indices))
        _verify_length(self.mask, self.valueToStore)


@op_definition
class TypeCastOp(IRDLOperation):
    """A memref of scalars as one of a single vector.

    ```
    %v = vector.type_cast %memory : memref<4x8xf32> to memref<vector<4x8xf32>>
    ```
    """

    name = "vector.type_cast"

    memref = operand_def(MEMREF)
    result = result_def(MEMREF)

    traits = traits_def(Pure())

    assembly_format = "$memref attr-dict `:` type($memref) `to` type($result)"

    @override
    def verify_(self) -> None:
        source, result = ranked(self.memref.type), ranked(self.result.type)
        if None in sizes_of(source):
            raise VerifyException(f"expected a memref of known sizes, got {source}")
        if not _is_contiguous(source) or not is_identity(result):
            raise VerifyException(f"expected default layouts, got {source} and {result}")
        if source.memory_space != result.memory_space:
            raise VerifyException(f"expected equal memory spaces, got {source} and {result}")
        if _content_of(source) != _content_of(result):
            raise VerifyException(
                f"expected the same sizes and numbers in memrefs and vectors, got {source} "
                f"and {result}"
            )


def _is_contiguous(memory: MemRefType) -> bool:
    """Whether elements lie one after the other, by default or because strides say so."""
    layout = layout_of(memory)
    if layout is None or layout.offset != 0:
        return False
    expected = 1
    for size, stride in zip(reversed(layout.sizes), reversed(layout.strides), strict=True):
        if stride != expected or size is None:
            return False
        expected *= size
    return True


def _content_of(memory: MemRefType) -> tuple[tuple[int | None, ...], Attribute]:
    """Returns the sizes of a memref and of the vectors in it, and what is in those."""
    held = as_vector(memory.element_type)
    if held is None:
        return sizes_of(memory), memory.element_type
    return (*sizes_of(memory), *held.get_shape()), held.element_type


def verify_access(operation: Operation, base: SSAValue, value: SSAValue, indices: int) -> None:
    """Checks the elements, the indices and the alignment of a read or a write of memory.

    Raises:
        VerifyException: They do not fit the memory.
    """
    memory = ranked(base.type)
    verify_type(vector_type(value).element_type, memory.element_type, "the vector's element type")
    verify_indices([None] * indices, memory)
    verify_alignment_of(operation)


def verify_shape(value: SSAValue, expected: tuple[int, ...], what: str) -> None:
    """Checks the sizes of a vector.

    Raises:
        VerifyException: They are other than expected.
    """
    if shape_of(value) != expected:
        raise VerifyException(f"{what} must have the shape {list(expected)}, got {value.type}")


def _verify_length(mask: SSAValue, value: SSAValue) -> None:
    """Checks that a mask has as many rows as a vector; as in MLIR, no further dimensions."""
    if shape_of(mask)[0] != shape_of(value)[0]:
        raise VerifyException(f"the mask must be as long as {value.type}, got {mask.type}")
