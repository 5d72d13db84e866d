"""Parts of vectors.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import shape_of, vector_type, verify_type
from xtile.dialects.vector.types import (
    LINE,
    SCALABLE_LINE,
    VECTOR_WITH_DIMENSIONS,
    Dimension,
    dimensions_of,
    element_type,
    make_vector,
    verify_elements,
)

_NUMBERS = ArrayAttr[IntegerAttr[I64]]


def numbers_of(attribute: _NUMBERS) -> list[int]:
    """Returns the numbers in a list of integer attributes."""
    return [number.value.data for number in attribute]


@op_definition
class ExtractStridedSliceOp(IRDLOperation):
    """A part of a vector; the dimensions that are not named are taken whole.

    ```
    %r = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]}
        : vector<4x8x16xf32> to vector<2x4x16xf32>
    ```
    """

    name = "vector.extract_strided_slice"

    source = operand_def(VECTOR_WITH_DIMENSIONS)
    offsets = prop_def(_NUMBERS)
    sizes = prop_def(_NUMBERS)
    strides = prop_def(_NUMBERS)
    result = result_def(VECTOR_WITH_DIMENSIONS)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    @override
    def verify_(self) -> None:
        whole = dimensions_of(vector_type(self.source))
        offsets, sizes = numbers_of(self.offsets), numbers_of(self.sizes)
        strides = numbers_of(self.strides)
        if not len(offsets) == len(sizes) == len(strides):
            raise VerifyException("offsets, sizes and strides must have the same length")
        if len(offsets) > len(whole):
            raise VerifyException(f"{self.source.type} has only {len(whole)} dimensions")
        verify_strides(strides)
        for offset, size, limit in zip(offsets, sizes, whole, strict=False):
            verify_inside(offset, size, limit)
        named = [
            Dimension(size, dimension.is_scalable)
            for size, dimension in zip(sizes, whole, strict=False)
        ]
        expected = make_vector(element_type(self.source), [*named, *whole[len(named) :]])
        verify_type(self.result.type, expected, "the result")


@op_definition
class InsertStridedSliceOp(IRDLOperation):
    """A vector with a part replaced.

    ```
    %r = vector.insert_strided_slice %part, %v {offsets = [0, 0, 2], strides = [1, 1]}
        : vector<2x4xf32> into vector<16x4x8xf32>
    ```
    """

    name = "vector.insert_strided_slice"

    T: ClassVar = VarConstraint("T", VECTOR_WITH_DIMENSIONS)

    valueToStore = operand_def(VECTOR_WITH_DIMENSIONS)  # noqa: N815
    dest = operand_def(T)
    offsets = prop_def(_NUMBERS)
    strides = prop_def(_NUMBERS)
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"

    @override
    def verify_(self) -> None:
        part = dimensions_of(vector_type(self.valueToStore))
        whole = dimensions_of(vector_type(self.dest))
        verify_elements(self.valueToStore.type, element_type(self.dest), "the part")
        offsets, strides = numbers_of(self.offsets), numbers_of(self.strides)
        if len(offsets) != len(whole):
            raise VerifyException(f"expected {len(whole)} offsets, got {len(offsets)}")
        if len(strides) != len(part):
            raise VerifyException(f"expected {len(part)} strides, got {len(strides)}")
        if len(part) > len(whole):
            raise VerifyException(
                f"the part may have at most {len(whole)} dimensions, got {self.valueToStore.type}"
            )
        verify_strides(strides)
        leading = len(whole) - len(part)
        for offset, limit in zip(offsets, whole[:leading], strict=False):
            verify_inside(offset, 1, Dimension(limit.size, is_scalable=False))
        for offset, size, limit in zip(offsets[leading:], part, whole[leading:], strict=True):
            if size.is_scalable != limit.is_scalable:
                raise VerifyException(f"a dimension {size} cannot be a part of {limit}")
            verify_inside(offset, size.size, limit)


def verify_strides(strides: Sequence[int]) -> None:
    """Checks that slices have no gaps, as upstream asks.

    Raises:
        VerifyException: A stride is not 1.
    """
    if any(stride != 1 for stride in strides):
        raise VerifyException(f"strides must be 1, got {list(strides)}")


def verify_inside(offset: int, size: int, limit: Dimension) -> None:
    """Checks that a slice lies in a dimension, and covers it if that is scalable.

    Raises:
        VerifyException: It does not.
    """
    if limit.is_scalable and (offset, size) != (0, limit.size):
        raise VerifyException(
            f"a scalable dimension {limit} can only be taken whole, got {size} elements from "
            f"{offset} on"
        )
    if size < 1 or offset < 0 or offset + size > limit.size:
        raise VerifyException(
            f"{size} elements from {offset} on are not inside of a dimension of {limit}"
        )


@op_definition
class ScalableInsertOp(IRDLOperation):
    """A scalable vector with a part replaced, which begins at a multiple of its length.

    ```
    %r = vector.scalable.insert %part, %v[8] : vector<4xf32> into vector<[16]xf32>
    ```
    """

    name = "vector.scalable.insert"

    T: ClassVar = VarConstraint("T", SCALABLE_LINE)

    valueToStore = operand_def(LINE)  # noqa: N815
    dest = operand_def(T)
    pos = prop_def(IntegerAttr[I64])
    result = result_def(T)

    traits = traits_def(Pure())

    assembly_format = (
        "$valueToStore `,` $dest `[` $pos `]` attr-dict `:` type($valueToStore) `into` type($dest)"
    )

    @override
    def verify_(self) -> None:
        verify_elements(self.valueToStore.type, element_type(self.dest), "the part")
        _verify_multiple(self.pos.value.data, shape_of(self.valueToStore))


@op_definition
class ScalableExtractOp(IRDLOperation):
    """A part of a scalable vector, which begins at a multiple of its length.

    ```
    %r = vector.scalable.extract %v[8] : vector<4xf32> from vector<[16]xf32>
    ```
    """

    name = "vector.scalable.extract"

    source = operand_def(SCALABLE_LINE)
    pos = prop_def(IntegerAttr[I64])
    result = result_def(LINE)

    traits = traits_def(Pure())

    assembly_format = "$source `[` $pos `]` attr-dict `:` type($result) `from` type($source)"

    @override
    def verify_(self) -> None:
        verify_elements(self.result.type, element_type(self.source), "the result")
        _verify_multiple(self.pos.value.data, shape_of(self.result))


def _verify_multiple(position: int, shape: Sequence[int]) -> None:
    length = prod(shape)
    if position % length:
        raise VerifyException(
            f"the position must be a multiple of the part's length {length}, got {position}"
        )
