"""What every operation on vectors asks of its operands' types.

Source: MLIR (LLVM 22), `IR/CommonTypeConstraints.td`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    IndexType,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from xtile.dialects.shapes import AnyVector, as_vector, vector_type
from xtile.dialects.upstream import TypeWhere, is_float


class Dimension(NamedTuple):
    """A dimension of a vector.

    Attributes:
        size: Its size; that for each unit of the scale, if it is scalable.
        is_scalable: Whether the size is a multiple that is known at run time only.
    """

    size: int
    is_scalable: bool

    @override
    def __str__(self) -> str:
        return f"[{self.size}]" if self.is_scalable else str(self.size)


@cache
def vector_of(element: Attribute, length: int) -> AnyVector:
    """The type of a vector of one dimension; translations ask for few of them, again and again."""
    return VectorType(element, [length])


def element_type(value: SSAValue) -> Attribute:
    """The type of a vector's elements."""
    return vector_type(value).element_type


def dimensions_of(type: AnyVector) -> tuple[Dimension, ...]:
    """The dimensions of a vector."""
    return tuple(
        Dimension(size, bool(is_scalable))
        for size, is_scalable in zip(type.get_shape(), type.get_scalable_dims(), strict=True)
    )


def make_vector(element: Attribute, dimensions: Sequence[Dimension]) -> AnyVector:
    """The vector type with these elements and dimensions."""
    scalable = ArrayAttr(BoolAttr.from_bool(dimension.is_scalable) for dimension in dimensions)
    return VectorType(element, [dimension.size for dimension in dimensions], scalable)


def mask_type(type: AnyVector) -> AnyVector:
    """The type of a mask for the elements of a vector."""
    return make_vector(i1, dimensions_of(type))


def is_truth(type: Attribute) -> bool:
    """Whether this is `i1`."""
    return type == i1


def _vectors(
    description: str,
    element: Callable[[Attribute], bool] = lambda _: True,
    dimensions: Callable[[Sequence[Dimension]], bool] = lambda _: True,
) -> TypeWhere:
    def holds(type: Attribute) -> bool:
        given = as_vector(type)
        return (
            given is not None and element(given.element_type) and dimensions(dimensions_of(given))
        )

    return TypeWhere(description, holds)


def _are_some(dimensions: Sequence[Dimension]) -> bool:
    return len(dimensions) > 0


def _is_one(dimensions: Sequence[Dimension]) -> bool:
    return len(dimensions) == 1


def _are_fixed(dimensions: Sequence[Dimension]) -> bool:
    return not any(dimension.is_scalable for dimension in dimensions)


def _is_position(type: Attribute) -> bool:
    return isa(type, IntegerType | IndexType)


VECTOR = _vectors("a vector")
VECTOR_WITH_DIMENSIONS = _vectors("a vector with dimensions", dimensions=_are_some)
FIXED_VECTOR = _vectors("a vector without scalable dimensions", dimensions=_are_fixed)
LINE = _vectors("a vector with one dimension", dimensions=_is_one)
SCALABLE_LINE = _vectors(
    "a vector with one scalable dimension",
    dimensions=lambda dimensions: _is_one(dimensions) and not _are_fixed(dimensions),
)
INDEX_LINE = _vectors(
    "a vector of index with one dimension", lambda type: isinstance(type, IndexType), _is_one
)
FLOAT_VECTOR = _vectors("a vector of floats", is_float)
INDICES = _vectors("a vector of integers or index with dimensions", _is_position, _are_some)
TRUTH_VECTOR = _vectors("a vector of i1", is_truth)
MASK = _vectors("a vector of i1 with dimensions", is_truth, _are_some)
FIXED_MASK = _vectors(
    "a vector of i1 with dimensions that are not scalable",
    is_truth,
    lambda dimensions: _are_some(dimensions) and _are_fixed(dimensions),
)


def verify_elements(type: Attribute, element: Attribute, what: str) -> None:
    """Checks the elements of a vector, or a scalar.

    Raises:
        VerifyException: They are of another type.
    """
    given = as_vector(type)
    if (type if given is None else given.element_type) != element:
        raise VerifyException(f"{what} must have elements of type {element}, got {type}")
