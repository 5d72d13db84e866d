"""What the types of the tensor language become.

A memref's modes are reversed, because the tensor language counts the contiguous one first and
upstream counts it last; a cooperative matrix is the two-dimensional vector of its transpose.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace as CoreAddressSpace
from xtile.dialects.shapes import as_vector
from xtile.dialects.shared_attributes import vector_of
from xtile.dialects.tensorlang.attributes import AddressSpace
from xtile.dialects.tensorlang.types import (
    DYNAMIC,
    CoopmatrixType,
    GroupType,
    MemrefType,
    real_part_type,
)

WORKGROUP = AddressSpaceAttr(CoreAddressSpace.WORKGROUP)
"""The address space of local memory."""

OptionalSizes: TypeAlias = Sequence[int | None]
"""Sizes or strides, outermost first; None where only known at run time."""


def core_type(type: Attribute) -> Attribute:
    """What a type becomes; scalars stay as they are.

    A matrix of complex numbers becomes two values of the type (`complex_matrices.py`).
    """
    if isinstance(type, MemrefType):
        return memref_type(type)
    if isinstance(type, GroupType):
        return MemRefType(memref_type(type.element), [_dynamic_index(type.size)])
    if isinstance(type, CoopmatrixType):
        return matrix_type(type)
    return type


@lru_cache(256)
def memref_type(type: MemrefType) -> MemRefType:
    """The memref with the modes reversed, which starts at its first element."""
    space = WORKGROUP if type.address_space is AddressSpace.LOCAL else NoneAttr()
    shape = [_optional(size) for size in reversed(type.shape)]
    strides = [_optional(stride) for stride in reversed(type.strides)]
    return strided_type(type.element_type, shape, strides, 0, space)


def matrix_type(type: CoopmatrixType) -> VectorType:
    """The vector of the transposed matrix; of a complex one, that of the parts of either kind."""
    return vector_of((type.columns, type.rows), real_part_type(type.component_type))


def strided_type(
    element: Attribute,
    shape: OptionalSizes,
    strides: OptionalSizes,
    offset: int | None,
    space: Attribute,
) -> MemRefType:
    """A memref; without a layout where the packed one is known to be right.

    Args:
        element: The element type.
        shape: The sizes.
        strides: The strides in elements.
        offset: The first element's position in elements, None where only known at run time.
        space: The memory space.
    """
    sizes = [DYNAMIC_INDEX if size is None else size for size in shape]
    is_packed = offset == 0 and list(strides) == _packed_strides(shape)
    layout = NoneAttr() if is_packed else StridedLayoutAttr(strides, offset)
    return MemRefType(element, sizes, layout, space)


def _packed_strides(shape: OptionalSizes) -> list[int | None] | None:
    """The strides of the packed layout; None where they are only known at run time."""
    inner = [shape[dimension + 1 :] for dimension in range(len(shape))]
    if any(size is None for sizes in inner for size in sizes):
        return None
    return [math.prod(size for size in sizes if size is not None) for sizes in inner]


def type_of(memref: SSAValue) -> MemRefType:
    """The type of a translated memref."""
    assert type(memref.type) is MemRefType
    return memref.type


def shape_of(type: MemRefType) -> list[int | None]:
    """The sizes of a memref; None where only known at run time."""
    return [_optional(size) for size in type.get_shape()]


def strides_of(type: MemRefType) -> list[int | None]:
    """The strides of a memref in elements; None where only known at run time."""
    strides = type.get_strides()
    assert strides is not None, "the translation makes strided memrefs only"
    return list(strides)


def offset_of(type: MemRefType) -> int | None:
    """Where a memref's first element is, in elements; None where only known at run time."""
    return type.get_offset()


def element_of(type: Attribute) -> Attribute:
    """The element type of a vector; any other type itself."""
    vector = as_vector(type)
    return type if vector is None else vector.element_type


def with_element(type: Attribute, element: Attribute) -> Attribute:
    """A vector of the same shape with another element type; for a scalar, that type."""
    vector = as_vector(type)
    return element if vector is None else vector_of(vector.get_shape(), element)


def is_index(type: Attribute) -> bool:
    """Whether a type is `index`."""
    return isinstance(type, IndexType)


def _optional(size: int) -> int | None:
    return None if size == DYNAMIC else size


def _dynamic_index(size: int) -> int:
    return DYNAMIC_INDEX if size == DYNAMIC else size
