"""HIP without a GPU: its memory is the host's, and a kernel is a Python function.

It has the functions of `libamdhip64` as ctypes would have them, as far as launches use them, checks
what they are given, and records the calls.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from xtile.backends.amd.hip import device as device_module
from xtile.backends.amd.hip import driver as driver_module
from xtile.backends.amd.hip.driver import HipDriver
from xtile.backends.amd.hsaco import kernels_of
from xtile.launch.gpu import kept_variants

OK = 0
OUT_OF_MEMORY = 2
NOT_FOUND = 500
NOT_READY = 600
ILLEGAL_ADDRESS = 700

_NAMES = {
    OUT_OF_MEMORY: b"hipErrorOutOfMemory",
    NOT_FOUND: b"hipErrorNotFound",
    ILLEGAL_ADDRESS: b"hipErrorIllegalAddress",
}
"""Source: HIP 6.4, enumeration hipError_t."""

Body = Callable[..., None]
"""A kernel: called with the block's three numbers, then with its parameters as integers."""


@dataclass
class FakeLaunch:
    """What a launch was given.

    Attributes:
        grid: The blocks.
        block: The threads of each.
        shared: Bytes of shared memory.
        stream: The stream.
        values: The parameters, as integers of their bits.
    """

    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    stream: int
    values: tuple[int, ...]


