"""One launch of a kernel on a GPU.

The grid counts programs, each of which is a block. A tile block of CUDA Tile IR is all that a
kernel knows of its threads: such blocks have one thread, need no shared memory of a launch, and
several thread blocks may share one's work. Triton's kernels say how many threads a block has.

Sources: CUDA Driver API 13.0, `cuLaunchKernel`; cuTile Python 1.7.0 and Triton 3.9, which launch in
the same way.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Sequence

from xtile.arguments.binding import BoundArgument
from xtile.arguments.errors import ArgumentError, DeviceError, too_long
from xtile.arguments.signature import Signature
from xtile.backends.gpu.arguments import gpu_memory, kernel_values
from xtile.backends.gpu.driver import GpuDriver, GpuError, Size3
from xtile.backends.gpu.memory import CopiedMemory
from xtile.backends.gpu.plans import Repeated
from xtile.backends.gpu.promises import check_promises, check_reach
from xtile.backends.gpu.session import LoadedKernel, Session
from xtile.backends.host_memory import host_memory
from xtile.backends.parameters import POINTER_SIZE
from xtile.backends.waiting import TimeLimitError, check_is_free, wait_until_done

DEFAULT_STREAM = 0
"""The legacy default stream, which waits for all streams that do not say otherwise."""

_MILLISECOND = 1e-3


def check_grid(driver: GpuDriver, name: str, grid: Size3) -> None:
    """Checks the number of blocks.

    Raises:
        ArgumentError: There are too many in a mode.
    """
    for mode, count, most in zip("xyz", grid, driver.MOST_BLOCKS, strict=True):
        if count > most:
            raise ArgumentError(
                f"the grid of @{name} has {count} tile blocks in {mode}, but a launch on a "
                f"{driver.GPU} can have {most}"
            )


class Parameters:
    """The parameters of a kernel in memory, as the driver reads them.

    Attributes:
        address: Where pointers to them begin.
    """

    def __init__(self, values: Sequence[bytes]) -> None:
        """Keeps values of at most 8 bytes each."""
        padded = b"".join(value.ljust(POINTER_SIZE, b"\0") for value in values)
        self._values = ctypes.create_string_buffer(padded, max(1, len(padded)))
        first = ctypes.addressof(self._values)
        positions = range(first, first + len(padded), POINTER_SIZE)
        self._pointers = (ctypes.c_void_p * max(1, len(values)))(*positions)
        self.address = ctypes.addressof(self._pointers)


def launch(
    kernel: LoadedKernel,
    session: Session,
    signature: Signature,
    arguments: Sequence[BoundArgument],
    grid: Size3,
    stream: int = DEFAULT_STREAM,
    seconds: float | None = None,
) -> float:
    """Runs a kernel and waits until it is done.

    Args:
        kernel: The kernel.
        session: Where it was loaded.
        signature: The source function's.
        arguments: Its arguments, which fit the signature.
        grid: The number of tile blocks.
        stream: The stream that it runs in.
        seconds: How long it may take; None for any time.

    Returns:
        Seconds that the kernel ran.

    Raises:
        ArgumentError: The launch needs more than the GPU has, or memory that it does not reach.
        DeviceError: The driver or the kernel failed, or it was not done in time.
    """
    check_is_free(session.device)
    check_grid(session.driver, signature.name, grid)
    check_memory(session, arguments)
    with Reported(session, signature.name), session.active():
        memory = CopiedMemory(session.driver, host_memory(signature, arguments))
        try:
            memory.bring_there()
            parameters = parameters_of(kernel, signature, arguments, grid, memory)
            # What was copied arrives in the default stream.
            producers = [DEFAULT_STREAM, *(memory.stream for memory in gpu_memory(arguments))]
            wait_for_producers(session, producers, stream)
            taken = _run(kernel, session, parameters, grid, stream, seconds)
            memory.bring_back()
        except (KeyboardInterrupt, TimeLimitError):
            # The kernel goes on, and to free its memory is to wait for it.
            memory.leave()
            raise
        finally:
            memory.release()
    return taken


def launch_again(
    kernel: LoadedKernel,
    session: Session,
    name: str,
    repeated: Repeated,
    grid: Size3,
    stream: int = DEFAULT_STREAM,
) -> float:
    """Like `launch`, for arguments whose layout was checked before.

    Raises:
        ArgumentError: The launch needs more than the GPU has.
        DeviceError: The driver or the kernel failed.
    """
    check_is_free(session.device)
    check_grid(session.driver, name, grid)
    check_promises(kernel, repeated.values)
    with Reported(session, name), session.active():
        memory = CopiedMemory(session.driver, ())
        try:
            values = (*repeated.values, *scratch_values(kernel, grid, memory))
            wait_for_producers(session, repeated.streams, stream)
            return _run(kernel, session, Parameters(values), grid, stream)
        finally:
            memory.release()


class Reported:
    """Makes what fails while a kernel is launched errors for users: DeviceErrors."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self._name = name

    def __enter__(self) -> None:
        """Nothing is to be done before."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TimeLimitError):
            raise too_long(self._name, error.seconds, self._session.device) from None
        if not isinstance(error, GpuError):
            return
        after = (
            "; the kernel may access memory that is not its own, which `--device reference "
            "--sanitize` shows; this process can use the GPU no more"
        )
        raise DeviceError(
            f"the device {self._session.device} failed to run @{self._name}: {error}"
            + (after if error.is_sticky else "")
        ) from None


def check_memory(session: Session, arguments: Sequence[BoundArgument]) -> None:
    """Checks that arrays on GPUs lie on that of the session.

    Raises:
        ArgumentError: One lies on another GPU.
    """
    here, driver = session.device.ordinal, session.driver
    for memory in gpu_memory(arguments):
        if memory.ordinal not in (None, here):
            raise ArgumentError(
                f"an array lies on {driver.GPU} {memory.ordinal}, but the kernel runs on GPU "
                f"{here}; launch it with device='{driver.DEVICE}:{memory.ordinal}'"
            )


def parameters_of(
    kernel: LoadedKernel,
    signature: Signature,
    arguments: Sequence[BoundArgument],
    grid: Size3,
    memory: CopiedMemory,
) -> Parameters:
    """The parameters of a kernel for arguments that fit its signature.

    Raises:
        ArgumentError: The kernel relies on something that is not so.
    """
    check_reach(kernel, signature, arguments)
    values = [
        value
        for parameter, convention, argument in zip(
            signature.parameters, kernel.conventions, arguments, strict=True
        )
        for value in kernel_values(parameter, convention, argument, memory)
    ]
    check_promises(kernel, values)
    return Parameters([*values, *scratch_values(kernel, grid, memory)])


def scratch_values(kernel: LoadedKernel, grid: Size3, memory: CopiedMemory) -> list[bytes]:
    """The addresses of memory that a kernel needs for itself."""
    addresses = (
        memory.reserve(scratch.size * math.prod(grid), scratch.alignment)
        for scratch in kernel.interface.scratch
    )
    return [address.to_bytes(POINTER_SIZE, "little") for address in addresses]


def wait_for_producers(session: Session, producers: Iterable[int | None], stream: int) -> None:
    """Lets a stream wait for the streams in which arrays of the arguments are computed."""
    driver = session.driver
    # The array interface calls the legacy default stream 1.
    others = {0 if producer == 1 else producer for producer in producers if producer is not None}
    for producer in sorted(others - {stream}):
        event = driver.event(has_time=False)
        try:
            driver.record(event, producer)
            driver.let_wait(stream, event)
        finally:
            driver.destroy(event)


def enqueue(
    kernel: LoadedKernel, session: Session, parameters: Parameters, grid: Size3, stream: int
) -> None:
    """Puts a launch into a stream, in the context of the thread.

    Raises:
        GpuError: The driver refuses it.
    """
    own = kernel.interface
    session.driver.launch(kernel.handle, grid, own.threads, own.shared, stream, parameters.address)


def _run(
    kernel: LoadedKernel,
    session: Session,
    parameters: Parameters,
    grid: Size3,
    stream: int,
    seconds: float | None = None,
) -> float:
    """Runs a kernel; returns the seconds that it took by the GPU's clock."""
    driver = session.driver
    start, end = session.events()
    driver.record(start, stream)
    enqueue(kernel, session, parameters, grid, stream)
    driver.record(end, stream)

    def wait() -> None:
        # Another thread may wait, whose context is none.
        with session.active():
            driver.wait(end)

    wait_until_done(
        lambda: driver.is_done(end), wait, seconds, device=session.device, name=kernel.name
    )
    return driver.milliseconds(start, end) * _MILLISECOND
