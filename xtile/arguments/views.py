"""Checks of arrays against memref types."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from xtile.arguments.arrays import Output, as_array, element_strides, settled_strides
from xtile.arguments.device_memory import (
    DeviceArray,
    DeviceView,
    as_device_array,
    check_is_writable,
    check_size,
    from_gpu_array,
    shape_of,
)
from xtile.arguments.errors import ArgumentError
from xtile.arguments.gpu_arrays import GpuArray
from xtile.arguments.memory_types import DYNAMIC, MemoryType, integers_of
from xtile.semantics.values import Array


@dataclass(frozen=True)
class View:
    """An array that fits a memref type.

    Attributes:
        memory: The memory from the first to past the last element as an array of order 1 without
            gaps, whose element type is the memref's. It is the caller's.
        shape: Mode sizes in elements.
        strides: Strides in elements.
        is_output: Whether the caller declared that the memory holds nothing yet.
    """

    memory: Array
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    is_output: bool = False


def typed_array(label: str, type: MemoryType, array: Array, is_written: bool) -> Array:
    """Returns `array` with the memref's element type.

    The languages' integers have no sign, so an unsigned array of the same width is accepted.

    Raises:
        ArgumentError: The element type differs, or the kernel writes and the array is read-only.
    """
    wanted = type.dtype
    if array.dtype != wanted:
        if not type.holds(array.dtype):
            order = "" if type.is_row_major else ", order='F'"
            raise ArgumentError(
                f"{label}: expected elements of type {wanted.name}, "
                f"given {_type_name(array)}; pass a converted copy, "
                f"e.g. array.astype({_constructor(wanted)}{order})"
            )
        array = array.view(wanted)
    if is_written and not array.flags.writeable:
        raise ArgumentError(f"{label}: the kernel writes to it, but the given array is read-only")
    return array


def _type_name(array: Array) -> str:
    """The element type of an array; a foreign byte order is shown, because it is no match."""
    return array.dtype.name if array.dtype.isnative else array.dtype.str


def _constructor(dtype: np.dtype[Any]) -> str:
    module = "ml_dtypes" if dtype.type.__module__ == "ml_dtypes" else "numpy"
    return f"{module}.{dtype.name}"


def bind_memref(label: str, type: MemoryType, value: Any, is_written: bool) -> View | DeviceView:
    """Checks the argument of a memref parameter: element type, shape and strides.

    Raises:
        ArgumentError: The argument is no array, or does not fit.
    """
    is_output = isinstance(value, Output)
    given = value.array if isinstance(value, Output) else value
    device_array = as_device_array(label, type, given)
    if device_array is not None:
        return _bind_device_array(label, type, device_array, is_written)
    array = typed_array(label, type, as_array(label, given), is_written)
    return _checked_view(label, type, array, is_output)


def bind_gpu_array(label: str, type: MemoryType, array: GpuArray, is_written: bool) -> DeviceView:
    """Checks an array of a CUDA GPU against a memref type.

    Raises:
        ArgumentError: It does not fit.
    """
    return _bind_device_array(label, type, from_gpu_array(label, type, array), is_written)


def _bind_device_array(
    label: str, type: MemoryType, array: DeviceArray, is_written: bool
) -> DeviceView:
    if is_written:
        check_is_writable(label, array)
    shape = shape_of(label, type, array)
    check_shape(label, type, shape)
    given = _packed_where_open(type, shape) if array.strides is None else array.strides
    strides = settled_strides(
        shape, given, is_row_major=type.is_row_major, divisors=type.stride_divisors
    )
    check_strides(label, type, shape, strides)
    # They differ only where a mode has fewer than two elements.
    strides = tuple(
        given if wanted == DYNAMIC else wanted
        for wanted, given in zip(type.strides_for(shape), strides, strict=True)
    )
    view = DeviceView(array.memory, shape, strides, array.offset)
    check_size(label, type, view, array)
    return view


def _packed_where_open(type: MemoryType, shape: Sequence[int]) -> tuple[int, ...]:
    """The type's strides; where it leaves one open, that of elements that follow each other."""
    return tuple(
        packed if wanted == DYNAMIC else wanted
        for wanted, packed in zip(type.strides_for(shape), type.packed_strides(shape), strict=True)
    )


def memory_of(label: str, value: Any) -> View:
    """The memory of an array of any element type, for a parameter that takes its address.

    Raises:
        ArgumentError: The array's elements do not follow each other in row-major order.
    """
    is_output = isinstance(value, Output)
    array = as_array(label, value.array if isinstance(value, Output) else value)
    if not array.flags.c_contiguous:
        raise ArgumentError(
            f"{label}: expected an array whose elements follow each other, because the kernel "
            "takes its address; numpy.ascontiguousarray makes such a copy"
        )
    return View(array.reshape(-1), array.shape, element_strides(label, array), is_output)


