"""What the types of Triton become.

A tensor becomes a vector, a pointer one of the core form, a descriptor the memref that it
describes; layouts are left out, because they say where elements are and not what they are.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, NoneAttr, StridedLayoutAttr, VectorType
from xdsl.ir import Attribute

from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.triton.operation import as_tensor
from xtile.dialects.triton.tt.types import PointerType, TensorDescType


def core_type(type_: Attribute) -> Attribute:
    """What a type becomes.

    Raises:
        ValueError: Nothing; the message says why.
    """
    tensor = as_tensor(type_)
    if tensor is not None:
        element, shape = core_type(tensor.element_type), tensor.get_shape()
        return VectorType(element, shape) if shape else element
    if isinstance(type_, PointerType):
        if type_.is_block:
            raise ValueError(f"{type_} cannot be an argument of a function of the core form")
        return CorePointerType.to(type_.pointee)
    if isinstance(type_, TensorDescType):
        return memref_of(type_)
    return type_


def memref_of(descriptor: TensorDescType) -> MemRefType[Attribute]:
    """The memref that a descriptor describes, whose last stride is 1."""
    block = descriptor.block_type
    rank = len(block.get_shape())
    strides = [*[NoneAttr()] * (rank - 1), 1]
    return MemRefType(block.element_type, [DYNAMIC_INDEX] * rank, StridedLayoutAttr(strides, 0))
