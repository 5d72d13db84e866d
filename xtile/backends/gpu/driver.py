"""What launches ask of a vendor's driver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Protocol, TypeVar

from xtile.arguments.errors import DeviceError
from xtile.backends.parameters import Slot

Size3 = tuple[int, int, int]


class GpuDevice(Protocol):
    """A GPU; its text is what messages call it."""

    @property
    def ordinal(self) -> int:
        """Its number."""
        ...

    @property
    def chip(self) -> str | None:
        """The architecture that kernels are compiled for; None if there is none."""
        ...


DeviceT = TypeVar("DeviceT", bound=GpuDevice)


def usable(find_devices: Callable[[], Sequence[DeviceT]]) -> tuple[DeviceT, ...]:
    """The GPUs that kernels can be compiled for; none where there is no driver."""
    try:
        devices = find_devices()
    except DeviceError:
        return ()
    return tuple(device for device in devices if device.chip is not None)


class GpuError(Exception):
    """The driver refused a call, or a kernel failed.

    Attributes:
        name: The error's name, such as `CUDA_ERROR_ILLEGAL_ADDRESS`.
        text: What the driver says about it.
        is_sticky: Whether the process can use the GPU no more.
    """

    def __init__(self, function: str, name: str, text: str, *, is_sticky: bool = False) -> None:
        super().__init__(f"{function}: {name}: {text}")
        self.name = name
        self.text = text
        self.is_sticky = is_sticky


class GpuDriver(ABC):
    """A vendor's driver. Modules, functions, events and contexts are what it says they are.

    Streams and memory are known by their addresses. Every method may raise a `GpuError`.
    """

    DEVICE: ClassVar[str]
    """What `device=` calls the first of its GPUs."""

    GPU: ClassVar[str]
    """What messages call a GPU of its."""

    MOST_BLOCKS: ClassVar[Size3]
    """Blocks in each mode of a grid."""

    # --- contexts ---

    @abstractmethod
    def context(self, ordinal: int) -> Any:
        """What a GPU's memory and kernels belong to: that of torch and CuPy."""

    @abstractmethod
    def active(self, context: Any) -> AbstractContextManager[None]:
        """Makes a context that of the thread, and afterwards what was before."""

    # --- kernels ---

    @abstractmethod
    def load(self, code: bytes) -> Any:
        """Machine code in the memory of the GPU."""

    @abstractmethod
    def function(self, module: Any, name: str, shared: int) -> Any:
        """A kernel of machine code that is loaded, whose blocks have so much shared memory."""

    @abstractmethod
    def slots(self, function: Any) -> tuple[Slot, ...] | None:
        """The parameters that a kernel itself says that it has; None where nothing says so."""

    @abstractmethod
    def launch(
        self,
        function: Any,
        grid: Size3,
        threads: int,
        shared: int,
        stream: int,
        parameters: int,
    ) -> None:
        """Puts a launch into a stream.

        Args:
            function: The kernel.
            grid: The blocks in each mode.
            threads: Those of a block.
            shared: Bytes of shared memory of a block.
            stream: The stream.
            parameters: Where pointers to the parameters begin.
        """

    def reserve_heap(self, device: Any, size: int) -> None:
        """Lets blocks that run at the same time allocate memory, before a kernel is loaded.

        Args:
            device: The GPU.
            size: Bytes that each block allocates.
        """
        if size:
            raise GpuError("heap", "NOT_SUPPORTED", f"kernels on {device} cannot allocate memory")

    # --- memory ---

    @abstractmethod
    def allocate(self, size: int) -> int:
        """The address of memory of the GPU."""

    @abstractmethod
    def free(self, address: int) -> None:
        """Gives memory back."""

    @abstractmethod
    def copy_there(self, address: int, host: int, size: int) -> None:
        """Copies bytes of the host to the GPU."""

    @abstractmethod
    def copy_back(self, host: int, address: int, size: int) -> None:
        """Copies bytes of the GPU to the host."""

    # --- events ---

    @abstractmethod
    def event(self, *, has_time: bool) -> Any:
        """A new event, with the GPU's time or without."""

    @abstractmethod
    def record(self, event: Any, stream: int) -> None:
        """Puts an event into a stream."""

    @abstractmethod
    def is_done(self, event: Any) -> bool:
        """Whether a stream has come to an event."""

    @abstractmethod
    def wait(self, event: Any) -> None:
        """Waits until a stream has come to an event."""

    @abstractmethod
    def let_wait(self, stream: int, event: Any) -> None:
        """Lets a stream wait until another one has come to an event."""

    @abstractmethod
    def milliseconds(self, start: Any, end: Any) -> float:
        """The time between two events."""

    @abstractmethod
    def destroy(self, event: Any) -> None:
        """Ends an event."""
