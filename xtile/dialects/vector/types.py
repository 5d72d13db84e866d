"""What every operation on vectors asks of its operands' types."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue


def vector_type(value: SSAValue) -> VectorType[Attribute]:
    """The type of a vector."""
    return cast("VectorType[Attribute]", value.type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The sizes of a vector's dimensions."""
    return vector_type(value).get_shape()


def element_type(value: SSAValue) -> Attribute:
    """The type of a vector's elements."""
    return vector_type(value).element_type
