"""Kernels on a GPU: each cubin is loaded once and used by all threads.

Kernels run in the GPU's primary context, which torch, CuPy and CUDA's runtime use, too, so that all
of them share memory.

Source: CUDA Driver API 13.0, modules "Primary Context Management" and "Module Management".
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from xtile.arguments.calling_convention import KernelArgument, source_arguments
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.arguments.signature import Signature
from xtile.backends.nvidia.compilation import Cubin
from xtile.backends.nvidia.cuda.device import CudaDevice
from xtile.backends.nvidia.cuda.driver import CudaError, Driver, load_driver
from xtile.backends.nvidia.cuda.plans import Plans
from xtile.backends.nvidia.parameters import Slot, slots_of
from xtile.backends.recently_used import RecentlyUsed

_CUBINS = 256
"""Cubins that a context keeps for further launches."""


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel that can be launched.

    Attributes:
        name: Its name.
        conventions: For each parameter of the function the kernel's arguments.
        handle: The driver's kernel.
        plans: The layouts of arguments that it was launched with.
    """

    name: str
    conventions: tuple[tuple[KernelArgument, ...], ...]
    handle: Any
    plans: Plans = field(default_factory=Plans)


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


class Session:
    """The primary context of a GPU, and the cubins that were loaded into it.

    Attributes:
        device: The GPU.
        driver: The driver.
    """

    def __init__(self, device: CudaDevice, driver: Driver) -> None:
        self.device = device
        self.driver = driver
        self._modules: RecentlyUsed[Any] = RecentlyUsed(_CUBINS)
        self._kernels: RecentlyUsed[LoadedKernel] = RecentlyUsed(_CUBINS)
        self._events = threading.local()
        handle = driver.call("cuDeviceGet", device.ordinal)
        self._context = driver.call("cuDevicePrimaryCtxRetain", handle)

    def active(self) -> Active:
        """Makes the context that of the thread, and afterwards what was before."""
        return Active(self.driver, self._context)

    def events(self) -> tuple[Any, Any]:
        """Two events with the GPU's time, which belong to the thread."""
        made = getattr(self._events, "pair", None)
        if made is None:
            made = (self.driver.call("cuEventCreate", 0), self.driver.call("cuEventCreate", 0))
            self._events.pair = made
        return made

    def kernel(self, key: str, cubin: Cubin, signature: Signature) -> LoadedKernel:
        """A kernel of a cubin, which is loaded if it was not.

        Args:
            key: Tells cubins apart.
            cubin: The machine code.
            signature: The kernel's.

        Raises:
            ArgumentError: A kernel cannot have such a parameter.
            DeviceError: The driver does not load the cubin, or its kernel takes other arguments.
        """

        def make_module() -> Any:
            reserve_heap(self, max((kernel.heap for kernel in cubin.kernels.values()), default=0))
            try:
                return self.driver.call("cuModuleLoadData", cubin.code)
            except CudaError as error:
                raise DeviceError(f"the device {self.device} does not load: {error}") from None

        def make_kernel() -> LoadedKernel:
            with self.active():
                return self._load(self._modules.get(key, make_module), signature)

        return self._kernels.get((key, signature.name), make_kernel)

    def _load(self, module: Any, signature: Signature) -> LoadedKernel:
        name = signature.name
        conventions = conventions_of(signature)
        try:
            handle = self.driver.call("cuModuleGetFunction", module, name.encode())
        except CudaError as error:
            raise DeviceError(f"the cubin has no kernel @{name}: {error}") from None
        expected = slots_of(argument for convention in conventions for argument in convention)
        given = self._slots(handle)
        if given is not None and given != expected:
            raise DeviceError(
                f"the kernel @{name} of the cubin has parameters of {_sizes(given)} bytes, but by "
                f"its signature they have {_sizes(expected)} bytes"
            )
        return LoadedKernel(name, conventions, handle)

    def _slots(self, handle: Any) -> tuple[Slot, ...] | None:
        """The parameters that a kernel itself says that it has; None where the driver is old."""
        if not hasattr(self.driver.api, "cuFuncGetParamInfo"):
            return None
        slots: list[Slot] = []
        while True:
            try:
                offset, size = self.driver.call("cuFuncGetParamInfo", handle, len(slots))
            except CudaError as error:
                # This is how the driver says that there are no more.
                return tuple(slots) if error.name == "CUDA_ERROR_INVALID_VALUE" else None
            # Drivers before CUDA 12.4 lack the function.
            except RuntimeError:
                return None
            slots.append(Slot(int(offset), int(size)))


_LEAST_HEAP = 1 << 30
"""Bytes that a heap has at least, so that few kernels find an earlier one's too small."""


def reserve_heap(session: Session, size: int) -> None:
    """Lets the tile blocks that run at the same time allocate memory.

    A GPU's heap must have its size before a kernel that uses it is loaded.

    Args:
        session: The context of the thread.
        size: Bytes that each tile block allocates.

    Raises:
        DeviceError: The heap is too small, and the driver does not let it grow any more.
    """
    if size == 0:
        return
    device, driver = session.device, session.driver
    # Each allocation has a header, and the heap must not be full.
    needed = 2 * size * device.multiprocessors * device.blocks_per_multiprocessor
    limit = driver.api.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE
    if int(driver.call("cuCtxGetLimit", limit)) >= needed:
        return
    wanted = min(max(needed, _LEAST_HEAP), device.memory // 2)
    try:
        driver.call("cuCtxSetLimit", limit, wanted)
    except CudaError as error:
        raise DeviceError(
            f"the device {device} has too small a heap for tile blocks that allocate {size} bytes "
            f"each, and it cannot grow after kernels have used it: {error}; run this kernel first"
        ) from None


def conventions_of(signature: Signature) -> tuple[tuple[KernelArgument, ...], ...]:
    """For each parameter of a function the arguments of its kernel.

    Raises:
        ArgumentError: A kernel cannot have such a parameter.
    """
    try:
        return tuple(source_arguments(parameter.type) for parameter in signature.parameters)
    except ValueError as error:
        raise ArgumentError(f"@{signature.name}: {error}") from None


def _sizes(slots: Sequence[Slot]) -> str:
    return ", ".join(str(slot.size) for slot in slots) or "no"


@cache
def session_of(device: CudaDevice) -> Session:
    """The session of a GPU.

    Raises:
        DeviceError: The GPU cannot be used.
    """
    try:
        return Session(device, load_driver())
    except CudaError as error:
        raise DeviceError(f"the device {device} cannot be used: {error}") from None
