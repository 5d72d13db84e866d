"""Vectors of another shape or element type with the same content.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from math import prod

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.definitions import op_definition
from xtile.dialects.shapes import as_vector, bits_of, shape_of, vector_type, verify_type
from xtile.dialects.upstream import completes
from xtile.dialects.vector.types import (
    VECTOR,
    Dimension,
    dimensions_of,
    element_type,
    make_vector,
    verify_elements,
)
from xtile.text.extensions import Extension, Table


@op_definition
class ShapeCastOp(IRDLOperation):
    """The elements in the same row-major order with another shape.

    ```
    %r = vector.shape_cast %v : vector<2x3xf32> to vector<6xf32>
    ```
    """

    name = "vector.shape_cast"

    source = operand_def(VECTOR)
    result = result_def(VECTOR)

    traits = traits_def(Pure())

    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    @override
    def verify_(self) -> None:
        source, result = vector_type(self.source), vector_type(self.result)
        verify_elements(result, source.element_type, "the result")
        given, made = prod(source.get_shape()), prod(result.get_shape())
        if given != made:
            raise VerifyException(f"the result must have {given} elements too, but has {made}")
        scalable = source.get_num_scalable_dims()
        if result.get_num_scalable_dims() != scalable:
            raise VerifyException(f"the result must have {scalable} scalable dimensions too")


@op_definition
class TransposeOp(IRDLOperation):
    """Dimension i of the result is dimension `permutation[i]` of the operand.

    ```
    %r = vector.transpose %v, [1, 0] : vector<2x3xf32> to vector<3x2xf32>
    ```
    """

    name = "vector.transpose"

    vector = operand_def(VECTOR)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VECTOR)

    traits = traits_def(Pure())

    assembly_format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)"

    @override
    def verify_(self) -> None:
        permutation: list[int] = list(self.permutation.get_values())
        dimensions = dimensions_of(vector_type(self.vector))
        if sorted(permutation) != list(range(len(dimensions))):
            raise VerifyException(
                f"the permutation must name each of the {len(dimensions)} dimensions once, "
                f"got {permutation}"
            )
        expected = make_vector(element_type(self.vector), [dimensions[i] for i in permutation])
        # As in MLIR, which dimensions are scalable is not compared.
        if shape_of(self.result) != expected.get_shape():
            verify_type(self.result.type, expected, "the result")
        verify_elements(self.result.type, expected.element_type, "the result")


@completes(operands={"source": VECTOR}, results={"result": VECTOR}, traits=(Pure(),))
class BitCastOp(vector.BitcastOp):
    """The bits of the rows of a vector as elements of another type.

    ```
    %r = vector.bitcast %v : vector<4x8xi8> to vector<4x2xi32>
    ```
    """

    @override
    def verify_(self) -> None:
        source, result = shape_of(self.source), shape_of(self.result)
        if len(source) != len(result):
            raise VerifyException(
                f"the result must have {len(source)} dimensions too, got {self.result.type}"
            )
        if source[:-1] != result[:-1]:
            raise VerifyException(
                "all dimensions but the last must stay the same, got "
                f"{self.source.type} and {self.result.type}"
            )
        given = bits_of(element_type(self.source)) * prod(source[-1:])
        made = bits_of(element_type(self.result)) * prod(result[-1:])
        if given != made:
            raise VerifyException(f"a row has {given} bits, but a row of the result {made}")


def _verify_broadcast(operation: vector.BroadcastOp) -> None:
    """`vector.broadcast`: repeats a value along new leading dimensions and those of size 1.

    ```
    %r = vector.broadcast %v : vector<4x1xf32> to vector<2x4x8xf32>
    ```
    """
    result = vector_type(operation.vector)
    verify_broadcast(operation.source.type, result)


def verify_broadcast(source: Attribute, result: Attribute) -> None:
    """Checks that a value can be repeated to fill a vector.

    Raises:
        VerifyException: It cannot.
    """
    target = as_vector(result)
    assert target is not None
    verify_elements(source, target.element_type, "the source")
    given = as_vector(source)
    if given is None:
        return
    old, new = dimensions_of(given), dimensions_of(target)
    if len(old) > len(new):
        raise VerifyException(
            f"the source may have at most {len(new)} dimensions as the result has, got {given}"
        )
    for one, other in zip(old, new[len(new) - len(old) :], strict=True):
        if not _can_repeat(one, other):
            raise VerifyException(f"a dimension {one} cannot be repeated to {other}; only 1 can")


def _can_repeat(one: Dimension, other: Dimension) -> bool:
    return one in (other, Dimension(1, is_scalable=False))


EXTENSIONS: Table = {
    vector.BroadcastOp: Extension(verify=_verify_broadcast),
}
"""What LLVM says of xDSL's operations of this module."""
