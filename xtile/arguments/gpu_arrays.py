"""Arrays that lie in the memory of a GPU already: of torch, CuPy, Numba, JAX and others.

Nothing is copied: a kernel works on the memory itself.

Sources: CUDA Array Interface, version 3 (Numba's documentation); DLPack 1.1, `dlpack.h`; Python
array API standard 2024.12, `__dlpack__`.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import ml_dtypes
import numpy as np

from xtile.arguments.arrays import in_elements
from xtile.arguments.dlpack import LEGACY_DEFAULT_STREAM, Tensor, read_tensor
from xtile.arguments.errors import ArgumentError

_GPU_DEVICES = frozenset({2, 10, 13})
"""DLPack's device types of memory of GPUs: of CUDA, of ROCm, and managed memory of CUDA."""


@dataclass(frozen=True)
class GpuMemory:
    """Memory of a GPU of NVIDIA or AMD.

    Attributes:
        address: Where it begins.
        ordinal: The GPU's number; None where the array does not tell.
        stream: The stream that its content may still be computed in; None if it is there.
        is_read_only: Whether no kernel may write to it.
        owner: What keeps it alive.
    """

    address: int
    ordinal: int | None
    stream: int | None = None
    is_read_only: bool = False
    owner: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class GpuArray:
    """An array in the memory of a GPU.

    Attributes:
        memory: Where it begins.
        dtype: The type of its elements; None where numpy has none.
        type_name: The type's name for messages.
        shape: Mode sizes in elements.
        strides: Strides in elements; None if the elements follow each other in row-major order.
    """

    memory: GpuMemory
    dtype: np.dtype[Any] | None
    type_name: str
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None

    def element_strides(self) -> tuple[int, ...]:
        """Strides in elements, whatever the array itself says."""
        if self.strides is not None:
            return self.strides
        strides: list[int] = []
        packed = 1
        for size in reversed(self.shape):
            strides.append(packed)
            packed *= size
        return tuple(reversed(strides))


def gpu_array_of(label: str, value: Any) -> GpuArray | None:
    """The array that a value is in the memory of a GPU; None if it lies elsewhere.

    Raises:
        ArgumentError: It lies there, but does not share its memory.
    """
    if isinstance(value, np.ndarray):
        return None
    if type(value).__module__.partition(".")[0] == "torch":
        return _of_torch(label, value) if getattr(value, "is_cuda", False) else None
    if hasattr(value, "__cuda_array_interface__"):
        return _of_interface(label, value)
    if hasattr(value, "__dlpack_device__") and hasattr(value, "__dlpack__"):
        kind, ordinal = value.__dlpack_device__()
        if int(kind) in _GPU_DEVICES:
            return _of_dlpack(label, value, int(ordinal))
    return None


def layout_of(value: Any) -> Hashable | None:
    """What launches on a value depend on, except for its address; None where that is more.

    Arrays on a GPU with equal layouts are checked alike. All numbers have one layout.
    """
    if isinstance(value, int | float | complex | np.generic):
        return _NUMBER
    if isinstance(value, np.ndarray):
        return None
    if type(value).__module__.partition(".")[0] == "torch":
        return _torch_layout(value)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None or interface.get("mask") is not None:
        return None
    return (
        *(interface["typestr"], interface["shape"], interface.get("strides")),
        *(interface["data"][1], getattr(value, "dtype", None), _ordinal_of(value)),
    )


_NUMBER = "number"


def _torch_layout(tensor: Any) -> Hashable | None:
    if not getattr(tensor, "is_cuda", False) or not _is_strided(tensor):
        return None
    return (
        *(tensor.dtype, tensor.shape, tensor.stride(), tensor.device.index),
        *(tensor.is_conj(), tensor.is_neg()),
    )


def address_and_stream(value: Any) -> tuple[int, int | None]:
    """The address of an array with a layout, and the stream in which it may still be computed."""
    if type(value).__module__.partition(".")[0] == "torch":
        return value.data_ptr(), _stream_of_torch(value.device.index)
    interface = value.__cuda_array_interface__
    return interface["data"][0], interface.get("stream")


_TORCH_TYPES: Mapping[str, Any] = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8_e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8_e5m2": ml_dtypes.float8_e5m2,
    "float8_e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8_e8m0fnu": ml_dtypes.float8_e8m0fnu,
    **{
        name: np.dtype(name)
        for name in (
            *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
            *("float16", "float32", "float64", "complex64", "complex128"),
        )
    },
}
"""The element types of torch by name."""


