"""What the types of the core form become."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    IndexType,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from xtile.dialects.core.pointers import PointerType as CorePointerType
from xtile.dialects.cuda_tile.types import PointerType, TileType, is_integer, is_number
from xtile.translate.tiles.types import ADDRESS, INDEX, shape_of


def element_of(type_: Attribute) -> Attribute:
    """The type of the elements of a vector or of a scalar, as CUDA Tile IR has it.

    Raises:
        ValueError: It has no such elements.
    """
    if isinstance(type_, VectorType):
        type_ = cast("VectorType[Attribute]", type_).element_type
    if isinstance(type_, IndexType):
        return INDEX
    if isinstance(type_, CorePointerType):
        return PointerType(part_of(type_.pointee_type))
    if not is_number(type_) and not is_integer(type_, (_NIBBLE,)):
        raise ValueError(f"there are no tiles of {type_}")
    return type_


_NIBBLE = 4
"""The width of integers that are only unpacked and extended."""


def tile_of(type_: Attribute) -> TileType:
    """The type of the tile that a vector or a scalar becomes.

    Raises:
        ValueError: It has elements that tiles have not.
    """
    return TileType(shape_of(type_), element_of(type_))


@lru_cache(256)
def scalar_tile(element: Attribute) -> TileType:
    """The type of one number."""
    return TileType([], element)


def pointer_tile(element: Attribute, shape: Sequence[int] = ()) -> TileType:
    """The type of a pointer, or of a tile of pointers."""
    return TileType(shape, PointerType(element))


def tile_type(value: SSAValue) -> TileType:
    """The type of a tile."""
    assert isinstance(value.type, TileType)
    return value.type


def element_type(value: SSAValue) -> Attribute:
    """The type of a tile's elements."""
    return tile_type(value).element_type


def part_of(type_: Attribute) -> Attribute:
    """The type of the numbers that memory holds: parts of complex numbers, addresses.

    Raises:
        ValueError: It holds two of them in a byte, where the core form has one.
    """
    if isinstance(type_, CorePointerType):
        return ADDRESS
    if isinstance(type_, ComplexType):
        return cast("ComplexType[AnyFloat]", type_).element_type
    element = element_of(type_)
    if getattr(element, "bitwidth", None) == _NIBBLE:
        raise ValueError(
            f"memory of {element} holds two in a byte in CUDA Tile IR and one here; keep bytes in "
            "memory, and use core.unpack and core.pack"
        )
    return element


def size_in_bytes(type_: Attribute) -> int:
    """The bytes that a number takes in memory: a truth value takes one."""
    size = getattr(part_of(type_), "bitwidth", 8)
    return max(1, cast(int, size) // 8)
