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

from typing_extensions import override

from xtile.arguments.errors import DeviceError
from xtile.backends.gpu.driver import GpuDriver, GpuError, Size3
from xtile.backends.nvidia.tools import PACKAGES
from xtile.backends.parameters import Slot

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


class CudaError(GpuError):
    """The driver refused a call, or a kernel failed."""

    def __init__(self, function: str, name: str, text: str) -> None:
        super().__init__(function, name, text, is_sticky=name in _STICKY)


class Active:
    """The time in which a context is that of the thread."""

    def __init__(self, driver: Driver, context: Any) -> None:
        self._driver = driver
        self._context = context
        self._is_pushed = False

    def __enter__(self) -> None:
        # Where torch or CuPy works on the GPU, it is the thread's context already.
        if int(self._driver.call("cuCtxGetCurrent")) != int(self._context):
            self._driver.call("cuCtxPushCurrent", self._context)
            self._is_pushed = True

    def __exit__(self, *error: object) -> None:
        if self._is_pushed:
            self._driver.call("cuCtxPopCurrent")


_FREE_SHARED_MEMORY = 48 * 1024
"""Bytes of shared memory that a launch may give to a block without having asked for them."""

_LEAST_HEAP = 1 << 30
"""Bytes that a heap has at least, so that few kernels find an earlier one's too small."""

_NOT_READY = "CUDA_ERROR_NOT_READY"
"""What the driver answers where an event is yet to come."""


class Driver(GpuDriver):
    """The functions of the driver.

    Kernels run in the primary context, which torch, CuPy and CUDA's runtime use, too, so that all
    of them share memory. A grid of tile blocks stays below 2^24, because hardware code computes
    their numbers in 24 bits, as in cuTile Python 1.7.0.

    Sources: CUDA Driver API 13.0, modules "Primary Context Management", "Module Management",
    "Execution Control", "Memory Management" and "Event Management".

    Attributes:
        api: The module with the functions.
    """

    DEVICE = "cuda"
    GPU = "CUDA GPU"
    MOST_BLOCKS = (2**24 - 1, 2**16 - 1, 2**16 - 1)

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

    # --- contexts ---

    @override
    def context(self, ordinal: int) -> Any:
        return self.call("cuDevicePrimaryCtxRetain", self.call("cuDeviceGet", ordinal))

    @override
    def active(self, context: Any) -> Active:
        return Active(self, context)

    # --- kernels ---

    @override
    def load(self, code: bytes) -> Any:
        return self.call("cuModuleLoadData", code)

    @override
    def function(self, module: Any, name: str, shared: int) -> Any:
        function = self.call("cuModuleGetFunction", module, name.encode())
        if shared > _FREE_SHARED_MEMORY:
            kinds = self.api.CUfunction_attribute
            kind = kinds.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            self.call("cuFuncSetAttribute", function, kind, shared)
        return function

    @override
    def slots(self, function: Any) -> tuple[Slot, ...] | None:
        if not hasattr(self.api, "cuFuncGetParamInfo"):
            return None
        slots: list[Slot] = []
        while True:
            try:
                offset, size = self.call("cuFuncGetParamInfo", function, len(slots))
            except CudaError as error:
                # This is how the driver says that there are no more.
                return tuple(slots) if error.name == "CUDA_ERROR_INVALID_VALUE" else None
            # Drivers before CUDA 12.4 lack the function.
            except RuntimeError:
                return None
            slots.append(Slot(int(offset), int(size)))

    @override
    def launch(
        self,
        function: Any,
        grid: Size3,
        threads: int,
        shared: int,
        stream: int,
        parameters: int,
    ) -> None:
        self.call("cuLaunchKernel", function, *grid, threads, 1, 1, shared, stream, parameters, 0)

    @override
    def reserve_heap(self, device: Any, size: int) -> None:
        """A GPU's heap must have its size before a kernel that uses it is loaded.

        Raises:
            DeviceError: The heap is too small, and the driver does not let it grow any more.
        """
        if size == 0:
            return
        # Each allocation has a header, and the heap must not be full.
        needed = 2 * size * device.multiprocessors * device.blocks_per_multiprocessor
        limit = self.api.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE
        if int(self.call("cuCtxGetLimit", limit)) >= needed:
            return
        wanted = min(max(needed, _LEAST_HEAP), device.memory // 2)
        try:
            self.call("cuCtxSetLimit", limit, wanted)
        except CudaError as error:
            raise DeviceError(
                f"the device {device} has too small a heap for tile blocks that allocate {size} "
                f"bytes each, and it cannot grow after kernels have used it: {error}; run this "
                "kernel first"
            ) from None

    # --- memory ---

    @override
    def allocate(self, size: int) -> int:
        return int(self.call("cuMemAlloc", size))

    @override
    def free(self, address: int) -> None:
        self.call("cuMemFree", address)

    @override
    def copy_there(self, address: int, host: int, size: int) -> None:
        self.call("cuMemcpyHtoD", address, host, size)

    @override
    def copy_back(self, host: int, address: int, size: int) -> None:
        self.call("cuMemcpyDtoH", host, address, size)

    # --- events ---

    @override
    def event(self, *, has_time: bool) -> Any:
        no_timing = self.api.CUevent_flags.CU_EVENT_DISABLE_TIMING
        return self.call("cuEventCreate", 0 if has_time else int(no_timing))

    @override
    def record(self, event: Any, stream: int) -> None:
        self.call("cuEventRecord", event, stream)

    @override
    def is_done(self, event: Any) -> bool:
        try:
            self.call("cuEventQuery", event)
        except CudaError as error:
            return error.name != _NOT_READY
        return True

    @override
    def wait(self, event: Any) -> None:
        self.call("cuEventSynchronize", event)

    @override
    def let_wait(self, stream: int, event: Any) -> None:
        self.call("cuStreamWaitEvent", stream, event, 0)

    @override
    def milliseconds(self, start: Any, end: Any) -> float:
        return float(self.call("cuEventElapsedTime", start, end))

    @override
    def destroy(self, event: Any) -> None:
        self.call("cuEventDestroy", event)

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
            f"there is no NVIDIA GPU to use: the package cuda-bindings is missing; {PACKAGES}"
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
