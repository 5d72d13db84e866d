"""Groups whose entries lie at equal distances in one array: thousands are as quick as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from typing_extensions import override

from xtile.launch.arrays import as_array
from xtile.launch.device_memory import DeviceView
from xtile.launch.errors import ArgumentError
from xtile.launch.memory_types import GroupMemory
from xtile.launch.views import View, bind_memref, flat_memory, list_text, typed_array
from xtile.semantics.values import Array


@dataclass(frozen=True)
class Stack(Sequence[View]):
    """The entries of a group, each of which is made when it is asked for.

    Attributes:
        array: The entries, whose elements are the memref's; the first mode counts them.
        shape: Mode sizes of each entry in elements.
        strides: Strides of each entry in elements.
    """

    array: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def distance(self) -> int:
        """Bytes between one entry and the next."""
        return self.array.strides[0]

    @property
    def memory(self) -> Array:
        """The memory from the first entry's first element to past the last one's last."""
        strides = (self.distance // self.array.itemsize, *self.strides)
        return flat_memory(self.array, strides)

    @override
    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> View: ...

    @overload
    def __getitem__(self, index: slice) -> list[View]: ...

    @override
    def __getitem__(self, index: int | slice) -> View | list[View]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return View(flat_memory(self.array[index], self.strides), self.shape, self.strides)


def is_stack(value: object) -> bool:
    """Whether the argument of a group is one array."""
    return isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")


def bind_stack(
    label: str, type: GroupMemory, value: object, is_written: bool
) -> Sequence[View | DeviceView]:
    """Checks an array of entries against the memref of a group.

    Its last mode counts the entries, and its first where the memref is row-major.

    Raises:
        ArgumentError: It is no array with a mode more than the memref, or its entries do not fit.
    """
    memref = type.element
    given = typed_array(label, memref, as_array(label, value), is_written)
    if given.ndim != memref.order + 1:
        place = "first" if memref.is_row_major else "last"
        raise ArgumentError(
            f"{label}: expected a list of arrays, an xtile.launch.Group, or an array of order "
            f"{memref.order + 1} whose {place} mode counts the entries, "
            f"given shape {list_text(given.shape)}"
        )
    array: Array = np.moveaxis(given, 0 if memref.is_row_major else -1, 0)
    first = _first_entry(label, type, array, is_written)
    if _can_be_counted(array):
        return Stack(array, first.shape, first.strides)
    entries: list[Array] = list(array)
    return [bind_memref(label, memref, entry, is_written) for entry in entries]


def _first_entry(label: str, type: GroupMemory, array: Array, is_written: bool) -> View:
    """The view of the first entry, whose layout is that of all others."""
    entry = array[0] if len(array) else np.zeros(array.shape[1:], array.dtype, order="F")
    view = bind_memref(f"{label}: entry 0", type.element, entry, is_written)
    assert isinstance(view, View)
    return view


def _can_be_counted(array: Array) -> bool:
    """Whether entries lie at a distance that is counted in elements, one behind the other."""
    distance = array.strides[0]
    return len(array) < 2 or (distance >= 0 and distance % array.itemsize == 0)
