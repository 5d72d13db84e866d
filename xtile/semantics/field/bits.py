"""Operations on integers whose bytes are those of numbers.

Each integer has a cell for each of its bytes, the lowest first. Whole bytes may be moved and
cleared. The sign and the exponent of a whole number may be looked at, which follow from its key,
and the sign may be cleared or changed. Anything else on the bits of a number that is not known is
refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from xtile.semantics.field.numbers import CELL, HELD, TYPES, Cells, RefusedError, negative, where

_WHOLE_BYTE = 0xFF


@dataclass(frozen=True)
class Bits:
    """Integers.

    Attributes:
        raw: The integers, 0 in the bytes of numbers.
        cells: The cell of each byte, along the last axis.
    """

    raw: npt.NDArray[Any]
    cells: Cells

    @property
    def is_held(self) -> npt.NDArray[np.bool_]:
        """Whether each byte is one of a number."""
        return self.cells["state"] & HELD != 0

    @property
    def raw_bytes(self) -> npt.NDArray[np.uint8]:
        """The bytes along a last axis."""
        shape = (*self.raw.shape, self.raw.dtype.itemsize)
        return (
            np.ascontiguousarray(self.raw)
            .reshape(self.raw.shape)[..., np.newaxis]
            .view(np.uint8)
            .reshape(shape)
        )

    def with_bytes(self, bytes_: npt.NDArray[np.uint8], cells: Cells) -> Bits:
        """Integers of the same type with other bytes."""
        data = np.ascontiguousarray(np.where(cells["state"] & HELD != 0, 0, bytes_)).astype(
            np.uint8
        )
        return Bits(data.view(self.raw.dtype).reshape(cells.shape[:-1]), cells)


def _refused() -> RefusedError:
    return RefusedError(
        "arithmetic on the bits of a number is not followed in the field; whole bytes may be "
        "moved, joined and cleared, and signs and exponents looked at"
    )


@dataclass(frozen=True)
class _Words:
    """Integers each of which is a whole number, or has no byte of one.

    Attributes:
        dtype: The type of the numbers.
        numbers: The numbers.
        words: Unsigned integers; where there are numbers their signs and exponents are right.
        is_number: Whether an integer is a number.
    """

    dtype: np.dtype[Any]
    numbers: Cells
    words: npt.NDArray[Any]
    is_number: npt.NDArray[np.bool_]

    @property
    def sign(self) -> int:
        """The bit of the sign."""
        return 1 << (8 * self.dtype.itemsize - 1)

    @property
    def exponent(self) -> int:
        """The bits of the exponent."""
        return int(np.array(np.inf, self.dtype).view(self.words.dtype)[()])

    def with_numbers(self, made: Cells, raw: npt.NDArray[Any]) -> Bits:
        """Integers with other numbers."""
        size = self.dtype.itemsize
        cells = np.repeat(made[..., np.newaxis], size, axis=-1)
        cells["byte"] = np.arange(size)
        cells["type"] = TYPES.index(self.dtype)
        cells["state"][~self.is_number] = 0
        return Bits(np.where(self.is_number, np.zeros_like(raw), raw), cells)


def _words(held: Bits) -> _Words:
    """Integers whose bytes are those of whole numbers.

    Raises:
        RefusedError: They are bytes of others, or of parts of numbers.
    """
    cells, head, size = held.cells, held.cells[..., 0], held.raw.dtype.itemsize
    is_held: Any = held.is_held
    is_number = is_held.any(-1)
    same = (cells["residues"] == head["residues"][..., np.newaxis, :]).all(-1)
    same &= is_held & (cells["byte"] == np.arange(size))
    types: list[int] = np.unique(cells["type"][is_held]).tolist()
    if (is_number & ~same.all(-1)).any() or len(types) != 1 or TYPES[types[0]].itemsize != size:
        raise _refused()
    dtype = TYPES[types[0]]
    with np.errstate(all="ignore"):
        values = head["key"].astype(dtype).view(f"u{size}")
    words = np.where(is_number, values, held.raw.view(f"u{size}"))
    return _Words(dtype, head, words, is_number)


def _and_of_numbers(held: Bits, mask: npt.NDArray[Any]) -> Bits:
    """The signs, the exponents, or the magnitudes of numbers."""
    words = _words(held)
    wanted = mask.view(words.words.dtype)
    seen = words.sign | words.exponent
    if not (wanted & ~np.asarray(seen, wanted.dtype)).any():
        plain = (words.words & wanted).view(held.raw.dtype)
        return Bits(plain, np.zeros((*plain.shape, plain.dtype.itemsize), CELL))
    if (wanted != words.sign - 1).any():
        raise _refused()
    number = words.numbers
    return words.with_numbers(where(number["key"] < 0, negative(number), number), held.raw & mask)


def _xor(a: Bits, b: Bits) -> Bits:
    """Numbers of the other sign, or integers that have no bytes in common."""
    held, other = (a, b) if a.is_held.any() else (b, a)
    sign = 1 << (8 * a.raw.dtype.itemsize - 1)
    if other.is_held.any() or (other.raw.view(f"u{a.raw.dtype.itemsize}") != sign).any():
        return _or(a, b)
    words = _words(held)
    return words.with_numbers(negative(words.numbers), held.raw ^ other.raw)


def _and(a: Bits, b: Bits) -> Bits:
    held, other = (a, b) if a.is_held.any() else (b, a)
    if other.is_held.any():
        raise _refused()
    cells, mask = _broadcast(held.cells, other.raw_bytes)
    is_held = cells["state"] & HELD != 0
    if (is_held & (mask != 0) & (mask != _WHOLE_BYTE)).any():
        return _and_of_numbers(held, other.raw)
    cells["state"][mask == 0] = 0
    return held.with_bytes(cast("Any", held.raw_bytes) & mask, cells)


def _or(a: Bits, b: Bits) -> Bits:
    """Integers that have no bytes in common."""
    left, right = np.broadcast_arrays(a.cells, b.cells)
    left_bytes, right_bytes = np.broadcast_arrays(a.raw_bytes, b.raw_bytes)
    is_left, is_right = (each["state"] & HELD != 0 for each in (left, right))
    if ((is_left & (is_right | (right_bytes != 0))) | (is_right & (left_bytes != 0))).any():
        raise _refused()
    return a.with_bytes(
        np.bitwise_or(left_bytes, right_bytes, dtype=np.uint8), np.where(is_left, left, right)
    )


def _shift_left(a: Bits, b: Bits) -> Bits:
    return _shifted(a, b, 1)


def _shift_right(a: Bits, b: Bits) -> Bits:
    if not b.is_held.any() and (b.raw % 8 != 0).any():
        return _exponents(a, b.raw)
    if a.raw.dtype.kind != "u" and a.is_held[..., -1].any():
        raise _refused()
    return _shifted(a, b, -1)


def _exponents(held: Bits, distance: npt.NDArray[Any]) -> Bits:
    """The signs and exponents of numbers, of which all other bits are shifted out."""
    words = _words(held)
    if (1 << int(np.min(distance))) < (words.exponent & -words.exponent):
        raise _refused()
    plain = words.words.view(held.raw.dtype) >> distance
    return Bits(plain, np.zeros((*plain.shape, plain.dtype.itemsize), CELL))


def _shifted(a: Bits, b: Bits, direction: int) -> Bits:
    distances = np.unique(b.raw)
    if b.is_held.any() or len(distances) != 1 or distances[0] % 8:
        raise _refused()
    count = direction * int(distances[0]) // 8
    size = a.raw.dtype.itemsize
    cells, bytes_ = np.zeros(a.cells.shape, CELL), np.zeros(a.cells.shape, np.uint8)
    for byte in range(size):
        if 0 <= byte - count < size:
            cells[..., byte], bytes_[..., byte] = (
                a.cells[..., byte - count],
                a.raw_bytes[..., byte - count],
            )
    return a.with_bytes(bytes_, cells)


def _broadcast(cells: Cells, mask: npt.NDArray[np.uint8]) -> tuple[Cells, npt.NDArray[np.uint8]]:
    wide, other = np.broadcast_arrays(cells, mask)
    return wide.copy(), other


_RULES: dict[str, Callable[[Bits, Bits], Bits]] = {
    "bitwise_and": _and,
    "bitwise_or": _or,
    "bitwise_xor": _xor,
    "add": _or,
    "left_shift": _shift_left,
    "right_shift": _shift_right,
}


def applied(name: str, operands: list[Bits]) -> Bits:
    """What an operation on integers gives.

    Raises:
        RefusedError: It does more than to move, join and clear whole bytes.
    """
    rule = _RULES.get(name)
    if rule is None or len(operands) != 2:
        raise _refused()
    return rule(*operands)
