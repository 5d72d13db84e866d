"""What an array must be to be the argument of a memref parameter, whatever the language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    i8,
)
from xdsl.ir import Attribute

from xtile.dialects.pointer_types import is_pointer
from xtile.dialects.tensorlang.types import GroupType, MemrefType
from xtile.semantics.upstream.numbers import POINTER, Kind, Number, number_of

DYNAMIC: int = DYNAMIC_INDEX
"""Stands for what a type leaves open in shapes and strides."""


@dataclass(frozen=True)
class MemoryType:
    """A memref type or a pointer, as arrays are compared with it.

    Attributes:
        shape: Mode sizes in elements, `DYNAMIC` where any will do.
        strides: Strides in elements, `DYNAMIC` where any will do.
        number: The type of the elements.
        is_row_major: Whether the last mode is the contiguous one where nothing is said, and not
            the first.
        is_packed: Whether elements must follow each other, also in modes of dynamic size.
        has_any_shape: Whether nothing is said of the shape: a kernel takes a pointer to the first
            element.
        stride_divisors: What the kernel promises that strides are multiples of, for the first
            modes.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    number: Number
    is_row_major: bool
    is_packed: bool = False
    has_any_shape: bool = False
    stride_divisors: tuple[int, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether a size must be given to know the shape."""
        return self.has_any_shape or DYNAMIC in self.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """How numpy holds the elements."""
        return self.number.dtype

    @property
    def is_integer(self) -> bool:
        """Whether the elements are integers, and not truth values."""
        return self.number.kind is Kind.INTEGER and self.number.bits > 1

    @property
    def may_be_list(self) -> bool:
        """Whether it may be a list of arrays, whose addresses are the elements."""
        return self.number == POINTER or (
            self.has_any_shape and self.is_integer and self.number.bits == POINTER.bits
        )

    @property
    def order(self) -> int:
        """The number of modes."""
        return len(self.shape)

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether arrays of a type hold such elements: integers have no sign here."""
        wanted = self.dtype
        return dtype == wanted or (self.is_integer and dtype.str == wanted.str.replace("i", "u"))

    def packed_strides(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The strides of elements that follow each other."""
        strides: list[int] = []
        stride = 1
        for size in reversed(shape) if self.is_row_major else shape:
            strides.append(stride)
            stride *= size
        return tuple(reversed(strides) if self.is_row_major else strides)

    def strides_for(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The strides that memory of a shape must have; `DYNAMIC` where any will do."""
        if self.has_any_shape:
            return (DYNAMIC,) * len(shape)
        return self.packed_strides(shape) if self.is_packed else self.strides


def memory_type_of(type: Attribute) -> MemoryType | None:
    """What arrays for a memref type or a pointer must be; None for any other type.

    Raises:
        ValueError: The elements are no numbers, or the layout is none of strides.
    """
    if isinstance(type, MemrefType):
        return MemoryType(type.shape, type.strides, number_of(type.element_type), False)
    if type.name == _TILE:
        return _pointed_memory(type)
    if is_pointer(type):
        pointee: Attribute = getattr(type, "pointee_type", getattr(type, "pointee", type))
        return MemoryType((), (), number_of(pointee), True, has_any_shape=True)
    if not isinstance(type, MemRefType):
        return None
    memref = cast("MemRefType[Attribute]", type)
    if isinstance(memref.element_type, MemRefType):
        return None
    given = memref.get_strides()
    if given is None:
        raise ValueError(f"the layout {memref.layout} of {memref} is not one of strides")
    strides = tuple(DYNAMIC if stride is None else stride for stride in given)
    is_packed = isinstance(memref.layout, NoneAttr)
    return MemoryType(memref.get_shape(), strides, number_of(memref), True, is_packed)


def integers_of(attribute: Attribute | None) -> tuple[int, ...]:
    """The integers of an array attribute; none where there is no such attribute."""
    if not isinstance(attribute, ArrayAttr):
        return ()
    entries = cast("ArrayAttr[Attribute]", attribute)
    return tuple(entry.value.data for entry in entries if isinstance(entry, IntegerAttr))


_TILE = "cuda_tile.tile"

_HALF_BYTE = 4


def _pointed_memory(type: Attribute) -> MemoryType | None:
    """What an array for a pointer of CUDA Tile IR must be.

    A byte of the array holds two elements of 4 bits.
    """
    from xtile.dialects.cuda_tile.types import PointerType, TileType

    if not isinstance(type, TileType) or not isinstance(type.element_type, PointerType):
        return None
    number = number_of(type.element_type.pointee_type)
    if number.bits == _HALF_BYTE:
        number = number_of(i8)
    return MemoryType((), (), number, True, has_any_shape=True)


def scalar_type_of(type: Attribute) -> Attribute:
    """The type of the number that a parameter holds, which may be in a tile without dimensions."""
    if type.name != _TILE:
        return type
    from xtile.dialects.cuda_tile.types import TileType

    return type.element_type if isinstance(type, TileType) and not type.rank else type


@dataclass(frozen=True)
class GroupMemory:
    """A type of pointers to memory: a group, or a memref of memrefs.

    Attributes:
        element: What each pointer points to.
        size: The number of pointers; `DYNAMIC` where any will do.
        offset: Elements that are added to each pointer; `DYNAMIC` where any will do.
    """

    element: MemoryType
    size: int
    offset: int


def group_memory_of(type: Attribute) -> GroupMemory | None:
    """What lists of arrays for a type must be; None for what is no type of pointers.

    Raises:
        ValueError: What the pointers point to is no memory that arrays can stand for.
    """
    if isinstance(type, GroupType):
        pointed, size, offset = type.element, type.size, type.offset
    elif isinstance(type, MemRefType):
        memref = cast("MemRefType[Attribute]", type)
        pointed: Attribute = memref.element_type
        if not isinstance(memref.element_type, MemRefType) or memref.get_num_dims() != 1:
            return None
        size, offset = memref.get_shape()[0], 0
    else:
        return None
    element = memory_type_of(pointed)
    if element is None:
        raise ValueError(f"{pointed} is no memref of numbers")
    return GroupMemory(element, size, offset)