def _checked_view(label: str, type: MemoryType, array: Array, is_output: bool) -> View:
    check_shape(label, type, array.shape)
    given = element_strides(
        label, array, is_row_major=type.is_row_major, divisors=type.stride_divisors
    )
    check_strides(label, type, array.shape, given)
    # They differ only where a mode has fewer than two elements.
    strides = tuple(
        stride if wanted == DYNAMIC else wanted
        for wanted, stride in zip(type.strides_for(array.shape), given, strict=True)
    )
    return View(flat_memory(array, given), array.shape, strides, is_output)


def flat_memory(array: Array, strides: Sequence[int]) -> Array:
    """Returns the memory from the first to past the last element as an array of order 1."""
    if array.size == 0:
        return np.empty(0, array.dtype)
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True))
    # numpy's as_strided does not know the names of all types of ml_dtypes.
    elements = array.view(f"u{array.itemsize}") if array.itemsize <= _WIDEST_INTEGER else array
    flat = np.lib.stride_tricks.as_strided(
        elements, (span,), (array.itemsize,), writeable=array.flags.writeable
    )
    return flat.view(array.dtype)


_WIDEST_INTEGER = 8
"""Bytes of numpy's widest integers."""


def check_shape(label: str, type: MemoryType, shape: Sequence[int]) -> None:
    """Checks sizes against a memref type.

    Raises:
        ArgumentError: The order or a size differs.
    """
    if type.has_any_shape or (len(shape) == type.order and _fits(type.shape, shape)):
        return
    hint = ""
    if len(shape) == type.order > 1 and _fits(type.shape, shape[::-1]):
        hint = "; the given array looks transposed, the first mode is the one of the rows"
        hint = hint.partition(",")[0] if type.is_row_major else hint
    raise ArgumentError(
        f"{label}: expected shape {list_text(type.shape)}, given shape {list_text(shape)}{hint}"
    )


def check_strides(
    label: str, type: MemoryType, shape: Sequence[int], strides: Sequence[int]
) -> None:
    """Checks strides in elements against a memref type.

    Raises:
        ArgumentError: A stride differs from the type's, or the modes overlap.
    """
    if math.prod(shape) == 0:
        return
    expected = type.strides_for(shape)
    if any(
        wanted not in (DYNAMIC, given) and size > 1
        for wanted, given, size in zip(expected, strides, shape, strict=True)
    ):
        raise ArgumentError(
            f"{label}: expected strides {list_text(expected)}, given strides "
            f"{list_text(strides)} for shape {list_text(shape)}, counted in elements"
            f"{_stride_hint(type, shape)}"
        )
    if not type.is_row_major:
        _check_order(label, shape, strides)
    elif min(strides, default=0) < 0:
        raise ArgumentError(
            f"{label}: expected strides of at least 0, given strides {list_text(strides)}; "
            "numpy.ascontiguousarray makes a row-major copy"
        )


def _stride_hint(type: MemoryType, shape: Sequence[int]) -> str:
    expected, packed = type.strides_for(shape), type.packed_strides(shape)
    if not _fits(expected, packed):
        return ""
    if type.is_row_major:
        return "; numpy.ascontiguousarray makes a row-major copy"
    return "; numpy.asfortranarray makes a column-major copy"


def _check_order(label: str, shape: Sequence[int], strides: Sequence[int]) -> None:
    """Checks 1 <= S_1 and S_{i-1} s_{i-1} <= S_i; a mode of size 1 fits anywhere."""
    least = 1
    for size, stride in zip(shape, strides, strict=True):
        if size < 2:
            continue
        if stride < least:
            raise ArgumentError(
                f"{label}: expected strides of at least 1 in which each mode lies outside the "
                f"one before (S_1 s_1 <= S_2), given strides {list_text(strides)} for shape "
                f"{list_text(shape)}, counted in elements; "
                "numpy.asfortranarray makes a column-major copy"
            )
        least = stride * size


def check_divisors(
    label: str, attributes: dict[str, Attribute], shape: Sequence[int], strides: Sequence[int]
) -> None:
    """Checks the promises shape_gcd and stride_gcd.

    Raises:
        ArgumentError: A size or stride is no multiple of the promised divisor.
    """
    if not attributes:
        return
    for name, what, values in (
        ("shape_gcd", "sizes", shape),
        ("stride_gcd", "strides", strides),
    ):
        divisors = list(integers_of(attributes.get(name)))
        promised = list(zip(values, divisors, strict=False))
        if any(divisor and value % divisor for value, divisor in promised):
            raise ArgumentError(
                f"{label}: expected {what} divisible by {name}={divisors}, as the kernel "
                f"promises, given {what} {list_text(values)}"
            )


def _fits(expected: Sequence[int], given: Sequence[int]) -> bool:
    return all(wanted in (DYNAMIC, size) for wanted, size in zip(expected, given, strict=True))


def list_text(values: Sequence[int]) -> str:
    """Sizes or strides as messages show them, e.g. `(4, ?)`."""
    entries = ", ".join("?" if value == DYNAMIC else str(value) for value in values)
    return f"({entries},)" if len(values) == 1 else f"({entries})"
