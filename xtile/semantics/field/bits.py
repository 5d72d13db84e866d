"""Operations on integers whose bytes are those of numbers: whole bytes may be moved and cleared.

Each integer has a cell for each of its bytes, the lowest first. Anything else on the bits of a
number that is not known is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from xtile.semantics.field.numbers import CELL, HELD, Cells, RefusedError

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
        "moved, joined and cleared"
    )


def _and(a: Bits, b: Bits) -> Bits:
    held, other = (a, b) if a.is_held.any() else (b, a)
    if other.is_held.any():
        raise _refused()
    cells, mask = _broadcast(held.cells, other.raw_bytes)
    is_held = cells["state"] & HELD != 0
    if (is_held & (mask != 0) & (mask != _WHOLE_BYTE)).any():
        raise _refused()
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
    if a.raw.dtype.kind != "u" and a.is_held[..., -1].any():
        raise _refused()
    return _shifted(a, b, -1)


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
    "bitwise_xor": _or,
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
