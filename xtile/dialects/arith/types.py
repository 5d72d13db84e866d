"""What `arith` asks of types: shapes, widths, and truth values of a shape.

Source: MLIR (LLVM 22), `Dialect/Arith/IR/ArithOps.td` and `ArithOps.cpp`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    AnyFloat,
    FixedBitwidthType,
    IntegerType,
    MemRefType,
    TensorType,
    UnrankedTensorType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.upstream import TypeWhere, is_signless_integer, like, value_type

FIXED_WIDTH_INTEGER_LIKE = TypeWhere(
    "a signless integer, or a vector or tensor of them", like(is_signless_integer)
)
BOOLEAN_LIKE = TypeWhere("an i1, or a vector or tensor of i1", like(lambda type: type == i1))


def with_elements(type: Attribute, element: Attribute) -> Attribute:
    """Returns a scalar, vector or tensor type with another element type."""
    if isa(type, VectorType):
        return VectorType(element, type.shape, type.scalable_dims)
    if isa(type, TensorType):
        return TensorType(element, type.shape, type.encoding)
    if isa(type, UnrankedTensorType):
        return UnrankedTensorType(element)
    return element


def truth_type(type: Attribute) -> Attribute:
    """Returns the type of a truth value for every element: `vector<4xi1>` of `vector<4xf32>`."""
    return with_elements(type, i1)


def verify_same_shape(one: Attribute, other: Attribute) -> None:
    """Checks that two types are both scalars, or containers of one kind and shape.

    Raises:
        VerifyException: They are not.
    """
    if isa(one, MemRefType) and isa(other, MemRefType):
        same = (one.shape, one.layout, one.memory_space) == (
            other.shape,
            other.layout,
            other.memory_space,
        )
    else:
        same = truth_type(one) == truth_type(other)
    if not same:
        raise VerifyException(f"expected equal shapes, got {one} and {other}")


def width_of(type: Attribute) -> int:
    """Returns the bits of an integer or float, or of the elements of a vector or tensor.

    Raises:
        VerifyException: The type has no fixed width.
    """
    element = value_type(type)
    if not isinstance(element, FixedBitwidthType) or not isa(element, IntegerType | AnyFloat):
        raise VerifyException(f"{type} has no fixed width")
    return element.bitwidth


def verify_wider(source: Attribute, result: Attribute) -> None:
    """Checks that a result has more bits than the source.

    Raises:
        VerifyException: It has not, or has another shape.
    """
    verify_same_shape(source, result)
    if width_of(result) <= width_of(source):
        raise VerifyException(f"expected a result wider than {source}, got {result}")


def verify_narrower(source: Attribute, result: Attribute) -> None:
    """Checks that a result has fewer bits than the source.

    Raises:
        VerifyException: It has not, or has another shape.
    """
    verify_same_shape(source, result)
    if width_of(result) >= width_of(source):
        raise VerifyException(f"expected a result narrower than {source}, got {result}")
