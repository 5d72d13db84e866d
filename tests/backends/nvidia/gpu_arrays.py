"""Arrays of other libraries on a GPU, over the memory of numpy's arrays: a fake driver's memory."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator

ORDINAL = 0


class Interface:
    """Has the CUDA Array Interface, as CuPy's and Numba's arrays have."""

    def __init__(
        self, array: Any, stream: int | None = None, ordinal: int | None = None, **changed: Any
    ) -> None:
        self.array = array
        self.__cuda_array_interface__ = {
            "shape": array.shape,
            "typestr": array.dtype.str,
            "data": (array.__array_interface__["data"][0], not array.flags.writeable),
            "strides": array.strides,
            "stream": stream,
            "version": 3,
            **changed,
        }
        if ordinal is not None:
            self.device = SimpleNamespace(id=ordinal)


class Dlpack:
    """Has DLPack's protocol, as JAX's arrays have.

    Attributes:
        streams: The streams for which its memory was asked.
    """

    def __init__(self, array: Any, device: tuple[int, int] = (2, ORDINAL)) -> None:
        self.array = array
        self.device = device
        self.streams: list[int | None] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, stream: int | None = None) -> Any:
        self.streams.append(stream)
        return self.array.__dlpack__()


class Tensor:
    """Has what torch's tensors on a GPU have."""

    is_cuda = True

    def __init__(
        self,
        array: Any,
        ordinal: int = ORDINAL,
        dtype: str | None = None,
        is_conj: bool = False,
        layout: str = "strided",
    ) -> None:
        self.array = array
        self.layout = layout
        self.dtype = f"torch.{dtype or array.dtype.name}"
        self.device = SimpleNamespace(type="cuda", index=ordinal)
        self.shape = array.shape
        self._is_conj = is_conj

    def data_ptr(self) -> int:
        return self.array.__array_interface__["data"][0]

    def stride(self) -> tuple[int, ...]:
        if self.layout != "strided":
            raise RuntimeError("there are no strides")
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def is_conj(self) -> bool:
        return self._is_conj

    def is_neg(self) -> bool:
        return False


Tensor.__module__ = "torch"


class TorchStream:
    """Has what torch's streams have."""

    def __init__(self, address: int, ordinal: int = ORDINAL) -> None:
        self.cuda_stream = address
        self.device_index = ordinal


TorchStream.__module__ = "torch.cuda.streams"


class CupyStream:
    """Has what CuPy's streams have."""

    def __init__(self, address: int, ordinal: int = ORDINAL) -> None:
        self.ptr = address
        self.device_id = ordinal


CupyStream.__module__ = "cupy.cuda.stream"


def install_torch(monkeypatch: pytest.MonkeyPatch, stream: int = 0) -> None:
    """Puts something in torch's location that knows the current stream."""

    def current_stream(ordinal: int) -> Any:
        return SimpleNamespace(cuda_stream=stream)

    cuda = SimpleNamespace(current_stream=current_stream)
    torch: Any = SimpleNamespace(cuda=cuda, strided="strided")
    monkeypatch.setitem(sys.modules, "torch", torch)


def random(*shape: int, dtype: Any = np.float32) -> Any:
    """Column-major random numbers."""
    return np.asfortranarray(fresh_generator().standard_normal(shape).astype(dtype))
