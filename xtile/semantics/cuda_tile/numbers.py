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

from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from xtile.dialects.cuda_tile.types import PointerType, TileType
from xtile.semantics.upstream.numbers import POINTER, Kind, Number, number_of
from xtile.semantics.values import Array, Value

Tile: TypeAlias = Value
"""What a tile is at run time."""

_STORAGE_BITS = {"tf32": 32}
"""The bits that an element has in memory, where these are not its width."""


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


def storage_bits(number: Number) -> int:
    """The bits that an element has in memory and in packed tiles; 1 for i1, if it is packed."""
    return _STORAGE_BITS.get(number.text, number.bits)


def splat(value: Value, shape: tuple[int, ...]) -> Tile:
    """A tile whose elements are all the same; it takes no memory."""
    return np.broadcast_to(value, shape) if shape else value


def to_bits(value: Tile, number: Number) -> Array:
    """The bits of each element as an unsigned number; unused high bits are 0."""
    array = np.ascontiguousarray(value).reshape(np.shape(value))
    bits = array.view(np.dtype(f"u{array.dtype.itemsize}"))
    width = storage_bits(number)
    if width < 8 * bits.dtype.itemsize:
        return bits & bits.dtype.type(2**width - 1)
    return bits


def from_bits(bits: Array, number: Number) -> Tile:
    """The elements with given bits, which are unsigned numbers; higher bits do not count."""
    if number.kind is Kind.INTEGER:
        return number.wrapped(bits.astype(np.int64))[()]
    dtype = np.dtype(f"u{number.dtype.itemsize}")
    low = bits & bits.dtype.type(min(2 ** storage_bits(number), 2**64) - 1)
    array: Any = np.ascontiguousarray(low.astype(dtype)).reshape(np.shape(bits))
    return array.view(number.dtype)[()]


def address_units(type: Attribute) -> int:
    """How many units of a pointer's address are in a byte, for the type of a tile of pointers."""
    element = type.element_type if isinstance(type, TileType) else type
    if not isinstance(element, PointerType):
        raise ValueError(f"expected pointers, but got {type}")
    return 2 if element_number(element.pointee_type).bits == 4 else 1
