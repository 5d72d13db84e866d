"""Memory arguments that lie on a device already."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from xtile.arguments.arrays import in_elements
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuArray, GpuMemory, gpu_array_of
from xtile.arguments.memory_types import DYNAMIC, MemoryType


@dataclass(frozen=True)
class DeviceArray:
    """An array in memory of a device.

    Attributes:
        memory: A `pyopencl.Buffer`, an SVM allocation or pointer of pyopencl, or the address of
            memory that the device can access, such as Intel's unified shared memory or memory of
            a CUDA GPU.
        shape: Mode sizes in elements; None: the type's, or as many as the memory has where only
            one mode's size is open.
        strides: Strides in elements; None: the type's, packed where it leaves them open.
        offset: Bytes between the start of the memory and the first element.
    """

    memory: Any
    shape: Sequence[int] | None = None
    strides: Sequence[int] | None = None
    offset: int = 0


@dataclass(frozen=True)
class DeviceView:
    """An array of a device that fits a memref type.

    Attributes:
        memory: What holds it, as in `DeviceArray`.
        shape: Mode sizes in elements.
        strides: Strides in elements.
        offset: Bytes between the start of the memory and the first element.
    """

    memory: Any
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


def as_device_array(label: str, type: MemoryType, value: object) -> DeviceArray | None:
    """Returns an array of a device; None for memory of the host.

    Raises:
        ArgumentError: It is an array with other elements than the type's.
    """
    if isinstance(value, np.ndarray):
        return None
    if isinstance(value, DeviceArray):
        return value
    if is_of_pyopencl(value):
        given: Any = value
        if hasattr(given, "base_data"):
            return _from_pyopencl_array(label, type, given)
        return DeviceArray(given)
    gpu_array = gpu_array_of(label, value)
    return None if gpu_array is None else from_gpu_array(label, type, gpu_array)


def is_of_pyopencl(value: object) -> bool:
    """Whether a value is memory of pyopencl that is not the host's, too."""
    kinds = {kind.__module__.partition(".")[0] for kind in type(value).__mro__}
    return "pyopencl" in kinds and not isinstance(value, np.ndarray) and not hasattr(value, "mem")


def _from_pyopencl_array(label: str, type: MemoryType, array: Any) -> DeviceArray:
    if not type.holds(array.dtype):
        raise ArgumentError(
            f"{label}: expected elements of type {type.dtype.name}, given {array.dtype.name}"
        )
    strides = in_elements(label, array.shape, array.strides, array.dtype.itemsize)
    return DeviceArray(array.base_data, array.shape, strides, array.offset)


def from_gpu_array(label: str, type: MemoryType, array: GpuArray) -> DeviceArray:
    """An array of a CUDA GPU for a memref type.

    Raises:
        ArgumentError: It has other elements than the type's.
    """
    if array.dtype is None or not type.holds(array.dtype):
        raise ArgumentError(
            f"{label}: expected elements of type {type.dtype.name}, given {array.type_name}"
        )
    return DeviceArray(array.memory, array.shape, array.element_strides())


def check_is_writable(label: str, array: DeviceArray) -> None:
    """Checks that a kernel may write to an array.

    Raises:
        ArgumentError: It is marked as read-only.
    """
    if isinstance(array.memory, GpuMemory) and array.memory.is_read_only:
        raise ArgumentError(f"{label}: the kernel writes to it, but the given array is read-only")


def shape_of(label: str, type: MemoryType, array: DeviceArray) -> tuple[int, ...]:
    """The mode sizes of an array of a device.

    Raises:
        ArgumentError: They are neither given nor known.
    """
    if array.shape is not None:
        return tuple(array.shape)
    open_modes = [mode for mode, size in enumerate(type.shape) if size == DYNAMIC]
    if not open_modes:
        return type.shape
    size = _size_of(array)
    if len(open_modes) > 1 or size is None:
        raise ArgumentError(
            f"{label}: its shape is not known; pass xtile.launch.DeviceArray(memory, shape)"
        )
    others = math.prod(size for size in type.shape if size != DYNAMIC)
    count = size // (type.dtype.itemsize * others) if others else 0
    return tuple(count if size == DYNAMIC else size for size in type.shape)


def check_size(label: str, type: MemoryType, view: DeviceView, array: DeviceArray) -> None:
    """Checks that memory of a known size holds an array.

    Raises:
        ArgumentError: It is too small.
    """
    size = _size_of(array)
    if size is None or 0 in view.shape:
        return
    last = sum((n - 1) * s for n, s in zip(view.shape, view.strides, strict=True))
    needed = (1 + last) * type.dtype.itemsize
    if needed > size:
        raise ArgumentError(f"{label}: expected memory of at least {needed} bytes, given {size}")


def _size_of(array: DeviceArray) -> int | None:
    """Bytes behind an array's offset; None where its memory does not say its size."""
    size = getattr(array.memory, "size", None)
    return size - array.offset if isinstance(size, int) else None
