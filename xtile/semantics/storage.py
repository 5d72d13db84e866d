"""How elements lie in memory.

Elements of four bits share bytes: the one with the lower position has the lower bits. i1 takes a
byte, of which any bit may be set. tf32 takes four bytes, which keep the bits that it does not have.

Source: CUDA Tile IR specification, "Sub-Byte Types"; NVIDIA/cuda-tile 13.3.0, `Ops.td`
(`load_ptr_tko`, `store_ptr_tko`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer
from xtile.semantics.observer import IntArray
from xtile.semantics.upstream.allocation import undefined
from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Array, Value, contiguous, converted, interpreted

_STORAGE_BITS = {"tf32": 32}
"""The bits that an element has in memory, where these are not its width."""

_HALF_BYTE = 4


@dataclass(frozen=True)
class Storage:
    """How elements of a type lie in memory.

    Attributes:
        number: The type.
        dtype: What memory consists of: elements, or bytes that hold several of them.
        is_packed: Whether a byte holds two elements.
    """

    number: Number
    dtype: np.dtype[Any]
    is_packed: bool

    @property
    def step(self) -> int:
        """How far a pointer moves from one element to the next."""
        return 1 if self.is_packed else self.dtype.itemsize

    def units(self, elements: IntArray) -> IntArray:
        """Where in a buffer elements lie."""
        return elements >> 1 if self.is_packed else elements

    def read(self, buffer: Buffer, elements: IntArray) -> Array:
        """Elements of a buffer.

        Raises:
            UnlocatedError: One lies outside of it.
        """
        units = self.units(elements)
        buffer.check(units)
        found = buffer.data[units]
        if self.is_packed:
            return from_bits(found >> _shift(elements) & np.uint8(2**_HALF_BYTE - 1), self.number)
        return self.decoded(found)

    def decoded(self, units: Array) -> Array:
        """What memory that is not packed holds."""
        return units != 0 if self.number.bits == 1 else units

    def encoded(self, values: Value) -> Array:
        """What memory that is not packed holds for elements."""
        return converted(values, self.dtype)

    def write(self, buffer: Buffer, elements: IntArray, values: Array) -> None:
        """Writes elements to a buffer; of those with the same position the last one stays.

        Raises:
            UnlocatedError: One lies outside of it, or nothing can be written.
        """
        units = self.units(elements)
        buffer.check(units)
        check_writable(buffer)
        if not self.is_packed:
            buffer.data[units] = self.encoded(values)
            return
        bits = to_bits(values, self.number).astype(np.uint8)
        for half in (0, 1):
            chosen = elements & 1 == half
            shift = np.uint8(half * _HALF_BYTE)
            rest = buffer.data[units[chosen]] & ~np.uint8((2**_HALF_BYTE - 1) << int(shift))
            buffer.data[units[chosen]] = rest | bits[chosen] << shift

    def undefined(self, shape: Sequence[int]) -> Array:
        """Elements that nothing is known of: all their bits are set."""
        if self.is_packed:
            return np.asanyarray(
                from_bits(np.full(shape, 2**_HALF_BYTE - 1, np.uint8), self.number)
            )
        return interpreted(undefined(int(np.prod(shape)), self.number.dtype).reshape(shape))


def _shift(elements: IntArray) -> Array:
    """By how many bits elements lie above the end of their byte."""
    return (elements & 1).astype(np.uint8) * np.uint8(_HALF_BYTE)


def storage_of(type: Attribute) -> Storage:
    """How elements of a type lie in memory.

    Raises:
        ValueError: They are no numbers.
    """
    number = number_of(type)
    is_packed = number.bits == _HALF_BYTE
    is_byte = is_packed or number.bits == 1
    return Storage(number, np.dtype(np.uint8) if is_byte else number.dtype, is_packed)


def check_writable(buffer: Buffer) -> None:
    """Checks that memory can be written.

    Raises:
        UnlocatedError: It cannot.
    """
    if not buffer.data.flags.writeable:
        raise UnlocatedError(f"{buffer.name} is constant, but is written to")


def storage_bits(number: Number) -> int:
    """The bits that an element has in memory and in packed tiles; 1 for i1, if it is packed."""
    return _STORAGE_BITS.get(number.text, number.bits)


def to_bits(value: Value, number: Number) -> Array:
    """The bits of each element as an unsigned number; unused high bits are 0."""
    array = contiguous(value).reshape(np.shape(value))
    bits = array.view(np.dtype(f"u{array.dtype.itemsize}"))
    width = storage_bits(number)
    if width < 8 * bits.dtype.itemsize:
        return bits & bits.dtype.type(2**width - 1)
    return bits


def from_bits(bits: Array, number: Number) -> Value:
    """The elements with given bits, which are unsigned numbers; higher bits do not count."""
    if number.kind is Kind.INTEGER:
        return number.wrapped(bits.astype(np.int64))[()]
    dtype = np.dtype(f"u{number.dtype.itemsize}")
    low = bits & bits.dtype.type(min(2 ** storage_bits(number), 2**64) - 1)
    array: Any = contiguous(low.astype(dtype)).reshape(np.shape(bits))
    return array.view(number.dtype)[()]
