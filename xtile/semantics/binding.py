"""From the arguments of a launch to run-time values: one buffer for each piece of memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from xtile.semantics.addresses import AddressSpace
from xtile.semantics.arguments import MemrefArgument, WordsArgument
from xtile.semantics.memory import Buffer, View


class Buffers:
    """The buffers of a launch's arguments, however many arguments refer to one.

    Attributes:
        addresses: Where the buffers lie.
    """

    def __init__(self, addresses: AddressSpace) -> None:
        self.addresses = addresses
        self._buffers: dict[tuple[int, int], Buffer] = {}

    def view(self, argument: MemrefArgument, dtype: np.dtype[Any], name: str) -> View:
        """A memref argument whose elements have type `dtype`.

        Raises:
            ValueError: The memory is no array of that type without gaps.
        """
        shape, strides = tuple(argument.shape), tuple(argument.strides)
        return View(self._buffer(argument, dtype, name), argument.offset, shape, strides)

    def address(self, argument: MemrefArgument, name: str) -> np.int64:
        """The address of memory's first element in bytes; 0 without memory."""
        if argument.base is None:
            return np.int64(0)
        dtype = argument.base.dtype
        view = self.view(argument, dtype, name)
        start = self.addresses.address_of(view.buffer)
        return np.int64(start + argument.offset * dtype.itemsize)

    def words(self, argument: WordsArgument, name: str) -> MemrefArgument:
        """Memory that holds addresses and other numbers of 64 bits."""
        words = [
            entry if isinstance(entry, int) else self.address(entry, f"entry {index} of {name}")
            for index, entry in enumerate(argument.entries)
        ]
        return MemrefArgument(np.array(words, np.int64), (len(words),), (1,))

    def _buffer(self, argument: MemrefArgument, dtype: np.dtype[Any], name: str) -> Buffer:
        base = argument.base
        if base is None:
            return Buffer(np.empty(0, dtype), name, is_null=True)
        if base.ndim != 1 or base.dtype != dtype or not base.flags.c_contiguous:
            raise ValueError(
                f"{name} needs a contiguous one-dimensional array of {dtype.name}, given "
                f"{base.ndim} dimensions of {base.dtype.name}"
            )
        key = (base.ctypes.data, base.nbytes)
        if base.nbytes == 0 or key not in self._buffers:
            is_initialized = argument.is_initialized
            self._buffers[key] = Buffer(base, name, is_initialized=is_initialized)
        # Two arguments may see the same memory as elements of different types.
        return self._buffers[key].typed(dtype)
