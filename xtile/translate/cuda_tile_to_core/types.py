"""What the types of CUDA Tile IR become.

A tile becomes a vector, and one without dimensions a scalar; a view becomes the memref of its
tensor, because the view's type says the rest; a token becomes nothing.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.cuda_tile.types import (
    PointerType,
    TensorViewType,
    TileType,
    TileView,
    TokenType,
    element_bits,
)
from xtile.dialects.shared_attributes import vector_of

_HALF_BYTE = 4


def core_type(type_: Attribute) -> Attribute:
    """What a type becomes.

    Raises:
        ValueError: Nothing; the message says why.
    """
    if isinstance(type_, TileType):
        element = element_of(type_)
        return vector_of(type_.get_shape(), element) if type_.rank else element
    if isinstance(type_, TileView):
        return memref_of(type_.tensor_view)
    if isinstance(type_, TensorViewType):
        return memref_of(type_)
    raise ValueError(f"there is no {type_} in the core form")


def element_of(tile: TileType) -> Attribute:
    """What the type of a tile's elements becomes.

    Raises:
        ValueError: They are pointers to elements of which two share a byte.
    """
    element = tile.element_type
    if not isinstance(element, PointerType):
        return element
    _check_bytes(element.pointee_type)
    return CorePointerType.to(element.pointee_type)


def memref_of(tensor: TensorViewType) -> MemRefType[Attribute]:
    """The memref that a tensor is.

    Raises:
        ValueError: Two of its elements share a byte.
    """
    _check_bytes(tensor.element_type)
    strides = [NoneAttr() if each == DYNAMIC_INDEX else each for each in tensor.get_strides()]
    return MemRefType(tensor.element_type, tensor.get_shape(), StridedLayoutAttr(strides, 0))


def _check_bytes(element: Attribute) -> None:
    """Checks that each element of memory has bytes of its own.

    Raises:
        ValueError: It has not.
    """
    if element_bits(element) == _HALF_BYTE:
        raise ValueError(
            f"memory of {element} holds two in a byte here and one in the core form; keep i8 in "
            "memory, and use unpack and pack"
        )


def is_token(value: SSAValue) -> bool:
    """Whether a value is an order, which the text of the core form has already."""
    return isinstance(value.type, TokenType)
