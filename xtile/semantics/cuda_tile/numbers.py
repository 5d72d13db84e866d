"""How tiles are held in numpy.

A tile block acts as one: it is a work-group with one work-item, and so no value has axes for
subgroups or lanes.

- A tile is an array of exactly its shape, which may be read-only and may have strides of 0.
- A tile without dimensions is a numpy scalar. Handlers may be given an array without dimensions
  in its place, so they use numpy's functions and `[()]`, and not indices.
- In the region of a `reduce` or a `scan` all elements are combined at once: there, what stands for
  a tile without dimensions may be an array of any shape. So functions of elements let their
  operands broadcast, and never look at the shape of the type.
- i1 is held as bool. Other integers are held as signed numbers of their width, i4 as i8 with its
  sign extended. Floats are held as numpy's or ml_dtypes' type of the same name, f4E2M1FN with one
  byte for each element, and tf32 as f32.
- A pointer is held as the address in the launch's `AddressSpace`, an int64: in bytes, or in half
  bytes for a pointer to elements of four bits. `ptr_to_int` always gives bytes.

Source: CUDA Tile IR specification, "Type System".
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.semantics.upstream.numbers import POINTER, Number, number_of
from xtile.semantics.values import Value

Tile: TypeAlias = Value
"""What a tile is at run time."""


def tile_type(value: SSAValue) -> TileType:
    """The type of a value that is a tile.

    Raises:
        ValueError: It is none.
    """
    if not isinstance(value.type, TileType):
        raise ValueError(f"expected a tile, but got {value.type}")
    return value.type


def element_number(type: Attribute) -> Number:
    """The numbers that a tile of this type, or an element of this type, holds.

    Raises:
        ValueError: There is no such element.
    """
    element = type.element_type if isinstance(type, TileType) else type
    return POINTER if isinstance(element, PointerType) else number_of(element)


def operand_number(operation: Operation, index: int = 0) -> Number:
    """The numbers that an operand's tile holds."""
    return element_number(operation.operands[index].type)


def result_number(operation: Operation) -> Number:
    """The numbers that the first result's tile holds."""
    return element_number(operation.results[0].type)


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a value that is a tile."""
    return tuple(tile_type(value).get_shape())


def splat(value: Value, shape: tuple[int, ...]) -> Tile:
    """A tile whose elements are all the same; it takes no memory."""
    return np.broadcast_to(value, shape) if shape else value


def address_units(type: Attribute) -> int:
    """How many units of a pointer's address are in a byte, for the type of a tile of pointers."""
    element = type.element_type if isinstance(type, TileType) else type
    if not isinstance(element, PointerType):
        raise ValueError(f"expected pointers, but got {type}")
    return 2 if element_number(element.pointee_type).bits == 4 else 1