@dataclass
class FakeHip:
    """The library.

    Attributes:
        architectures: Those of the GPUs, with their features.
        bodies: What kernels do, by name.
        calls: The names of the functions that were called.
        launches: What each launch was given.
        failures: What functions return instead of success.
        live: Allocations that were not freed.
        current: The GPU of the thread.
        waits: Which stream waited for which event's.
    """

    architectures: Sequence[str] = ("gfx942:sramecc+:xnack-",)
    bodies: dict[str, Body] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    launches: list[FakeLaunch] = field(default_factory=list)
    failures: dict[str, int] = field(default_factory=dict)
    live: dict[int, Any] = field(default_factory=dict)
    current: int = 0
    waits: list[tuple[int, int]] = field(default_factory=list)
    _modules: dict[int, bytes] = field(default_factory=dict)
    _functions: dict[int, tuple[str, Any]] = field(default_factory=dict)
    _events: dict[int, int] = field(default_factory=dict)
    _streams: dict[int, int] = field(default_factory=dict)

    def _done(self, name: str) -> int:
        self.calls.append(name)
        return self.failures.get(name, OK)

    def _write(self, reference: Any, value: int, name: str) -> int:
        status = self._done(name)
        if status == OK:
            reference._obj.value = value
        return status

    def hipGetErrorName(self, status: int) -> bytes:
        return _NAMES[status]

    def hipGetErrorString(self, status: int) -> bytes:
        return b"what the driver says"

    def hipInit(self, flags: int) -> int:
        assert flags == 0
        return self._done("hipInit")

    def hipDriverGetVersion(self, version: Any) -> int:
        return self._write(version, 60_443_483, "hipDriverGetVersion")

    def hipGetDeviceCount(self, count: Any) -> int:
        return self._write(count, len(self.architectures), "hipGetDeviceCount")

    def hipGetDevicePropertiesR0600(self, properties: Any, ordinal: int) -> int:
        assert ctypes.sizeof(properties) >= 1472
        name = f"Fake MI{ordinal}".encode()
        struct.pack_into("<256s", properties, 0, name)
        struct.pack_into("<QQ", properties, 288, 192 * 2**30, 64 * 1024)
        struct.pack_into("<i", properties, 388, 304)
        struct.pack_into("<256s", properties, 1160, self.architectures[ordinal].encode())
        return self._done("hipGetDevicePropertiesR0600")

    def hipGetDevice(self, ordinal: Any) -> int:
        return self._write(ordinal, self.current, "hipGetDevice")

    def hipSetDevice(self, ordinal: int) -> int:
        self.current = ordinal
        return self._done("hipSetDevice")

    def hipModuleLoadData(self, module: Any, code: bytes) -> int:
        number = 1000 + len(self._modules)
        self._modules[number] = code
        return self._write(module, number, "hipModuleLoadData")

    def hipModuleGetFunction(self, function: Any, module: int, name: bytes) -> int:
        kernels = kernels_of(self._modules[module])
        if name.decode() not in kernels:
            return NOT_FOUND
        number = 2000 + len(self._functions)
        self._functions[number] = (name.decode(), kernels[name.decode()])
        return self._write(function, number, "hipModuleGetFunction")

    def hipMalloc(self, pointer: Any, size: int) -> int:
        # Not aligned to more than a driver aligns to.
        memory = ctypes.create_string_buffer(size + 512)
        address = ctypes.addressof(memory)
        address += -address % 256
        status = self._write(pointer, address, "hipMalloc")
        if status == OK:
            self.live[address] = memory
        return status

    def hipFree(self, address: int) -> int:
        del self.live[address]
        return self._done("hipFree")

    def hipMemcpyHtoD(self, to: int, source: int, size: int) -> int:
        ctypes.memmove(to, source, size)
        return self._done("hipMemcpyHtoD")

    def hipMemcpyDtoH(self, to: int, source: int, size: int) -> int:
        ctypes.memmove(to, source, size)
        return self._done("hipMemcpyDtoH")

    def hipEventCreateWithFlags(self, event: Any, flags: int) -> int:
        number = 3000 + len(self._events)
        self._events[number] = flags
        return self._write(event, number, "hipEventCreateWithFlags")

    def hipEventRecord(self, event: int, stream: int) -> int:
        self._streams[event] = stream
        return self._done("hipEventRecord")

    def hipEventQuery(self, event: int) -> int:
        return self._done("hipEventQuery")

    def hipEventSynchronize(self, event: int) -> int:
        return self._done("hipEventSynchronize")

    def hipStreamWaitEvent(self, stream: int, event: int, flags: int) -> int:
        assert (self._events[event], flags) == (2, 0)
        self.waits.append((stream, self._streams[event]))
        return self._done("hipStreamWaitEvent")

    def hipEventElapsedTime(self, milliseconds: Any, start: int, end: int) -> int:
        assert self._events[start] == self._events[end] == 0
        milliseconds._obj.value = 1.5
        return self._done("hipEventElapsedTime")

    def hipEventDestroy(self, event: int) -> int:
        return self._done("hipEventDestroy")

    def hipModuleLaunchKernel(self, function: int, *rest: Any) -> int:
        grid, block, (shared, stream, parameters, extra) = rest[:3], rest[3:6], rest[6:]
        assert extra is None
        name, metadata = self._functions[function]
        pointers = (ctypes.c_void_p * len(metadata.slots)).from_address(parameters)
        values = tuple(
            int.from_bytes(ctypes.string_at(pointer, slot.size), "little")
            for pointer, slot in zip(pointers, metadata.slots, strict=True)
        )
        self.launches.append(FakeLaunch(grid, block, shared, stream, values))
        body = self.bodies.get(name)
        x, y, z = grid
        for number in range(x * y * z if body is not None else 0):
            body((number % x, number // x % y, number // (x * y)), *values)  # pyright: ignore
        return self._done("hipModuleLaunchKernel")


@contextmanager
def installed(monkeypatch: pytest.MonkeyPatch, library: Any) -> Iterator[None]:
    """Lets launches use a library; what was kept of another one is forgotten."""

    def load() -> HipDriver:
        driver = HipDriver(library)
        driver.call("hipInit", 0)
        return driver

    for module in (driver_module, device_module):
        monkeypatch.setattr(module, "load_driver", load)
    forget()
    yield
    forget()


def forget() -> None:
    """Forgets the GPUs and what was loaded into them."""
    device_module.find_devices.cache_clear()
    device_module.session_of.cache_clear()
    kept_variants.clear()
