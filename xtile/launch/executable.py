"""What is launched, what a device makes of it, and what is known of a launch that is done."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xtile.arguments.binding import BoundArgument
from xtile.arguments.errors import ArgumentError
from xtile.arguments.signature import Signature
from xtile.text.diagnostics import Diagnostic, Diagnostics

REFERENCE_NAME = "reference"
FIELD_NAME = "field"
CUDA_NAME = "cuda"
HIP_NAME = "hip"
TRITON_NAME = "triton"
"""What `device=` calls the reference device, the same with exact numbers, the first GPU of NVIDIA's
and of AMD's, and the first that Triton compiles for; `cuda:1` is the second."""

Grid = tuple[int, int, int]

Progress = Callable[[int, int], None]
"""Called with the number of work-groups that are done and that there are."""


@dataclass(frozen=True)
class Launch:
    """How a function is launched.

    Attributes:
        grid: The work-groups in each dimension.
        block: The size of a work-group, in languages in which a launch gives it.
        sanitize: Whether the sanitizer looks for mistakes.
        workers: How many threads share the work of the reference device.
        progress: What is told how much is done.
        seconds: How long it may take; None for any time.
    """

    grid: Grid
    block: Grid | None = None
    sanitize: bool = False
    workers: int = 1
    progress: Progress | None = None
    seconds: float | None = None

    def tell_end(self) -> None:
        """Tells that all work-groups are done, where a driver tells nothing before."""
        if self.progress is not None:
            groups = math.prod(self.grid)
            self.progress(groups, groups)


@dataclass(frozen=True)
class LaunchResult:
    """What is known of a launch that is done.

    Attributes:
        device: What ran it.
        seconds: How long the kernel ran on the device, by the device's own clock, without what
            the host did before and after; None where a device has no such clock.
        warnings: What is undefined or unspecified in what the kernel did; the reference device
            looks for it.
    """

    device: str
    seconds: float | None
    warnings: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Kernel:
    """What is to be launched.

    Attributes:
        source: The path of a file ending with `.ir`, `.mlir`, `.ttir` or `.ttgir`, a text, or a
            module, or on GPUs the path of a cubin or an hsaco; anything else is refused when it is
            loaded.
        entry: The name of the function; None for the only one, or the host's `main`.
        diagnostics: Collects the text's warnings; None shows them as Python's.
        build_seconds: How long a driver may take to build the kernel; None for no limit.
        binary: The path of the kernel as SPIR-V or machine code that was compiled before; None
            compiles it.
    """

    source: object
    entry: str | None
    diagnostics: Diagnostics | None = None
    build_seconds: float | None = None
    binary: str | os.PathLike[str] | None = None

    @property
    def path(self) -> str | None:
        """The path of the file that it is given as; None for a text, a module or a folder."""
        source: Any = self.source
        if not isinstance(source, str | os.PathLike):
            return None
        path = os.fspath(cast("str | os.PathLike[str]", source))
        return None if "\n" in path or os.path.isdir(path) else path


class Executable(ABC):
    """A function that a device can run.

    Attributes:
        signature: What its arguments must be.
    """

    signature: Signature

    @property
    def is_host(self) -> bool:
        """Whether it is code of the host, which itself launches kernels."""
        return False

    @abstractmethod
    def launch(self, arguments: Sequence[BoundArgument], how: Launch) -> LaunchResult:
        """Runs it until all work-groups are done; the arrays hold the results afterwards.

        Raises:
            ArgumentError: The launch needs more than the device has.
            DeviceError: The driver or the function failed, or it was not done in time.
            DiagnosticError: An operation cannot be executed, or a kernel not be compiled.
        """

    def launch_given(
        self, arguments: Sequence[Any] | Mapping[str, Any], grid: Grid
    ) -> LaunchResult | None:
        """Checks arguments and runs it, where the device knows a shorter way to do both.

        None where it does not: the arguments must be bound, and then launched.
        """
        return None

    def run_host(
        self, arguments: Sequence[BoundArgument], seed: int | None, seconds: float | None
    ) -> None:
        """Runs code of the host, whose random numbers follow from `seed`, if there is one.

        `seconds` is how long it may take, and None any time.

        Raises:
            ArgumentError: It is a kernel.
            DeviceError: A kernel failed on the device, or it was not done in time.
            DiagnosticError: An operation cannot be executed, or a kernel not be compiled.
        """
        raise ArgumentError(f"@{self.signature.name} is a kernel")
