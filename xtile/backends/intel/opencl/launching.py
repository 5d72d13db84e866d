"""One launch of a kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyopencl as cl

from xtile.arguments.binding import BoundArgument
from xtile.arguments.errors import DeviceError, too_long
from xtile.arguments.signature import Signature
from xtile.backends.host_memory import host_memory
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.arguments import Value, kernel_values
from xtile.backends.intel.opencl.device import OpenclDevice
from xtile.backends.intel.opencl.limits import Size3, check_grid, work_group_size
from xtile.backends.intel.opencl.memory import CopiedMemory, Memory, SystemMemory
from xtile.backends.intel.opencl.session import LoadedKernel
from xtile.backends.waiting import TimeLimitError, check_is_free, wait_until_done

_NANOSECOND = 1e-9


def launch(
    kernel: LoadedKernel,
    device: OpenclDevice,
    queue: cl.CommandQueue,
    signature: Signature,
    arguments: Sequence[BoundArgument],
    grid: Size3,
    block: Size3 | None,
    seconds: float | None = None,
) -> float | None:
    """Runs a kernel and waits until it is done.

    Args:
        kernel: The kernel.
        device: Where it was built.
        queue: Where it is launched.
        signature: The source function's.
        arguments: Its arguments, which fit the signature.
        grid: The number of work-groups.
        block: The size of a work-group, where the kernel leaves it to the launch.
        seconds: How long it may take; None for any time.

    Returns:
        Seconds that the kernel ran; None if the queue does not measure them.

    Raises:
        ArgumentError: The launch needs more than the device has.
        DeviceError: The driver failed, the kernel was not done in time, or an earlier one still is
            not.
    """
    check_is_free(device)
    check_grid(signature.name, grid)
    size = work_group_size(kernel.interface, block, device)
    global_size = tuple(groups * items for groups, items in zip(grid, size, strict=True))
    try:
        # Arguments out of the range of their type are infinite.
        with np.errstate(all="ignore"):
            memory = _memory(device, queue, signature, arguments)
            values = _values(kernel, device, signature, arguments, memory)
        with kernel.lock:
            for index, value in enumerate(values):
                value.set(kernel.handle, index, device)
            memory.share(kernel.handle)
            event = native.launch(queue, kernel.handle, global_size, size)
        held = arguments, memory, values
        _wait(event, queue, held, seconds, device=device, name=signature.name)
        memory.bring_back()
        return _seconds(queue, event)
    except (cl.Error, native.OpenclError) as error:
        raise DeviceError(f"the device {device} failed to run @{signature.name}: {error}") from None
    except TimeLimitError as error:
        raise too_long(signature.name, error.seconds, device) from None


def _wait(
    event: cl.Event,
    queue: cl.CommandQueue,
    held: object,
    seconds: float | None,
    *,
    device: OpenclDevice,
    name: str,
) -> None:
    """Waits for a launch, and keeps what is `held` as long as that takes."""
    queue.flush()

    def is_done() -> bool:
        return event.command_execution_status <= cl.command_execution_status.COMPLETE

    def wait(_held: object = held) -> None:
        event.wait()

    wait_until_done(is_done, wait, seconds, device=device, name=name)


def _memory(
    device: OpenclDevice,
    queue: cl.CommandQueue,
    signature: Signature,
    arguments: Sequence[BoundArgument],
) -> Memory:
    pieces = list(host_memory(signature, arguments))
    if device.shares_system_memory and all(piece.is_aligned for piece in pieces):
        return SystemMemory()
    if not device.has_shared_memory:
        raise DeviceError(
            f"the device {device} has no shared virtual memory for arrays of the host"
        )
    return CopiedMemory(queue, pieces)


def _values(
    kernel: LoadedKernel,
    device: OpenclDevice,
    signature: Signature,
    arguments: Sequence[BoundArgument],
    memory: Memory,
) -> list[Value]:
    return [
        value
        for parameter, convention, argument in zip(
            signature.parameters, kernel.conventions, arguments, strict=True
        )
        for value in kernel_values(parameter, convention, argument, memory, device)
    ]


def _seconds(queue: cl.CommandQueue, event: cl.Event) -> float | None:
    if not queue.properties & cl.command_queue_properties.PROFILING_ENABLE:
        return None
    return (event.profile.end - event.profile.start) * _NANOSECOND
