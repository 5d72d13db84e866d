"""Reads and writes of elements of memory at indices of their own, along several dimensions.

Source: CUDA Tile IR specification, "load_ptr_tko", "gather_scatter_view"; triton-lang/triton,
`TritonOps.td` (`tt.load`, `tt.descriptor_gather`). Upstream's `vector.gather` and `vector.scatter`
have indices of their own along the last dimension only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, VectorType, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    result_def,
    var_operand_def,
)
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.shapes import as_vector, shape_of, verify_type
from xtile.dialects.upstream import TypeWhere


def _is_index(type: Attribute) -> bool:
    vector = as_vector(type)
    if vector is None:
        return isinstance(type, IndexType)
    return isinstance(vector.element_type, IntegerType | IndexType)


INDICES = TypeWhere("an index, or a vector of integers or indices", _is_index)


@irdl_op_definition
class GatherLoadOp(IRDLOperation):
    """Reads elements of memory, each at indices of its own, where a mask is true.

    ```
    %v = core.gather_load %m[%row, %columns], %mask, %padding
        : memref<?x?xf32>[vector<4x1xi32>, vector<1x8xindex>], vector<4x8xi1>, vector<4x8xf32>
        -> vector<4x8xf32>
    ```

    There is an index for each dimension: one for all elements, or a vector that has one for each
    or, where a size of it is 1, for several. The others are those of the padding; without one, they
    are anything.
    """

    name = "core.gather_load"

    memory = operand_def(MemRefType)
    indices = var_operand_def(INDICES)
    mask = opt_operand_def(VectorType)
    padding = opt_operand_def(VectorType)
    result = result_def(VectorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    assembly_format = (
        "$memory `[` $indices `]` (`,` $mask^)? (`,` $padding^)? attr-dict `:` "
        "type($memory) `[` type($indices) `]` (`,` type($mask)^)? (`,` type($padding)^)? "
        "`->` type($result)"
    )

    @override
    def verify_(self) -> None:
        verify_access(self.memory, self.indices, self.mask, self.result)
        if self.padding is None:
            return
        if self.mask is None:
            raise VerifyException("expected a mask beside the padding")
        verify_type(self.padding.type, self.result.type, "the padding")


@irdl_op_definition
class ScatterStoreOp(IRDLOperation):
    """Writes elements of memory, each at indices of its own, where a mask is true.

    ```
    core.scatter_store %v, %m[%row, %columns], %mask
        : vector<4x8xf32>, memref<?x?xf32>[index, vector<4x8xi32>], vector<4x8xi1>
    ```

    The indices are those of `core.gather_load`. Of several elements that are written to one place,
    one stays, and it is not specified which.
    """

    name = "core.scatter_store"

    value = operand_def(VectorType)
    memory = operand_def(MemRefType)
    indices = var_operand_def(INDICES)
    mask = opt_operand_def(VectorType)

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())

    assembly_format = (
        "$value `,` $memory `[` $indices `]` (`,` $mask^)? attr-dict `:` "
        "type($value) `,` type($memory) `[` type($indices) `]` (`,` type($mask)^)?"
    )

    @override
    def verify_(self) -> None:
        verify_access(self.memory, self.indices, self.mask, self.value)


def verify_access(
    memory: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None, value: SSAValue
) -> None:
    """Checks an access to elements at indices of their own, or to one element.

    Raises:
        VerifyException: A type does not fit the others.
    """
    type_ = cast("MemRefType[Attribute]", memory.type)
    shape = _shape(value)
    rank = type_.get_num_dims()
    if len(indices) != rank:
        raise VerifyException(f"expected {rank} indices for {type_}, got {len(indices)}")
    for index in indices:
        if as_vector(index.type) is not None and not _spreads(shape_of(index), shape):
            raise VerifyException(
                f"expected indices with sizes {list(shape)}, or 1 in the place of some, got "
                f"{index.type}"
            )
    verify_type(value.type, _like(value, type_.element_type), "what is accessed")
    if mask is not None:
        verify_type(mask.type, _like(value, i1), "the mask")


def _shape(value: SSAValue) -> tuple[int, ...]:
    vector = as_vector(value.type)
    return () if vector is None else vector.get_shape()


def _like(value: SSAValue, element: Attribute) -> Attribute:
    """The type of as many elements as there are in a value."""
    return element if as_vector(value.type) is None else VectorType(element, _shape(value))


def _spreads(given: Sequence[int], shape: Sequence[int]) -> bool:
    return len(given) == len(shape) and all(
        own in (1, size) for own, size in zip(given, shape, strict=True)
    )
