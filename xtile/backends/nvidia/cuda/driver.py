"""The CUDA driver, through NVIDIA's `cuda.bindings.driver`.

Source: CUDA Driver API 13.0, module "Initialization"; cuda-bindings 13.5, whose functions return a
status and then what C writes through pointers.
"""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from importlib import import_module
from typing import Any

from xtile.arguments.errors import DeviceError

ADVICE = "pip install 'xtile[nvidia]'"
"""The command that brings what calls the driver."""

_MODULE = "cuda.bindings.driver"

_STICKY = frozenset(
    {
        "CUDA_ERROR_ILLEGAL_ADDRESS",
        "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        "CUDA_ERROR_MISALIGNED_ADDRESS",
        "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "CUDA_ERROR_INVALID_PC",
        "CUDA_ERROR_HARDWARE_STACK_ERROR",
        "CUDA_ERROR_ASSERT",
        "CUDA_ERROR_LAUNCH_FAILED",
        "CUDA_ERROR_LAUNCH_TIMEOUT",
    }
)
"""Errors of a kernel, after which the driver takes no more calls from the process."""


class CudaError(Exception):
    """The driver refused a call, or a kernel failed.

    Attributes:
        name: The error's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
        text: What the driver says about it.
    """

    def __init__(self, function: str, name: str, text: str) -> None:
        super().__init__(f"{function}: {name}: {text}")
        self.name = name
        self.text = text

    @property
    def is_sticky(self) -> bool:
        """Whether the process can use the GPU no more."""
        return self.name in _STICKY


class Driver:
    """The functions of the driver.

    Attributes:
        api: The module with the functions.
    """

    def __init__(self, api: Any) -> None:
        self.api = api

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function; returns what it returns beside the status.

        Raises:
            CudaError: The status is an error.
        """
        status, *results = getattr(self.api, name)(*arguments)
        if int(status):
            raise self._error(name, status)
        return results[0] if len(results) == 1 else tuple(results)

    def attribute(self, name: str, device: Any) -> int:
        """An attribute of a GPU by its name without `CU_DEVICE_ATTRIBUTE_`."""
        attribute = getattr(self.api.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{name}")
        return int(self.call("cuDeviceGetAttribute", attribute, device))

    def _error(self, function: str, status: Any) -> CudaError:
        return CudaError(
            function,
            _text(self.api.cuGetErrorName(status), str(int(status))),
            _text(self.api.cuGetErrorString(status), "unknown error"),
        )


def _text(result: tuple[Any, ...], otherwise: str) -> str:
    """A text of the driver's; errors of newer drivers have none."""
    status, text = result
    return otherwise if int(status) or not text else text.decode(errors="replace")


_LIBRARY = "libcuda.so.1"
"""The driver on Linux."""

_NO_DRIVER = "there is no NVIDIA GPU here: its driver is not installed"


def has_library() -> bool:
    """Whether the driver may be there; finding out takes no time, unlike loading the package."""
    if sys.platform != "linux":
        return True
    try:
        ctypes.CDLL(_LIBRARY)
    except OSError:
        return False
    return True


@cache
def load_driver() -> Driver:
    """The driver, ready to be used.

    Raises:
        DeviceError: There is no driver, or nothing to call it with; the message says which.
    """
    if not has_library():
        raise DeviceError(_NO_DRIVER)
    try:
        api = import_module(_MODULE)
    except ImportError:
        raise DeviceError(
            f"there is no NVIDIA GPU to use: the package cuda-bindings is missing; {ADVICE}"
        ) from None
    driver = Driver(api)
    try:
        driver.call("cuInit", 0)
    except CudaError as error:
        raise DeviceError(f"there is no NVIDIA GPU here: {error}") from None
    # Where there is no driver, each version of the package raises an error of its own.
    except (OSError, RuntimeError):
        raise DeviceError(_NO_DRIVER) from None
    return driver
