"""Groups whose entries lie at equal distances in one array: thousands are as quick as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from typing_extensions import override

from xtile.arguments.arrays import as_array
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuArray, gpu_array_of
from xtile.arguments.memory_types import GroupMemory, MemoryType
from xtile.arguments.views import (
    View,
    bind_gpu_array,
    bind_memref,
    flat_memory,
    list_text,
    typed_array,
)
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


@dataclass(frozen=True)
class DeviceStack(Sequence[DeviceView]):
    """The entries of a group that lie in memory of a device, each made when it is asked for.

    Attributes:
        memory: Where the first entry is.
        number: The number of entries.
        distance: Bytes between one entry and the next.
        shape: Mode sizes of each entry in elements.
        strides: Strides of each entry in elements.
    """

    memory: object
    number: int
    distance: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @override
    def __len__(self) -> int:
        return self.number

    @overload
    def __getitem__(self, index: int) -> DeviceView: ...

    @overload
    def __getitem__(self, index: slice) -> list[DeviceView]: ...

    @override
    def __getitem__(self, index: int | slice) -> DeviceView | list[DeviceView]:
        numbers = range(self.number)[index]
        if isinstance(numbers, range):
            return [self[number] for number in numbers]
        return DeviceView(self.memory, self.shape, self.strides, numbers * self.distance)


def is_stack(value: object) -> bool:
    """Whether the argument of a group is one array."""
    kinds = ("__dlpack__", "__cuda_array_interface__")
    return isinstance(value, np.ndarray) or any(hasattr(value, kind) for kind in kinds)


def bind_stack(
    label: str, type: GroupMemory, value: Any, is_written: bool
) -> Sequence[View | DeviceView]:
    """Checks an array of entries against the memref of a group.

    Its last mode counts the entries, and its first where the memref is row-major.

    Raises:
        ArgumentError: It is no array with a mode more than the memref, or its entries do not fit.
    """
    memref = type.element
    gpu_array = gpu_array_of(label, value)
    if gpu_array is not None:
        return _device_stack(label, memref, gpu_array, is_written)
    given = typed_array(label, memref, as_array(label, value), is_written)
    _check_order(label, memref, given.shape)
    array: Array = np.moveaxis(given, 0 if memref.is_row_major else -1, 0)
    first = _first_entry(label, type, array, is_written)
    if _can_be_counted(array):
        return Stack(array, first.shape, first.strides)
    entries: list[Array] = list(array)
    return [bind_memref(label, memref, entry, is_written) for entry in entries]


def _check_order(label: str, memref: MemoryType, shape: Sequence[int]) -> None:
    if len(shape) != memref.order + 1:
        position = "first" if memref.is_row_major else "last"
        raise ArgumentError(
            f"{label}: expected a list of arrays, an xtile.launch.Group, or an array of order "
            f"{memref.order + 1} whose {position} mode counts the entries, "
            f"given shape {list_text(shape)}"
        )


def _device_stack(label: str, memref: MemoryType, array: GpuArray, is_written: bool) -> DeviceStack:
    _check_order(label, memref, array.shape)
    shape, strides = list(array.shape), list(array.element_strides())
    counting = 0 if memref.is_row_major else -1
    count, distance = shape.pop(counting), strides.pop(counting)
    entry = GpuArray(array.memory, array.dtype, array.type_name, tuple(shape), tuple(strides))
    first = bind_gpu_array(f"{label}: entry 0", memref, entry, is_written)
    bytes_between = distance * memref.dtype.itemsize
    return DeviceStack(array.memory, count, bytes_between, first.shape, first.strides)


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
