"""Vectors of another shape with the same elements.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from math import prod

from typing_extensions import override
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.vector.types import element_type, shape_of


@irdl_op_definition
class ShapeCastOp(IRDLOperation):
    """The elements in the same row-major order with another shape.

    ```
    %r = vector.shape_cast %v : vector<2x3xf32> to vector<6xf32>
    ```
    """

    name = "vector.shape_cast"

    source = operand_def(VectorType)
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    @override
    def verify_(self) -> None:
        if element_type(self.source) != element_type(self.result):
            raise VerifyException(
                f"the elements stay {element_type(self.source)}, got {element_type(self.result)}"
            )
        given, made = prod(shape_of(self.source)), prod(shape_of(self.result))
        if given != made:
            raise VerifyException(f"the result must have {given} elements too, but has {made}")


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """Dimension i of the result is dimension `permutation[i]` of the operand.

    ```
    %r = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
    ```
    """

    name = "vector.transpose"

    vector = operand_def(VectorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType)

    traits = traits_def(Pure())

    assembly_format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"

    @override
    def verify_(self) -> None:
        permutation: list[int] = list(self.permutation.get_values())
        shape = shape_of(self.vector)
        if sorted(permutation) != list(range(len(shape))):
            raise VerifyException(
                f"the permutation must name each of the {len(shape)} dimensions once, "
                f"got {permutation}"
            )
        expected = VectorType(element_type(self.vector), [shape[i] for i in permutation])
        check_result(self.result.type, expected)


def check_result(given: Attribute, expected: Attribute) -> None:
    """Checks the type of a result.

    Raises:
        VerifyException: It is another type.
    """
    if given != expected:
        raise VerifyException(f"the result must be {expected}, but is {given}")
