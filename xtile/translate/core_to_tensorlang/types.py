"""What the types of the core form become.

A memref's modes are reversed, because upstream counts the contiguous one last and the tensor
language counts it first; a vector of a subgroup is the cooperative matrix of its transpose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, VectorType, i1, i8
from xdsl.ir import Attribute

from xtile.dialects.gpu.attributes import AddressSpaceAttr
from xtile.dialects.gpu.enumerations import AddressSpace as CoreAddressSpace
from xtile.dialects.shapes import as_vector
from xtile.dialects.tensorlang.attributes import AddressSpace, MatrixUse
from xtile.dialects.tensorlang.types import (
    DYNAMIC,
    SCALAR_NAMES,
    CoopmatrixType,
    GroupType,
    MemrefType,
    canonical_strides,
    is_number,
)
from xtile.rewrite.memref_layouts import layout_of


def memref_of(type_: Attribute) -> MemRefType[Attribute]:
    """A type that is a memref's."""
    assert isinstance(type_, MemRefType)
    return cast("MemRefType[Attribute]", type_)


_LOCAL_SPACE_NUMBER = 3
"""What LLVM numbers local memory of OpenCL kernels as."""


def scalar_type(type_: Attribute) -> Attribute:
    """A scalar type, which stays what it is.

    Raises:
        ValueError: The tensor language does not have it.
    """
    if type_ not in SCALAR_NAMES:
        raise ValueError(f"the tensor language has no numbers of type {type_}")
    return type_


def memory_type(type_: Attribute) -> Attribute:
    """The type of a number in memory: a truth value is a byte there.

    Raises:
        ValueError: The tensor language has no memory of such numbers.
    """
    if type_ == i1:
        return i8
    if not is_number(type_):
        raise ValueError(f"the tensor language has no memory of {type_}")
    return type_


def is_local(type_: MemRefType[Attribute]) -> bool:
    """Whether memory belongs to a work-group or to a work-item."""
    space = type_.memory_space
    if isinstance(space, IntegerAttr):
        return cast("IntegerAttr[Any]", space).value.data == _LOCAL_SPACE_NUMBER
    return isinstance(space, AddressSpaceAttr) and space.data is not CoreAddressSpace.GLOBAL


def memref_type(type_: MemRefType[Attribute], *, local: bool | None = None) -> MemrefType:
    """The memref with its modes reversed.

    Args:
        type_: The type of the core form; its offset is left out.
        local: Whether it is local memory; None where its memory space tells.

    Raises:
        ValueError: The tensor language has no such memref.
    """
    layout = layout_of(type_)
    shape = [DYNAMIC if size is None else size for size in reversed(layout.sizes)]
    strides = [DYNAMIC if stride is None else stride for stride in reversed(layout.strides)]
    space = AddressSpace.LOCAL if (is_local(type_) if local is None else local) else None
    return strided(memory_type(type_.element_type), shape, strides, space or AddressSpace.GLOBAL)


def strided(
    element: Attribute,
    shape: Sequence[int],
    strides: Sequence[int] | None = None,
    space: AddressSpace = AddressSpace.GLOBAL,
) -> MemrefType:
    """A memref of the tensor language.

    A stride that is not known and follows a dynamic size is that of the packed layout in the text
    of both languages, unless a layout is written out; here it is left open.

    Raises:
        ValueError: The strides are not those of a column-major layout.
    """
    given = canonical_strides(shape) if strides is None else strides
    for mode, stride in enumerate(given):
        if stride != DYNAMIC and stride < 1:
            raise ValueError(f"the tensor language has no stride of {stride}")
        if mode and DYNAMIC not in (stride, given[mode - 1], shape[mode - 1]):
            least = given[mode - 1] * shape[mode - 1]
            if stride < least:
                raise ValueError(
                    f"a stride of {stride} is less than the {least} elements that the dimension "
                    "inside of it takes, which the tensor language does not have"
                )
    return MemrefType.get(element, shape, given, space)


def group_type(type_: MemRefType[Attribute]) -> GroupType:
    """The group that a memref of memrefs is.

    Raises:
        ValueError: There is no such group.
    """
    if type_.get_num_dims() != 1:
        raise ValueError("a group has one dimension")
    (size,) = type_.get_shape()
    entry = memref_type(memref_of(type_.element_type))
    return GroupType.get(entry, DYNAMIC if size == DYNAMIC_INDEX else size)


def is_group(type_: Attribute) -> bool:
    """Whether a type is a memref of memrefs."""
    return isinstance(type_, MemRefType) and isinstance(
        cast("MemRefType[Attribute]", type_).element_type, MemRefType
    )


def is_memref(type_: Attribute) -> bool:
    """Whether a type is a memref's."""
    return isinstance(type_, MemRefType)


def element_of(type_: Attribute) -> Attribute:
    """The element type of a vector; any other type itself."""
    vector = as_vector(type_)
    return type_ if vector is None else vector.element_type


def shape_of(type_: Attribute) -> tuple[int, ...]:
    """The shape of a vector; a scalar has none."""
    vector = as_vector(type_)
    return () if vector is None else vector.get_shape()


def matrix_type(type_: VectorType[Attribute], use: MatrixUse = MatrixUse.ACC) -> CoopmatrixType:
    """The cooperative matrix that is the transpose of a subgroup's vector.

    Raises:
        ValueError: There is none.
    """
    shape = type_.get_shape()
    if not 1 <= len(shape) <= 2:
        raise ValueError(f"a cooperative matrix has two dimensions, {type_} has {len(shape)}")
    if not is_number(type_.element_type):
        raise ValueError(f"the tensor language has no matrices of {type_.element_type}")
    rows, columns = shape[-1], shape[0] if len(shape) == 2 else 1
    return CoopmatrixType.get(type_.element_type, rows, columns, use)
