"""Single elements and leading parts of vectors, at positions.

Source: MLIR (LLVM 22), `Dialect/Vector/IR/VectorOps.td` and `VectorOps.cpp`.
"""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override
from xdsl.dialects import vector
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Attribute
from xdsl.irdl import AnyAttr, VarConstraint
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.shapes import AnyVector, as_vector, vector_type, verify_type
from xtile.dialects.upstream import completes
from xtile.dialects.vector.types import VECTOR, Dimension, dimensions_of, make_vector
from xtile.text.extensions import Extension, Table

_POISON = -1
"""The position of an element that holds no value."""


@completes(operands={"vector": VECTOR}, results={"result": AnyAttr()})
class ExtractOp(vector.ExtractOp):
    """An element of a vector, or the part that has the position; -1 is a position of poison.

    ```
    %r = vector.extract %v[2, %i] : vector<16xf32> from vector<4x8x16xf32>
    ```
    """

    @override
    def verify_(self) -> None:
        whole = vector_type(self.vector)
        positions: Sequence[int] = self.static_position.get_values()
        _verify_positions(positions, len(self.dynamic_position), whole)
        verify_no_empty_shape(self.result.type, "the result")
        expected = _part_of(whole, len(positions))
        if _scalar_of(self.result.type) != _scalar_of(expected):
            verify_type(self.result.type, expected, "the result")


_WHOLE = VarConstraint("WHOLE", VECTOR)


def _verify_insert(operation: vector.InsertOp) -> None:
    """`vector.insert`: a vector with an element replaced, or the part that has the position.

    ```
    %r = vector.insert %part, %v [2, %i] : vector<16xf32> into vector<4x8x16xf32>
    ```
    """
    whole = vector_type(operation.dest)
    positions: Sequence[int] = operation.static_position.get_values()
    _verify_positions(positions, len(operation.dynamic_position), whole)
    verify_no_empty_shape(operation.source.type, "what is inserted")
    # MLIR compares the numbers of dimensions only, and takes parts that do not fit.
    verify_type(operation.source.type, _part_of(whole, len(positions)), "what is inserted")


def verify_no_empty_shape(type: Attribute, what: str) -> None:
    """Checks that a type is no vector without dimensions, in whose position a scalar must stand.

    Raises:
        VerifyException: It is one.
    """
    part = as_vector(type)
    if part is not None and part.get_num_dims() == 0:
        raise VerifyException(f"{what} must be {part.element_type}, got {type}")


def _verify_positions(positions: Sequence[int], operands: int, whole: AnyVector) -> None:
    """Checks that positions lie within a vector."""
    dimensions = dimensions_of(whole)
    dynamic = list(positions).count(DYNAMIC_INDEX)
    if dynamic != operands:
        raise VerifyException(f"expected {dynamic} positions as operands, got {operands}")
    if len(positions) > len(dimensions):
        raise VerifyException(f"expected at most {len(dimensions)} positions, got {len(positions)}")
    for position, dimension in zip(positions, dimensions, strict=False):
        is_known = position not in (DYNAMIC_INDEX, _POISON)
        if is_known and not 0 <= position < dimension.size:
            raise VerifyException(
                f"a position in a dimension {dimension} must be from 0 to {dimension.size - 1}, "
                f"or -1 for poison, got {position}"
            )


def _part_of(whole: AnyVector, positions: int) -> Attribute:
    """Returns the type of what so many positions lead to."""
    rest = dimensions_of(whole)[positions:]
    return make_vector(whole.element_type, rest) if rest else whole.element_type


def _scalar_of(type: Attribute) -> Attribute:
    """Returns the element of a vector of one element, which MLIR takes for the vector."""
    part = as_vector(type)
    if part is not None and dimensions_of(part) == (Dimension(1, is_scalable=False),):
        return part.element_type
    return type


EXTENSIONS: Table = {
    vector.InsertOp: Extension(
        operands={"source": AnyAttr(), "dest": _WHOLE},
        results={"result": _WHOLE},
        verify=_verify_insert,
    ),
}
"""What LLVM says of xDSL's operations of this module."""
