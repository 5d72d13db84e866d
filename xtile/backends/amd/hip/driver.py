"""HIP, AMD's driver, by ctypes: there is one library for all that use the GPU, torch's included.

Source: HIP 6.4, `hip_runtime_api.h`, whose functions return a status and write through pointers.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_float, c_int, c_size_t, c_uint, c_void_p
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from typing_extensions import override

from xtile.arguments.errors import DeviceError
from xtile.backends.amd.hsaco import KernelMetadata, kernels_of
from xtile.backends.gpu.driver import GpuDriver, GpuError, Size3
from xtile.backends.parameters import Slot

_LIBRARY = "libamdhip64.so"

_VERSIONS = ("", ".7", ".6")
"""What follows the library's name; that of ROCm 5 has other properties of devices."""

_NOT_READY = 600
"""hipErrorNotReady, the answer where an event is yet to come."""

_DISABLE_TIMING = 2
"""hipEventDisableTiming."""

_STICKY = frozenset({700, 710, 719, 720})
"""hipErrorIllegalAddress, hipErrorAssert, hipErrorLaunchFailure and the like: a kernel failed."""

SIGNATURES: dict[str, tuple[Any, ...]] = {
    "hipInit": (c_uint,),
    "hipDriverGetVersion": (c_void_p,),
    "hipGetDeviceCount": (c_void_p,),
    "hipGetDevice": (c_void_p,),
    "hipSetDevice": (c_int,),
    "hipGetDevicePropertiesR0600": (c_void_p, c_int),
    "hipModuleLoadData": (c_void_p, c_char_p),
    "hipModuleGetFunction": (c_void_p, c_void_p, c_char_p),
    "hipModuleLaunchKernel": (c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p),
    "hipMalloc": (c_void_p, c_size_t),
    "hipFree": (c_void_p,),
    "hipMemcpyHtoD": (c_void_p, c_void_p, c_size_t),
    "hipMemcpyDtoH": (c_void_p, c_void_p, c_size_t),
    "hipEventCreateWithFlags": (c_void_p, c_uint),
    "hipEventRecord": (c_void_p, c_void_p),
    "hipEventQuery": (c_void_p,),
    "hipEventSynchronize": (c_void_p,),
    "hipStreamWaitEvent": (c_void_p, c_void_p, c_uint),
    "hipEventElapsedTime": (c_void_p, c_void_p, c_void_p),
    "hipEventDestroy": (c_void_p,),
}
"""The functions with the types of their parameters."""


@dataclass(frozen=True)
class _Module:
    """Machine code on a GPU.

    Attributes:
        handle: The driver's module.
        kernels: What the code says of its kernels.
    """

    handle: int
    kernels: dict[str, KernelMetadata]


@dataclass(frozen=True)
class _Function:
    """A kernel on a GPU.

    Attributes:
        handle: The driver's function.
        slots: Its parameters.
    """

    handle: int
    slots: tuple[Slot, ...]


