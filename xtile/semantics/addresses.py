"""Addresses of memory, for kernels that compute with pointers as integers.

Memory lies in numpy arrays, so its addresses are made up: each buffer has a range of its own, far
from all others. So an address leads back to its buffer, and arithmetic that leaves a buffer is
noticed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from xtile.semantics.errors import UnlocatedError
from xtile.semantics.memory import Buffer, Index, Mask, Memref, View, ViewChoice

_RANGE = 2**40
"""The distance of two buffers in bytes; an address belongs to the buffer that begins nearest."""


class AddressSpace:
    """The buffers of a launch whose addresses were asked for."""

    def __init__(self) -> None:
        self._buffers: list[Buffer] = []
        self._addresses: dict[Buffer, int] = {}

    def address_of(self, buffer: Buffer) -> int:
        """The address of a buffer's first byte; 0 for a null pointer."""
        if buffer.is_null:
            return 0
        root = buffer.root
        if root not in self._addresses:
            self._buffers.append(root)
            self._addresses[root] = _RANGE * len(self._buffers)
        return self._addresses[root]

    def memory_at(self, address: Index, dtype: np.dtype[Any], mask: Mask) -> Memref:
        """The memory at an address as a memref of order 0.

        It has the buffer and the offset from which elements of type `dtype` can be addressed.

        Args:
            address: The address in bytes, of all work-items or of each.
            dtype: The type of the elements.
            mask: The active work-items; what the others' addresses are does not matter.

        Raises:
            UnlocatedError: An active work-item's address belongs to no memory, or lies between
                elements.
        """
        if isinstance(address, int):
            number = _nearest(address)
            return self._view(number, address - number * _RANGE, dtype)
        if mask is None and address.size:
            number = _nearest(int(address.min()))
            if _nearest(int(address.max())) == number:
                return self._view(number, address - number * _RANGE, dtype)
        numbers = _nearest(address)
        offsets = address - numbers * _RANGE
        shown = numbers if mask is None else _active(numbers, mask)
        keys = [int(key) for key in np.unique(shown)]
        # What is not active gets the position of something that is.
        usable = np.isin(numbers, keys)
        numbers, offsets = np.where(usable, numbers, keys[0]), np.where(usable, offsets, 0)
        if len(keys) == 1:
            return self._view(keys[0], offsets, dtype)
        return ViewChoice(numbers, {key: self._view(key, offsets, dtype) for key in keys})

    def _view(self, number: int, offset: Index, dtype: np.dtype[Any]) -> View:
        if not 1 <= number <= len(self._buffers):
            what = "is null" if number == 0 else "belongs to no memory of the launch"
            first = offset if isinstance(offset, int) else int(offset.flat[0])
            raise UnlocatedError(f"the address {number * _RANGE + first} {what}")
        buffer = self._buffers[number - 1].typed(dtype)
        if np.any(offset % dtype.itemsize):
            raise UnlocatedError(
                f"the address lies between elements of {buffer.name}: it must be a multiple of "
                f"{dtype.itemsize} bytes"
            )
        return View(buffer, offset // dtype.itemsize, (), ())


def _nearest(address: Any) -> Any:
    """The number of the buffer that begins nearest."""
    return (address + _RANGE // 2) // _RANGE


def _active(numbers: npt.NDArray[np.int64], mask: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    numbers, mask = np.broadcast_arrays(numbers, mask)
    return numbers[mask]
