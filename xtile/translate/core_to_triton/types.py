"""What the types of the core form become: vectors are tensors, and indices have 64 bits."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    Float8E8M0FNUType,
    FloatTF32Type,
    IndexType,
    TensorType,
    VectorType,
    f32,
    i8,
)
from xdsl.ir import Attribute

from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.triton.tt.types import PointerType, is_float, is_integer
from xtile.translate.tiles.types import INDEX, part_of, shape_of

_NIBBLE = "i4"


def element_of(type_: Attribute) -> Attribute:
    """The type of the elements of a vector or of a scalar, as Triton has it.

    Numbers of tf32 are f32 that are rounded, and scales the bytes that they are held in.

    Raises:
        ValueError: It has no such elements.
    """
    if isinstance(type_, VectorType):
        type_ = cast("VectorType[Attribute]", type_).element_type
    if isinstance(type_, IndexType):
        return INDEX
    if isinstance(type_, FloatTF32Type):
        return f32
    if isinstance(type_, Float8E8M0FNUType):
        return i8
    if isinstance(type_, CorePointerType):
        return pointer_to(type_.pointee_type)
    if not is_float(type_) and (not is_integer(type_) or str(type_) == _NIBBLE):
        raise ValueError(f"Triton has no tensors of {type_}")
    return type_


def is_of_tf32(type_: Attribute) -> bool:
    """Whether a vector or a scalar of the source has numbers of tf32."""
    element = getattr(type_, "element_type", type_)
    return isinstance(element, FloatTF32Type)


def is_of_scales(type_: Attribute) -> bool:
    """Whether a vector or a scalar of the source has scales, which are powers of two."""
    return isinstance(getattr(type_, "element_type", type_), Float8E8M0FNUType)


def pointer_to(element: Attribute) -> PointerType:
    """The type of a pointer to numbers in memory.

    Raises:
        ValueError: There are no such numbers.
    """
    return PointerType(element_of(part_of(element)))


def tensor(element: Attribute, shape: tuple[int, ...]) -> Attribute:
    """The type of a tensor; without dimensions that of a scalar."""
    return TensorType(element, shape) if shape else element


def tensor_of(type_: Attribute) -> Attribute:
    """The type of what a vector or a scalar becomes.

    Raises:
        ValueError: It has elements that tensors have not.
    """
    return tensor(element_of(type_), shape_of(type_))
