"""What operations on vectors of any dialect ask of their types and of their affine maps."""

from __future__ import annotations

from typing import TypeAlias, cast

from xdsl.dialects.builtin import AffineMapAttr, FixedBitwidthType, VectorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.utils.exceptions import VerifyException

from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.walk import types_in

AnyVector: TypeAlias = VectorType[Attribute]
"""A vector of anything."""

_INDEX_BITS = 64


def as_vector(type: Attribute) -> AnyVector | None:
    """A type as a vector type; None if it is none."""
    # `isinstance` takes long for attributes.
    return cast("AnyVector", type) if type.__class__ is VectorType else None


def has_vectors(root: Operation) -> bool:
    """Whether an operation defines values that are vectors."""
    return any(type.__class__ is VectorType for type in types_in(root))


def vector_type(value: SSAValue) -> AnyVector:
    """The type of a vector."""
    return cast("AnyVector", value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a vector's dimensions."""
    return vector_type(value).get_shape()


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """The type of as many elements of another type as there are in a vector or in a number."""
    vector = as_vector(type)
    return element if vector is None else vector_of(vector.get_shape(), element)


def verify_type(given: Attribute, expected: Attribute, what: str) -> None:
    """Checks a type.

    Raises:
        VerifyException: It is another type.
    """
    if given != expected:
        raise VerifyException(f"{what} must be {expected}, but is {given}")


def bits_of(type: Attribute) -> int:
    """The width of an element; `index` has 64 bits."""
    if isinstance(type, FixedBitwidthType):
        return type.bitwidth
    return _INDEX_BITS


def dimensions_of(map: Attribute) -> list[int | None]:
    """The dimension that each result of an attribute with an affine map is; None: a constant."""
    results = cast(AffineMapAttr, map).data.results
    return [each.position if isinstance(each, AffineDimExpr) else None for each in results]
