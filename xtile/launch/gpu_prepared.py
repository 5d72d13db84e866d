"""Launches on GPUs that can be repeated without waiting for them."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from xtile.arguments.binding import BoundArgument, bind
from xtile.arguments.errors import ArgumentError
from xtile.arguments.launch_checks import check_launch
from xtile.backends.gpu.driver import GpuError
from xtile.backends.gpu.launching import (
    Reported,
    check_grid,
    check_memory,
    enqueue,
    parameters_of,
)
from xtile.backends.gpu.memory import CopiedMemory
from xtile.backends.gpu.session import Session
from xtile.backends.host_memory import host_memory
from xtile.launch.executable import CUDA_NAME, Grid, Kernel
from xtile.launch.gpu import GpuExecutable, load, wanted_of
from xtile.launch.run import checked_sizes


class PreparedLaunch:
    """A launch whose arguments are checked, and which can be repeated without waiting.

    Attributes:
        signature: That of the function.
        device: The GPU.
    """

    def __init__(
        self, executable: GpuExecutable, arguments: Sequence[BoundArgument], grid: Grid
    ) -> None:
        executable = executable.suited(arguments).checked(arguments, grid)
        self.signature = executable.signature
        self.device = executable.device
        self._grid = grid
        self._arguments = list(arguments)
        self._session, self._kernel = executable.loaded()
        check_grid(self._session.driver, self.signature.name, grid)
        check_launch(self.signature.name, self.signature.checks, arguments, grid)
        check_memory(self._session, arguments)
        if any(True for _ in host_memory(self.signature, arguments)):
            raise ArgumentError(
                f"@{self.signature.name}: a launch that is not waited for takes arrays on the GPU "
                "only; xtile.run takes those of the host, too"
            )
        memory = CopiedMemory(self._session.driver, ())
        with Reported(self._session, self.signature.name), self._session.active():
            self._parameters = parameters_of(self._kernel, self.signature, arguments, grid, memory)
        # What the arguments became there lies on the GPU as long as launches may use them.
        weakref.finalize(self, _release, self._session, memory).atexit = False

    def enqueue(self, stream: int = 0) -> None:
        """Puts a launch into a stream and does not wait for it, nor for other streams.

        Args:
            stream: The address of the stream of CUDA or HIP; 0 is the default stream.

        Raises:
            DeviceError: The driver refuses it.
        """
        with Reported(self._session, self.signature.name), self._session.active():
            enqueue(self._kernel, self._session, self._parameters, self._grid, stream)


def _release(session: Session, memory: CopiedMemory) -> None:
    with suppress(GpuError), session.active():
        memory.release()


def prepare(
    kernel: object,
    args: Sequence[Any] | Mapping[str, Any],
    grid: int | Sequence[int] = (1, 1, 1),
    device: str = CUDA_NAME,
    entry: str | None = None,
) -> PreparedLaunch:
    """Makes ready a launch on arrays of the GPU that can be repeated without waiting for it.

    Args:
        kernel: As for `xtile.run`.
        args: The arguments; memory lies on the GPU.
        grid: The number of tile blocks in x, y and z.
        device: `cuda`, `cuda:1`, `hip`, `triton` or an architecture.
        entry: The function to launch; needed if the kernel has several.

    Raises:
        ArgumentError: An argument does not fit, or lies on the host.
        DeviceError: There is no GPU, or its driver fails.
        DiagnosticError: The kernel has errors, or cannot be compiled.
    """
    wanted = wanted_of(device)
    if wanted is None:
        raise ArgumentError(f"expected the name of a GPU or an architecture: '{device}'")
    executable = load(Kernel(kernel, entry), wanted)
    return PreparedLaunch(executable, bind(executable.signature, args), checked_sizes("grid", grid))
