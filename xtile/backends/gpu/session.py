"""Kernels on a GPU: machine code is loaded once and used by all threads."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

from xtile.arguments.calling_convention import KernelArgument
from xtile.arguments.errors import DeviceError
from xtile.arguments.signature import Signature
from xtile.backends.gpu.driver import GpuDevice, GpuDriver, GpuError
from xtile.backends.gpu.plans import Plans
from xtile.backends.machine_code import KernelInterface, MachineCode
from xtile.backends.parameters import POINTER_SIZE, Slot, conventions_of, slots_of
from xtile.backends.recently_used import RecentlyUsed

_MODULES = 256
"""Files of machine code that a context keeps for further launches."""


@dataclass(frozen=True, eq=False)
class LoadedKernel:
    """A kernel that can be launched.

    Attributes:
        name: Its name.
        conventions: For each parameter of the function the kernel's arguments.
        handle: The driver's kernel.
        interface: What else a launch must know of it.
        plans: The layouts of arguments that it was launched with.
    """

    name: str
    conventions: tuple[tuple[KernelArgument, ...], ...]
    handle: Any
    interface: KernelInterface
    plans: Plans = field(default_factory=Plans)


class Session:
    """The context of a GPU, and the machine code that was loaded into it.

    Attributes:
        device: The GPU.
        driver: The driver.
    """

    def __init__(self, device: GpuDevice, driver: GpuDriver) -> None:
        """Makes it.

        Raises:
            DeviceError: The GPU cannot be used.
        """
        self.device = device
        self.driver = driver
        self._modules: RecentlyUsed[Any] = RecentlyUsed(_MODULES)
        self._kernels: RecentlyUsed[LoadedKernel] = RecentlyUsed(_MODULES)
        self._events = threading.local()
        try:
            self._context = driver.context(device.ordinal)
        except GpuError as error:
            raise DeviceError(f"the device {device} cannot be used: {error}") from None

    def active(self) -> AbstractContextManager[None]:
        """Makes the context that of the thread, and afterwards what was before."""
        return self.driver.active(self._context)

    def events(self) -> tuple[Any, Any]:
        """Two events with the GPU's time, which belong to the thread."""
        made = getattr(self._events, "pair", None)
        if made is None:
            made = (self.driver.event(has_time=True), self.driver.event(has_time=True))
            self._events.pair = made
        return made

    def kernel(self, key: str, made: MachineCode, signature: Signature) -> LoadedKernel:
        """A kernel of machine code, which is loaded if it was not.

        Args:
            key: Tells machine code apart.
            made: The machine code.
            signature: The kernel's.

        Raises:
            ArgumentError: A kernel cannot have such a parameter.
            DeviceError: The driver does not load it, or its kernel takes other arguments.
        """

        def make_module() -> Any:
            heap = max((kernel.heap for kernel in made.kernels.values()), default=0)
            self.driver.reserve_heap(self.device, heap)
            try:
                return self.driver.load(made.code)
            except GpuError as error:
                raise DeviceError(f"the device {self.device} does not load: {error}") from None

        def make_kernel() -> LoadedKernel:
            with self.active():
                return self._load(self._modules.get(key, make_module), made, signature)

        return self._kernels.get((key, signature.name), make_kernel)

    def _load(self, module: Any, made: MachineCode, signature: Signature) -> LoadedKernel:
        name, what = signature.name, made.format.name
        interface = made.kernels.get(name, KernelInterface())
        conventions = conventions_of(signature)
        try:
            handle = self.driver.function(module, name, interface.shared)
        except GpuError as error:
            raise DeviceError(f"the {what} has no kernel @{name}: {error}") from None
        own = slots_of(argument for convention in conventions for argument in convention)
        expected = _with_pointers(own, len(interface.scratch))
        given = self.driver.slots(handle)
        if given is not None and given != expected:
            raise DeviceError(
                f"the kernel @{name} of the {what} has parameters of {_sizes(given)} bytes, but by "
                f"its signature they have {_sizes(expected)} bytes"
            )
        return LoadedKernel(name, conventions, handle, interface)


def _with_pointers(slots: tuple[Slot, ...], count: int) -> tuple[Slot, ...]:
    """Slots with pointers behind them."""
    end = slots[-1].offset + slots[-1].size if slots else 0
    start = end + -end % POINTER_SIZE
    more = (Slot(start + number * POINTER_SIZE, POINTER_SIZE) for number in range(count))
    return (*slots, *more)


def _sizes(slots: Sequence[Slot]) -> str:
    return ", ".join(str(slot.size) for slot in slots) or "no"
