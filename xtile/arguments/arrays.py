"""Memory arguments: whatever holds an array, as a numpy array that shares its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

from xtile.arguments.dlpack import show_bf16_as_bits
from xtile.arguments.errors import ArgumentError, describe_type
from xtile.semantics.values import Array


@dataclass(frozen=True)
class Output:
    """Memory whose content before the launch means nothing.

    The sanitizer reports a kernel that reads from it before it writes to it. Floating point
    arrays that are NaN everywhere need no such declaration.

    Attributes:
        array: What would be passed without the declaration.
    """

    array: Any


_CPU_DEVICES = frozenset({1, 3})
"""DLPack's device types whose memory the CPU reads: CPU and pinned CUDA host memory."""


def as_array(name: str, value: object) -> Array:
    """Returns a numpy array on the memory of `value`: of an array, a tensor, or DLPack data.

    Nothing is copied, so that what a kernel writes arrives in `value`.

    Args:
        name: What messages call the argument.
        value: A numpy array, a torch tensor on the CPU, a `pyopencl.SVM` of an array, or anything
            with `__dlpack__`.

    Raises:
        ArgumentError: The value is none of these, or its memory is not accessible here.
    """
    if isinstance(value, np.ndarray):
        return value  # pyright: ignore[reportUnknownVariableType]
    if type(value).__module__.partition(".")[0] == "pyopencl" and hasattr(value, "mem"):
        # pyopencl.SVM marks memory of the host.
        return as_array(name, cast(Any, value).mem)
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        return _from_torch(name, value)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(name, value)
    raise ArgumentError(
        f"{name}: expected a numpy array or an object with __dlpack__, "
        f"given {describe_type(value)}{_array_hint(value)}"
    )


def _array_hint(value: object) -> str:
    if isinstance(value, list | tuple):
        return "; a list is the argument of a group"
    if isinstance(value, int | float | complex | np.generic):
        return "; a kernel writes through a memref, so even one number must be in an array"
    return ""


def _from_torch(name: str, tensor: Any) -> Array:
    """Returns the memory of a torch tensor; numpy's DLPack knows no bf16, so it goes as i16."""
    import torch  # pyright: ignore[reportMissingImports, reportUnknownVariableType]

    if tensor.device.type != "cpu":
        raise _wrong_device(name, f"'{tensor.device}'")
    try:
        tensor = tensor.detach()
        if tensor.dtype == torch.bfloat16:  # pyright: ignore[reportUnknownMemberType]
            bits: Array = tensor.view(torch.int16).numpy()  # pyright: ignore[reportUnknownMemberType]
            return bits.view(ml_dtypes.bfloat16)
        return tensor.numpy()
    except (TypeError, RuntimeError) as error:
        raise _no_exchange(name, tensor, error) from error


def _from_dlpack(name: str, value: Any) -> Array:
    try:
        device_type, device_number = value.__dlpack_device__()
        if int(device_type) not in _CPU_DEVICES:
            raise _wrong_device(name, f"of DLPack type {int(device_type)}, number {device_number}")
        exporter = _Exporter(value)
        array: Array = np.from_dlpack(exporter)
        # numpy takes what cannot say whether it is read-only for read-only. But exporters refuse
        # to share read-only memory in this way.
        array = np.asarray(_Writable(array)) if exporter.is_unversioned else array
        return array.view(ml_dtypes.bfloat16) if exporter.is_bf16 else array
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        if isinstance(error, ArgumentError):
            raise
        raise _no_exchange(name, value, error) from error


class _Exporter:
    """Passes a request for memory on, and sees which of DLPack's two protocols answers it.

    Attributes:
        is_unversioned: Whether the answer is a capsule without a version and flags.
        is_bf16: Whether its elements are bf16, which numpy gets as integers.
    """

    def __init__(self, value: Any) -> None:
        self._value = value
        self.is_unversioned = False
        self.is_bf16 = False

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self._value.__dlpack__(**options)
        # A capsule's name is only seen in its representation.
        self.is_unversioned = ' "dltensor" ' in repr(capsule)
        self.is_bf16 = show_bf16_as_bits(capsule)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self._value.__dlpack_device__()


class _Writable:
    """Offers the memory of an array that is wrongly marked as read-only, and keeps it alive."""

    def __init__(self, array: Array) -> None:
        self._array = array
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _wrong_device(name: str, device: str) -> ArgumentError:
    return ArgumentError(
        f"{name}: expected memory of the CPU, but it lies on the device {device}; "
        "copy it to the CPU first"
    )


def _no_exchange(name: str, value: object, error: Exception) -> ArgumentError:
    reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return ArgumentError(f"{name}: {describe_type(value)} does not share its memory: {reason}")


def element_strides(
    name: str, array: Array, *, is_row_major: bool = False, divisors: Sequence[int] = ()
) -> tuple[int, ...]:
    """Returns the strides of an array in elements, those of small modes as `settled_strides` does.

    Args:
        name: What messages call the argument.
        array: The array.
        is_row_major: Whether the last mode is the innermost one, and not the first.
        divisors: What a kernel promises that strides are multiples of.

    Raises:
        ArgumentError: A stride is no multiple of the element size.
    """
    strides = in_elements(name, array.shape, array.strides, array.itemsize)
    return settled_strides(array.shape, strides, is_row_major=is_row_major, divisors=divisors)


def in_elements(
    name: str, shape: Sequence[int], strides: Sequence[int], element_size: int
) -> tuple[int, ...]:
    """Returns strides in bytes as strides in elements.

    Raises:
        ArgumentError: The stride of a mode with several elements is no multiple of their size.
    """
    modes = zip(shape, strides, strict=True)
    if any(stride % element_size for size, stride in modes if size > 1):
        raise ArgumentError(
            f"{name}: expected strides that are multiples of the element size "
            f"({element_size} bytes), given strides {tuple(strides)} in bytes"
        )
    return tuple(stride // element_size for stride in strides)


def settled_strides(
    shape: Sequence[int],
    strides: Sequence[int],
    *,
    is_row_major: bool,
    divisors: Sequence[int] = (),
) -> tuple[int, ...]:
    """Strides in which every mode with fewer than two elements has what packing asks for.

    No element's position depends on those, and libraries leave them arbitrary: numpy gives 0 to the
    new mode of `a[:, None, :]`. A kernel may still compute with them, as `fuse` does, and take one
    for the distance of rows.

    What packing asks for is the stride of the mode outside of it, so that it can be one with that
    mode, and at least what the elements inside of it take. Where a divisor is promised, it is the
    next multiple.

    Args:
        shape: Mode sizes in elements.
        strides: Strides in elements.
        is_row_major: Whether the mode inside of another one is the next one, not the previous one.
        divisors: What a kernel promises that strides are multiples of; 0 or nothing promises
            nothing.
    """
    order = range(len(shape))[::-1] if is_row_major else range(len(shape))
    promised = [*divisors, *[0] * (len(shape) - len(divisors))]
    settled = list(strides)
    inside = 1
    for position, mode in enumerate(order):
        if shape[mode] > 1:
            inside = strides[mode] * shape[mode]
            continue
        outside = next((strides[m] for m in order[position + 1 :] if shape[m] > 1), 0)
        wanted = max(1, inside, outside)
        settled[mode] = wanted + -wanted % (promised[mode] or 1)
    return tuple(settled)
