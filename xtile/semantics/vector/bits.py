"""Vectors of numbers of any width as bits, and back."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute

from xtile.semantics.upstream.numbers import Kind, Number, number_of
from xtile.semantics.values import Array
from xtile.semantics.vector.arrays import flattened


def cast_bits(source: Attribute, target: Attribute) -> Callable[[Array], Array]:
    """The function that reads the bits of a vector's rows as elements of another type.

    The first element has the lowest bits. All axes of the result's vectors are one.

    Raises:
        ValueError: numpy holds numbers of a type in another form than their bits.
    """
    given, made = number_of(source), number_of(target)
    for number in (given, made):
        if number.kind is Kind.FLOAT and number.bits > 8 and not _fills(number):
            raise ValueError(f"the bits of {number.text} cannot be computed")
    if _fills(given) and _fills(made):
        return lambda vector: flattened(np.ascontiguousarray(vector)).view(made.dtype)
    return lambda vector: _from_bits(_to_bits(vector, given), made)


def _fills(number: Number) -> bool:
    """Whether the numbers of a type fill numpy's."""
    return number.bits == 8 * number.dtype.itemsize


def _to_bits(vector: Array, number: Number) -> Array:
    """The bits of each row, from the lowest."""
    bytes_ = np.ascontiguousarray(vector)[..., np.newaxis].view(np.uint8)
    return np.unpackbits(bytes_, axis=-1, count=number.bits, bitorder="little")


def _from_bits(bits: Array, number: Number) -> Array:
    """The numbers that rows of bits stand for."""
    parts = bits.reshape(*bits.shape[:2], -1, number.bits)
    unused = 8 * number.dtype.itemsize - number.bits
    padded = np.pad(parts, [(0, 0)] * 3 + [(0, unused)])
    bytes_ = np.packbits(padded, axis=-1, bitorder="little")
    if number.bits == 1:
        return bytes_[..., 0].astype(np.bool_)
    held = bytes_.view(number.dtype)[..., 0]
    return number.wrapped(held) if number.kind is Kind.INTEGER else held
