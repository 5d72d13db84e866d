"""A CUDA driver without a GPU: its memory is the host's, and a kernel is a Python function.

It does what `cuda.bindings.driver` does, as far as launches use it, and records the calls, so that
what reaches a kernel is checked by value.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from xtile.backends.nvidia.cuda import device as device_module
from xtile.backends.nvidia.cuda import driver as driver_module
from xtile.backends.nvidia.cuda import platform as platform_module
from xtile.backends.nvidia.cuda.driver import Driver
from xtile.launch.gpu import kept_variants

OK = 0
INVALID_VALUE = 1
ILLEGAL_ADDRESS = 700

_NAMES = {
    INVALID_VALUE: b"CUDA_ERROR_INVALID_VALUE",
    2: b"CUDA_ERROR_OUT_OF_MEMORY",
    209: b"CUDA_ERROR_NO_BINARY_FOR_GPU",
    500: b"CUDA_ERROR_NOT_FOUND",
    ILLEGAL_ADDRESS: b"CUDA_ERROR_ILLEGAL_ADDRESS",
}
"""Source: CUDA Driver API 13.0, enumeration CUresult."""

_CONTEXT = 77

Body = Callable[..., None]
"""A kernel: called with the block's three numbers, then with its parameters as integers."""


@dataclass
class FakeKernel:
    """A kernel of every cubin that is loaded.

    Attributes:
        sizes: Bytes of each parameter.
        body: What a block does; its parameters are the bits of what is passed.
    """

    sizes: Sequence[int]
    body: Body

    def slots(self) -> list[tuple[int, int]]:
        """Offset and size of each parameter."""
        slots: list[tuple[int, int]] = []
        end = 0
        for size in self.sizes:
            start = -(-end // size) * size
            slots.append((start, size))
            end = start + size
        return slots


@dataclass
class FakeGpu:
    """One GPU.

    Attributes:
        name: What it is called.
        capability: Its compute capability.
    """

    name: str = "Fake H200"
    capability: tuple[int, int] = (9, 0)


@dataclass
class FakeApi:
    """The module of the driver's functions.

    Attributes:
        gpus: The GPUs.
        kernels: Those of every cubin, by name.
        calls: The names of the functions that were called.
        launches: Grid and stream of each launch.
        blocks: The threads of a block, and its shared memory in bytes, of each launch.
        reserved: Bytes of shared memory that were asked for before.
        waits: Which stream waited for which.
        failures: What functions return instead of success.
        live: Allocations that were not freed.
        heap: Bytes of the heap of kernels.
        loaded: The cubins that were loaded.
    """

    gpus: Sequence[FakeGpu] = (FakeGpu(),)
    kernels: dict[str, FakeKernel] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    launches: list[tuple[tuple[int, int, int], int]] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)
    reserved: list[int] = field(default_factory=list)
    waits: list[tuple[int, int]] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    live: dict[int, Any] = field(default_factory=dict)
    heap: int = 8 << 20
    loaded: list[bytes] = field(default_factory=list)
    _threads: threading.local = field(default_factory=threading.local)

    CUdevice_attribute = SimpleNamespace(
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR="major",
        CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR="minor",
        CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN="shared",
        CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT="multiprocessors",
        CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR="blocks",
    )
    CUfunction_attribute = SimpleNamespace(
        CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES="dynamic shared"
    )
    CUlimit = SimpleNamespace(CU_LIMIT_MALLOC_HEAP_SIZE="heap")
    CUevent_flags = SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)

    @property
    def depth(self) -> int:
        """Contexts that are pushed, in this thread."""
        return getattr(self._threads, "depth", 0)

    @depth.setter
    def depth(self, depth: int) -> None:
        self._threads.depth = depth

    def _done(self, name: str, *results: Any) -> tuple[Any, ...]:
        self.calls.append(name)
        failure = self.failures.get(name, OK)
        return (failure, *(None for _ in results)) if failure else (OK, *results)

    def cuGetErrorName(self, status: int) -> tuple[int, bytes]:
        return OK, _NAMES[status]

    def cuGetErrorString(self, status: int) -> tuple[int, bytes]:
        return OK, b"what the driver says"

    def cuInit(self, flags: int) -> tuple[Any, ...]:
        assert flags == 0
        return self._done("cuInit")

    def cuDriverGetVersion(self) -> tuple[Any, ...]:
        return self._done("cuDriverGetVersion", 13000)

    def cuDeviceGetCount(self) -> tuple[Any, ...]:
        return self._done("cuDeviceGetCount", len(self.gpus))

    def cuDeviceGet(self, ordinal: int) -> tuple[Any, ...]:
        return self._done("cuDeviceGet", ordinal)

    def cuDeviceGetName(self, length: int, gpu: int) -> tuple[Any, ...]:
        name = self.gpus[gpu].name.encode()
        return self._done("cuDeviceGetName", name.ljust(length, b"\0"))

    def cuDeviceTotalMem(self, gpu: int) -> tuple[Any, ...]:
        return self._done("cuDeviceTotalMem", 141 * 2**30)

    def cuDeviceGetAttribute(self, attribute: str, gpu: int) -> tuple[Any, ...]:
        major, minor = self.gpus[gpu].capability
        values = {
            "major": major,
            "minor": minor,
            "shared": 227 * 1024,
            "multiprocessors": 132,
            "blocks": 32,
        }
        return self._done("cuDeviceGetAttribute", values[attribute])

    def cuDevicePrimaryCtxRetain(self, gpu: int) -> tuple[Any, ...]:
        return self._done("cuDevicePrimaryCtxRetain", _CONTEXT)

    def cuCtxGetCurrent(self) -> tuple[Any, ...]:
        return self._done("cuCtxGetCurrent", _CONTEXT if self.depth else 0)

    def cuCtxPushCurrent(self, context: int) -> tuple[Any, ...]:
        assert context == _CONTEXT
        self.depth += 1
        return self._done("cuCtxPushCurrent")

    def cuCtxPopCurrent(self) -> tuple[Any, ...]:
        self.depth -= 1
        return self._done("cuCtxPopCurrent", 0)

    def cuCtxGetLimit(self, limit: str) -> tuple[Any, ...]:
        assert (limit, self.depth) == ("heap", 1)
        return self._done("cuCtxGetLimit", self.heap)

    def cuCtxSetLimit(self, limit: str, size: int) -> tuple[Any, ...]:
        assert (limit, self.depth) == ("heap", 1)
        done = self._done("cuCtxSetLimit")
        self.heap = self.heap if done[0] else size
        return done

    def cuModuleLoadData(self, image: bytes) -> tuple[Any, ...]:
        assert self.depth == 1
        self.loaded.append(image)
        return self._done("cuModuleLoadData", image)

    def cuModuleGetFunction(self, module: bytes, name: bytes) -> tuple[Any, ...]:
        kernel = self.kernels.get(name.decode())
        if kernel is None:
            return 500, None
        return self._done("cuModuleGetFunction", kernel)

    def cuFuncSetAttribute(self, kernel: FakeKernel, attribute: str, value: int) -> tuple[Any, ...]:
        assert attribute == "dynamic shared"
        self.reserved.append(value)
        return self._done("cuFuncSetAttribute")

    def cuFuncGetParamInfo(self, kernel: FakeKernel, index: int) -> tuple[Any, ...]:
        slots = kernel.slots()
        return (OK, *slots[index]) if index < len(slots) else (INVALID_VALUE, None, None)

    def cuMemAlloc(self, size: int) -> tuple[Any, ...]:
        assert self.depth == 1
        # Not aligned to more than a driver aligns to.
        memory = ctypes.create_string_buffer(size + 512)
        address = ctypes.addressof(memory)
        address += -address % 256
        self.live[address] = memory
        return self._done("cuMemAlloc", address)

    def cuMemFree(self, address: int) -> tuple[Any, ...]:
        del self.live[address]
        return self._done("cuMemFree")

    def cuMemcpyHtoD(self, to: int, source: int, size: int) -> tuple[Any, ...]:
        ctypes.memmove(to, source, size)
        return self._done("cuMemcpyHtoD")

    def cuMemcpyDtoH(self, to: int, source: int, size: int) -> tuple[Any, ...]:
        ctypes.memmove(to, source, size)
        return self._done("cuMemcpyDtoH")

    def cuEventCreate(self, flags: int) -> tuple[Any, ...]:
        return self._done("cuEventCreate", SimpleNamespace(flags=flags, stream=None))

    def cuEventRecord(self, event: Any, stream: int) -> tuple[Any, ...]:
        event.stream = stream
        return self._done("cuEventRecord")

    def cuEventQuery(self, event: Any) -> tuple[Any, ...]:
        return self._done("cuEventQuery")

    def cuEventSynchronize(self, event: Any) -> tuple[Any, ...]:
        return self._done("cuEventSynchronize")

    def cuEventElapsedTime(self, start: Any, end: Any) -> tuple[Any, ...]:
        assert start.flags == end.flags == 0
        return self._done("cuEventElapsedTime", 1.5)

    def cuEventDestroy(self, event: Any) -> tuple[Any, ...]:
        return self._done("cuEventDestroy")

    def cuStreamWaitEvent(self, stream: int, event: Any, flags: int) -> tuple[Any, ...]:
        assert event.flags == self.CUevent_flags.CU_EVENT_DISABLE_TIMING
        self.waits.append((stream, event.stream))
        return self._done("cuStreamWaitEvent")

    def cuLaunchKernel(
        self, kernel: FakeKernel, x: int, y: int, z: int, *rest: int
    ) -> tuple[Any, ...]:
        block, shared, stream, parameters, extra = rest[:3], rest[3], rest[4], rest[5], rest[6]
        assert (block[1:], extra) == ((1, 1), 0)
        assert self.depth == 1
        self.blocks.append((block[0], shared))
        pointers = (ctypes.c_void_p * len(kernel.sizes)).from_address(parameters)
        values = [
            int.from_bytes(ctypes.string_at(pointer, size), "little")
            for pointer, size in zip(pointers, kernel.sizes, strict=True)
        ]
        self.launches.append(((x, y, z), stream))
        for number in range(x * y * z):
            kernel.body((number % x, number // x % y, number // (x * y)), *values)
        return self._done("cuLaunchKernel")


@contextmanager
def installed(monkeypatch: pytest.MonkeyPatch, api: Any) -> Iterator[None]:
    """Lets launches use a driver; what was kept of another one is forgotten."""

    def load() -> Driver:
        loaded = Driver(api)
        loaded.call("cuInit", 0)
        return loaded

    for module in (driver_module, device_module, platform_module):
        monkeypatch.setattr(module, "load_driver", load)
    forget()
    yield
    forget()


def forget() -> None:
    """Forgets the GPUs and what was loaded into them."""
    device_module.find_devices.cache_clear()
    platform_module.session_of.cache_clear()
    kept_variants.clear()
