"""One launch of a kernel on a GPU.

A tile block is all that a kernel knows of its threads: blocks have the size 1, need no dynamic
shared memory, and the grid counts tile blocks, also where several thread blocks share one's work.

Sources: CUDA Driver API 13.0, `cuLaunchKernel`; cuTile Python 1.7.0, which launches in the same way
and keeps grids below 2^24, because hardware code computes block numbers in 24 bits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from typing import Any

from xtile.arguments.binding import BoundArgument
from xtile.arguments.errors import ArgumentError, DeviceError, too_long
from xtile.arguments.signature import Signature
from xtile.backends.host_memory import host_memory
from xtile.backends.nvidia.cuda.arguments import gpu_memory, kernel_values
from xtile.backends.nvidia.cuda.driver import CudaError
from xtile.backends.nvidia.cuda.memory import CopiedMemory
from xtile.backends.nvidia.cuda.plans import Repeated
from xtile.backends.nvidia.cuda.session import LoadedKernel, Session
from xtile.backends.nvidia.parameters import POINTER_SIZE
from xtile.backends.waiting import TimeLimitError, check_is_free, wait_until_done

Size3 = tuple[int, int, int]

MOST_BLOCKS: Size3 = (2**24 - 1, 2**16 - 1, 2**16 - 1)
"""Tile blocks in each mode of a grid."""

DEFAULT_STREAM = 0
"""CUDA's legacy default stream, which waits for all streams that do not say otherwise."""

_MILLISECOND = 1e-3

_NOT_READY = "CUDA_ERROR_NOT_READY"
"""What the driver answers where an event is yet to come."""


def check_grid(name: str, grid: Size3) -> None:
    """Checks the number of tile blocks.

    Raises:
        ArgumentError: There are too many in a mode.
    """
    for mode, count, most in zip("xyz", grid, MOST_BLOCKS, strict=True):
        if count > most:
            raise ArgumentError(
                f"the grid of @{name} has {count} tile blocks in {mode}, but a launch on a CUDA "
                f"GPU can have {most}"
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
        stream: The CUDA stream that it runs in.
        seconds: How long it may take; None for any time.

    Returns:
        Seconds that the kernel ran.

    Raises:
        ArgumentError: The launch needs more than the GPU has, or memory that it does not reach.
        DeviceError: The driver or the kernel failed, or it was not done in time.
    """
    check_is_free(session.device)
    check_grid(signature.name, grid)
    check_memory(session, arguments)
    with Reported(session, signature.name), session.active():
        memory = CopiedMemory(session.driver, host_memory(signature, arguments))
        try:
            memory.bring_there()
            parameters = parameters_of(kernel, signature, arguments, memory)
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
    check_grid(name, grid)
    with Reported(session, name), session.active():
        wait_for_producers(session, repeated.streams, stream)
        return _run(kernel, session, Parameters(repeated.values), grid, stream)


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
        if not isinstance(error, CudaError):
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
    here = session.device.ordinal
    for memory in gpu_memory(arguments):
        if memory.ordinal not in (None, here):
            raise ArgumentError(
                f"an array lies on CUDA GPU {memory.ordinal}, but the kernel runs on GPU {here}; "
                f"launch it with device='cuda:{memory.ordinal}'"
            )


def parameters_of(
    kernel: LoadedKernel,
    signature: Signature,
    arguments: Sequence[BoundArgument],
    memory: CopiedMemory,
) -> Parameters:
    """The parameters of a kernel for arguments that fit its signature."""
    return Parameters(
        [
            value
            for parameter, convention, argument in zip(
                signature.parameters, kernel.conventions, arguments, strict=True
            )
            for value in kernel_values(parameter, convention, argument, memory)
        ]
    )


def wait_for_producers(session: Session, producers: Iterable[int | None], stream: int) -> None:
    """Lets a stream wait for the streams in which arrays of the arguments are computed."""
    driver = session.driver
    # The array interface calls the legacy default stream 1.
    others = {0 if producer == 1 else producer for producer in producers if producer is not None}
    for producer in sorted(others - {stream}):
        event = driver.call("cuEventCreate", _no_timing(session))
        try:
            driver.call("cuEventRecord", event, producer)
            driver.call("cuStreamWaitEvent", stream, event, 0)
        finally:
            driver.call("cuEventDestroy", event)


def _no_timing(session: Session) -> int:
    return int(session.driver.api.CUevent_flags.CU_EVENT_DISABLE_TIMING)


def enqueue(
    kernel: LoadedKernel, session: Session, parameters: Parameters, grid: Size3, stream: int
) -> None:
    """Puts a launch into a stream, in the context of the thread.

    Raises:
        CudaError: The driver refuses it.
    """
    session.driver.call(
        "cuLaunchKernel", kernel.handle, *grid, 1, 1, 1, 0, stream, parameters.address, 0
    )


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
    driver.call("cuEventRecord", start, stream)
    enqueue(kernel, session, parameters, grid, stream)
    driver.call("cuEventRecord", end, stream)
    _wait(session, end, seconds, kernel.name)
    return float(driver.call("cuEventElapsedTime", start, end)) * _MILLISECOND


def _wait(session: Session, event: Any, seconds: float | None, name: str) -> None:
    """Waits for an event in the stream of a launch."""

    def is_done() -> bool:
        try:
            session.driver.call("cuEventQuery", event)
        except CudaError as error:
            return error.name != _NOT_READY
        return True

    def wait() -> None:
        # Another thread may wait, whose context is none.
        with session.active():
            session.driver.call("cuEventSynchronize", event)

    wait_until_done(is_done, wait, seconds, device=session.device, name=name)
