"""Vectors put together from the elements of two, and taken apart.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    operand_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import shape_of, vector_type, verify_type
from xtile.dialects.vector.types import (
    VECTOR,
    VECTOR_WITH_DIMENSIONS,
    Dimension,
    dimensions_of,
    element_type,
    make_vector,
)
from xtile.text.extensions import Extension, Table


def _verify_shuffle(operation: vector.ShuffleOp) -> None:
    """`vector.shuffle`: rows of two vectors in any order.

    Those of the second are counted on, and -1 is poison.

    ```
    %r = vector.shuffle %a, %b [0, 3, -1] : vector<2x4xf32>, vector<2x4xf32>
    ```
    """
    for value in (operation.v1, operation.v2):
        if vector_type(value).get_num_scalable_dims():
            raise VerifyException(f"scalable vectors cannot be shuffled, got {value.type}")
    one, other = shape_of(operation.v1), shape_of(operation.v2)
    if len(one) != len(other) or one[1:] != other[1:]:
        raise VerifyException(
            "expected vectors that differ in the first dimension only, got "
            f"{operation.v1.type} and {operation.v2.type}"
        )
    mask: Sequence[int] = operation.mask.get_values()
    if not mask:
        raise VerifyException("the mask must have at least one position")
    rows = one[0] + other[0] if one and other else 2
    for position in mask:
        if not -1 <= position < rows:
            raise VerifyException(
                f"a position of the mask must be from 0 to {rows - 1}, or -1 for poison, "
                f"got {position}"
            )
    if shape_of(operation.result) != (len(mask), *one[1:]):
        raise VerifyException(
            f"the result must have {len(mask)} rows as the mask has positions, "
            f"got {operation.result.type}"
        )


@op_definition
class InterleaveOp(IRDLOperation):
    """The elements of two vectors in turn along the last dimension.

    ```
    %r = vector.interleave %a, %b : vector<2x4xf32> -> vector<2x8xf32>
    ```
    """

    name = "vector.interleave"

    T: ClassVar = VarConstraint("T", VECTOR)

    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(VECTOR_WITH_DIMENSIONS)

    traits = traits_def(Pure())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    @override
    def verify_(self) -> None:
        *outer, last = dimensions_of(vector_type(self.lhs)) or (Dimension(1, is_scalable=False),)
        doubled = last._replace(size=2 * last.size)
        expected = make_vector(element_type(self.lhs), [*outer, doubled])
        verify_type(self.result.type, expected, "the result")


@op_definition
class DeinterleaveOp(IRDLOperation):
    """The elements at even and at odd positions of the last dimension.

    ```
    %even, %odd = vector.deinterleave %v : vector<2x8xf32> -> vector<2x4xf32>
    ```
    """

    name = "vector.deinterleave"

    T: ClassVar = VarConstraint("T", VECTOR_WITH_DIMENSIONS)

    source = operand_def(VECTOR_WITH_DIMENSIONS)
    res1 = result_def(T)
    res2 = result_def(T)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `->` type($res1)"

    @override
    def verify_(self) -> None:
        *outer, last = dimensions_of(vector_type(self.source))
        if last.size % 2:
            raise VerifyException(
                f"the last dimension must have an even number of elements, got {self.source.type}"
            )
        halved = last._replace(size=last.size // 2)
        expected = make_vector(element_type(self.source), [*outer, halved])
        verify_type(self.res1.type, expected, "a result")


EXTENSIONS: Table = {
    vector.ShuffleOp: Extension(verify=_verify_shuffle),
}
"""What LLVM says of xDSL's operations of this module."""
