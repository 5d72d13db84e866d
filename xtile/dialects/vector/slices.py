"""Rectangular parts of vectors.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from typing_extensions import override
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, VectorType
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.vector.shapes import check_result
from xtile.dialects.vector.types import element_type, shape_of, vector_type

_NUMBERS = ArrayAttr[IntegerAttr]


def numbers_of(attribute: _NUMBERS) -> list[int]:
    """The numbers in a list of integer attributes."""
    return [cast("IntegerAttr[IntegerType]", number).value.data for number in attribute]


@irdl_op_definition
class ExtractStridedSliceOp(IRDLOperation):
    """A part of a vector; the dimensions that are not named are taken whole.

    ```
    %r = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [2, 4], strides = [1, 1]}
        : vector<4x8x16xf32> to vector<2x4x16xf32>
    ```
    """

    name = "vector.extract_strided_slice"

    source = operand_def(VectorType)
    offsets = prop_def(_NUMBERS)
    sizes = prop_def(_NUMBERS)
    strides = prop_def(_NUMBERS)
    result = result_def(VectorType)

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    @override
    def verify_(self) -> None:
        shape = shape_of(self.source)
        offsets, sizes = numbers_of(self.offsets), numbers_of(self.sizes)
        strides = numbers_of(self.strides)
        if not len(offsets) == len(sizes) == len(strides):
            raise VerifyException("offsets, sizes and strides must have the same length")
        if len(offsets) > len(shape):
            raise VerifyException(f"{shape} has only {len(shape)} dimensions")
        check_strides(strides)
        for size, offset, whole in zip(sizes, offsets, shape, strict=False):
            if size < 1 or offset < 0 or offset + size > whole:
                raise VerifyException(
                    f"elements {offset} to {offset + size - 1} are not inside of a dimension of "
                    f"size {whole}"
                )
        expected = VectorType(element_type(self.source), [*sizes, *shape[len(sizes) :]])
        check_result(self.result.type, expected)


@irdl_op_definition
class InsertStridedSliceOp(IRDLOperation):
    """A vector with a part replaced.

    ```
    %r = vector.insert_strided_slice %part, %v {offsets = [0, 0, 2], strides = [1, 1]}
        : vector<2x4xf32> into vector<16x4x8xf32>
    ```
    """

    name = "vector.insert_strided_slice"

    T: ClassVar = VarConstraint("T", base(VectorType))

    valueToStore = operand_def(VectorType)  # noqa: N815
    dest = operand_def(T)
    offsets = prop_def(_NUMBERS)
    strides = prop_def(_NUMBERS)
    res = result_def(T)

    traits = traits_def(Pure())
    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)"

    @override
    def verify_(self) -> None:
        part, whole = shape_of(self.valueToStore), shape_of(self.dest)
        offsets, strides = numbers_of(self.offsets), numbers_of(self.strides)
        if len(offsets) != len(whole):
            raise VerifyException(f"expected {len(whole)} offsets, got {len(offsets)}")
        if len(part) > len(whole):
            raise VerifyException(f"{vector_type(self.dest)} has fewer dimensions than the part")
        if len(strides) != len(part):
            raise VerifyException(f"expected {len(part)} strides, got {len(strides)}")
        check_strides(strides)
        sizes = [1] * (len(whole) - len(part)) + list(part)
        for size, offset, limit in zip(sizes, offsets, whole, strict=True):
            if offset < 0 or offset + size > limit:
                raise VerifyException(
                    f"elements {offset} to {offset + size - 1} are not inside of a dimension of "
                    f"size {limit}"
                )


def check_strides(strides: Sequence[int]) -> None:
    """Checks that slices have no gaps, as upstream asks.

    Raises:
        VerifyException: A stride is not 1.
    """
    if any(stride != 1 for stride in strides):
        raise VerifyException(f"strides must be 1, got {list(strides)}")