class HipDriver(GpuDriver):
    """The functions of HIP.

    A GPU has one context, which is chosen for a thread by the GPU's number.

    Attributes:
        library: The library, or what has its functions.
    """

    DEVICE = "hip"
    GPU = "AMD GPU"
    MOST_BLOCKS = (2**31 - 1, 2**16 - 1, 2**16 - 1)

    def __init__(self, library: Any) -> None:
        self.library = library

    def call(self, name: str, *arguments: Any) -> None:
        """Calls a function.

        Raises:
            GpuError: The status is an error.
        """
        status = int(getattr(self.library, name)(*arguments))
        if status:
            raise self._error(name, status)

    def _error(self, function: str, status: int) -> GpuError:
        name, text = (
            getattr(self.library, each)(status) for each in ("hipGetErrorName", "hipGetErrorString")
        )
        return GpuError(
            function,
            name.decode(errors="replace") if name else str(status),
            text.decode(errors="replace") if text else "unknown error",
            is_sticky=status in _STICKY,
        )

    def number(self, name: str, *arguments: Any) -> int:
        """Calls a function that writes an int through its first pointer."""
        found = c_int()
        self.call(name, byref(found), *arguments)
        return found.value

    def _handle(self, name: str, *arguments: Any) -> int:
        """Calls a function that writes an address through its first pointer."""
        found = c_void_p()
        self.call(name, byref(found), *arguments)
        return found.value or 0

    # --- contexts ---

    @override
    def context(self, ordinal: int) -> int:
        return ordinal

    @override
    @contextmanager
    def active(self, context: int) -> Generator[None]:
        before = self.number("hipGetDevice")
        if before != context:
            self.call("hipSetDevice", context)
        try:
            yield
        finally:
            if before != context:
                self.call("hipSetDevice", before)

    # --- kernels ---

    @override
    def load(self, code: bytes) -> _Module:
        kernels = dict(kernels_of(code))
        return _Module(self._handle("hipModuleLoadData", code), kernels)

    @override
    def function(self, module: _Module, name: str, shared: int) -> _Function:
        # A block has all of the memory that its chip has, without being asked for it.
        handle = self._handle("hipModuleGetFunction", module.handle, name.encode())
        return _Function(handle, module.kernels[name].slots)

    @override
    def slots(self, function: _Function) -> tuple[Slot, ...]:
        return function.slots

    @override
    def launch(
        self,
        function: _Function,
        grid: Size3,
        threads: int,
        shared: int,
        stream: int,
        parameters: int,
    ) -> None:
        self.call(
            "hipModuleLaunchKernel",
            *(function.handle, *grid, threads, 1, 1, shared, stream, parameters, None),
        )

    # --- memory ---

    @override
    def allocate(self, size: int) -> int:
        return self._handle("hipMalloc", size)

    @override
    def free(self, address: int) -> None:
        self.call("hipFree", address)

    @override
    def copy_there(self, address: int, host: int, size: int) -> None:
        self.call("hipMemcpyHtoD", address, host, size)

    @override
    def copy_back(self, host: int, address: int, size: int) -> None:
        self.call("hipMemcpyDtoH", host, address, size)

    # --- events ---

    @override
    def event(self, *, has_time: bool) -> int:
        return self._handle("hipEventCreateWithFlags", 0 if has_time else _DISABLE_TIMING)

    @override
    def record(self, event: int, stream: int) -> None:
        self.call("hipEventRecord", event, stream)

    @override
    def is_done(self, event: int) -> bool:
        return int(self.library.hipEventQuery(event)) != _NOT_READY

    @override
    def wait(self, event: int) -> None:
        self.call("hipEventSynchronize", event)

    @override
    def let_wait(self, stream: int, event: int) -> None:
        self.call("hipStreamWaitEvent", stream, event, 0)

    @override
    def milliseconds(self, start: int, end: int) -> float:
        found = c_float()
        self.call("hipEventElapsedTime", byref(found), start, end)
        return found.value

    @override
    def destroy(self, event: int) -> None:
        self.call("hipEventDestroy", event)


_NO_DRIVER = "there is no AMD GPU here: its library libamdhip64.so is not installed"


def find_library() -> Any:
    """HIP's library: the one that is loaded, torch's, that of ROCm; None if there is none."""
    if sys.platform != "linux":
        return None
    for path in _paths():
        try:
            library: Any = ctypes.CDLL(path)
        except OSError:
            continue
        if hasattr(library, "hipGetDevicePropertiesR0600"):
            return library
    return None


def _paths() -> Iterator[str]:
    """Where the library may be, the best location first."""
    yield from _loaded()
    torch = sys.modules.get("torch")
    if torch is not None and torch.__file__ is not None:
        # Two copies of the library in a process do not know each other's memory.
        yield from map(str, Path(torch.__file__).parent.glob(f"lib/{_LIBRARY}*"))
    for version in _VERSIONS:
        yield f"{_LIBRARY}{version}"
    yield from (f"/opt/rocm/lib/{_LIBRARY}{version}" for version in _VERSIONS)


_MAPS = Path("/proc/self/maps")


def _loaded() -> Iterator[str]:
    """The library that the process has already."""
    try:
        lines = _MAPS.read_text().splitlines()
    except OSError:
        return
    paths = (line.split(maxsplit=5)[-1] for line in lines)
    yield from dict.fromkeys(path for path in paths if f"/{_LIBRARY}" in path)


def declare(library: Any) -> None:
    """Tells ctypes the types of the library's functions."""
    for name, types in SIGNATURES.items():
        getattr(library, name).argtypes = types
    for name in ("hipGetErrorName", "hipGetErrorString"):
        function = getattr(library, name)
        function.argtypes, function.restype = (c_int,), c_char_p


@cache
def load_driver() -> HipDriver:
    """HIP, ready to be used.

    Raises:
        DeviceError: There is no library, or no GPU; the message says which.
    """
    library = find_library()
    if library is None:
        raise DeviceError(_NO_DRIVER)
    declare(library)
    driver = HipDriver(library)
    try:
        driver.call("hipInit", 0)
    except GpuError as error:
        raise DeviceError(f"there is no AMD GPU here: {error}") from None
    return driver