def _of_torch(label: str, tensor: Any) -> GpuArray:
    if not _is_strided(tensor) or tensor.is_conj() or tensor.is_neg():
        raise ArgumentError(
            f"{label}: expected a tensor whose elements lie in memory as they are, given a sparse, "
            "conjugated or negated view; tensor.to_dense() or tensor.resolve_conj() makes a copy"
        )
    name = str(tensor.dtype).removeprefix("torch.")
    dtype = _TORCH_TYPES.get(name)
    ordinal = int(tensor.device.index)
    memory = GpuMemory(tensor.data_ptr(), ordinal, _stream_of_torch(ordinal), owner=tensor)
    return GpuArray(
        memory,
        None if dtype is None else np.dtype(dtype),
        name,
        tuple(tensor.shape),
        tuple(tensor.stride()),
    )


def _is_strided(tensor: Any) -> bool:
    """Whether a tensor's elements lie at strides; sparse and nested ones have none."""
    torch: Any = sys.modules["torch"]
    return tensor.layout is torch.strided


def _stream_of_torch(ordinal: int) -> int:
    torch: Any = sys.modules["torch"]
    return int(torch.cuda.current_stream(ordinal).cuda_stream)


def _of_interface(label: str, value: Any) -> GpuArray:
    interface: Any = value.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise ArgumentError(f"{label}: an array with a mask cannot be passed to a kernel")
    address, is_read_only = cast("tuple[int, bool]", interface["data"])
    dtype = _dtype_of_interface(value, interface["typestr"])
    strides = interface.get("strides")
    return GpuArray(
        GpuMemory(address, _ordinal_of(value), interface.get("stream"), is_read_only, value),
        dtype,
        interface["typestr"] if dtype is None else dtype.name,
        tuple(interface["shape"]),
        None if strides is None else _in_elements(label, interface),
    )


def _dtype_of_interface(value: Any, text: str) -> np.dtype[Any] | None:
    """The element type; numpy's own notation has no names for those of ml_dtypes."""
    own = getattr(value, "dtype", None)
    if isinstance(own, np.dtype):
        return cast("np.dtype[Any]", own)
    try:
        dtype = np.dtype(text)
    except TypeError:
        return None
    return None if dtype.kind == "V" else dtype


def _in_elements(label: str, interface: Any) -> tuple[int, ...]:
    element_size = int(interface["typestr"][2:])
    return in_elements(label, interface["shape"], interface["strides"], element_size)


def _ordinal_of(value: Any) -> int | None:
    """The number of the GPU that an array of CuPy lies on; others do not tell."""
    ordinal = getattr(getattr(value, "device", None), "id", None)
    return ordinal if isinstance(ordinal, int) else None


_DLPACK_TYPES: Mapping[tuple[int, int], Any] = {
    **{(0, bits): np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{(1, bits): np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
    **{(2, bits): np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    (4, 16): ml_dtypes.bfloat16,
    **{(5, bits): np.dtype(f"complex{bits}") for bits in (64, 128)},
    (6, 8): np.dtype(np.bool_),
    (10, 8): ml_dtypes.float8_e4m3fn,
    (11, 8): ml_dtypes.float8_e4m3fnuz,
    (12, 8): ml_dtypes.float8_e5m2,
    (13, 8): ml_dtypes.float8_e5m2fnuz,
    (14, 8): ml_dtypes.float8_e8m0fnu,
}
"""The element types by DLPack's type code and bits (DLDataTypeCode of DLPack 1.1)."""


def _of_dlpack(label: str, value: Any, ordinal: int) -> GpuArray:
    try:
        capsule = value.__dlpack__(stream=LEGACY_DEFAULT_STREAM)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError) as error:
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise ArgumentError(f"{label}: its memory is not shared: {reason}") from None
    tensor = read_tensor(capsule)
    dtype = _DLPACK_TYPES.get((tensor.type_code, tensor.bits)) if tensor.lanes == 1 else None
    # The producer lets the default stream wait for its own one, as it was asked to.
    memory = GpuMemory(tensor.address, ordinal, 0, tensor.is_read_only, (capsule, value))
    return GpuArray(
        memory,
        None if dtype is None else np.dtype(dtype),
        _type_name(tensor, dtype),
        tensor.shape,
        tensor.strides,
    )


def _type_name(tensor: Tensor, dtype: Any) -> str:
    if dtype is not None:
        return np.dtype(dtype).name
    return f"DLPack type {tensor.type_code} of {tensor.bits} bits"
