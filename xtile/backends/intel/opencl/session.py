"""Programs in a context: each is built once and used by all threads."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cache

import pyopencl as cl
from xdsl.ir import Attribute

from xtile.arguments.calling_convention import KernelArgument, source_arguments
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.backends.cache import Cache
from xtile.backends.intel.compilation import KernelInterface, Program
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.build import build
from xtile.backends.intel.opencl.device import OpenclDevice
from xtile.backends.intel.opencl.limits import check_kernel, check_types
from xtile.backends.recently_used import RecentlyUsed

_PROGRAMS = 256
"""Programs that a context keeps for further launches."""

_CONTEXTS = 8
"""Contexts whose programs are kept."""


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel that can be launched.

    Attributes:
        interface: What a launch must know of it.
        conventions: For each parameter the kernel's arguments.
        handle: OpenCL's kernel.
        lock: Held while arguments are set, which belong to the handle and not to a launch.
    """

    interface: KernelInterface
    conventions: tuple[tuple[KernelArgument, ...], ...]
    handle: native.Kernel
    lock: threading.Lock = field(default_factory=threading.Lock)


class Session:
    """A context of one device, and the programs that were built in it.

    Attributes:
        device: The device.
        context: OpenCL's context.
    """

    def __init__(self, device: OpenclDevice, context: cl.Context) -> None:
        self.device = device
        self.context = context
        self._programs: RecentlyUsed[cl.Program] = RecentlyUsed(_PROGRAMS)
        self._kernels: RecentlyUsed[LoadedKernel] = RecentlyUsed(_PROGRAMS)

    def kernel(
        self,
        key: str,
        program: Program,
        name: str,
        cache: Cache | None = None,
        seconds: float | None = None,
    ) -> LoadedKernel:
        """A kernel of a program, which is built if it was not.

        Args:
            key: Tells programs apart.
            program: The program.
            name: The name of the kernel.
            cache: Holds what drivers built; None: the user's own.
            seconds: How long the driver may take; None: as long as it likes.

        Raises:
            ArgumentError: The kernel needs more than the device has.
            DeviceError: The driver cannot build it.
        """

        def make_program() -> cl.Program:
            check_types(name, program.spirv, self.device)
            return build(self.device, self.context, program, cache or Cache(), seconds)

        def make_kernel() -> LoadedKernel:
            interface = program.kernels[name]
            check_kernel(interface, self.device)
            conventions = tuple(_convention(name, type) for type in interface.parameters)
            return LoadedKernel(
                interface, conventions, self._create(self._programs.get(key, make_program), name)
            )

        return self._kernels.get((key, name), make_kernel)

    def _create(self, program: cl.Program, name: str) -> native.Kernel:
        try:
            kernel = native.Kernel(program, name)
            if self.device.shares_system_memory:
                native.allow_system_memory(kernel)
            elif self.device.has_unified_memory:
                native.allow_unified_memory(kernel)
        except native.OpenclError as error:
            raise DeviceError(f"the device {self.device} has no kernel @{name}: {error}") from None
        return kernel


def _convention(name: str, type: Attribute) -> tuple[KernelArgument, ...]:
    try:
        return source_arguments(type)
    except ValueError as error:
        raise ArgumentError(f"@{name}: {error}") from None


_sessions: RecentlyUsed[Session] = RecentlyUsed(_CONTEXTS)


def session_of(device: OpenclDevice, context: cl.Context) -> Session:
    """The programs in a context."""
    return _sessions.get(context, lambda: Session(device, context))


@cache
def own_context(device: OpenclDevice) -> cl.Context:
    """The context in which kernels are launched where callers have none.

    Raises:
        DeviceError: The driver makes none.
    """
    try:
        return cl.Context([device.handle])
    except cl.Error as error:
        raise DeviceError(f"the device {device} cannot be used: {error}") from None


@cache
def own_queue(device: OpenclDevice) -> cl.CommandQueue:
    """The queue in that context.

    Raises:
        DeviceError: The driver makes none.
    """
    # A driver need not keep the context of a queue; `own_context` does.
    context = own_context(device)
    try:
        properties = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(context, device.handle, properties)
    except cl.Error as error:
        raise DeviceError(f"the device {device} cannot be used: {error}") from None
