"""The GPUs of a vendor, and what makes machine code for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xtile.arguments.signature import Signature
from xtile.backends.cache import Cache
from xtile.backends.compiler import Compiler
from xtile.backends.gpu.driver import GpuDevice, usable
from xtile.backends.gpu.session import Session
from xtile.backends.machine_code import CodeFormat, KernelInterface, MachineCode, Promises
from xtile.text.source import Source


@dataclass(frozen=True)
class Platform:
    """The GPUs of a vendor.

    Attributes:
        device: What `device=` calls the first of them.
        format: What their machine code is.
        find_devices: Those that are here; raises a DeviceError where there is no driver.
        runs: Whether a GPU runs the machine code of an architecture.
        session_of: A GPU with what is loaded into it.
    """

    device: str
    format: CodeFormat
    find_devices: Callable[[], Sequence[GpuDevice]]
    runs: Callable[[Any, str], bool]
    session_of: Callable[[Any], Session]

    def available_devices(self) -> Sequence[GpuDevice]:
        """The GPUs that kernels can be compiled for; none where there is no driver."""
        return usable(self.find_devices)


@dataclass(frozen=True)
class Assembly:
    """What is asked of what makes machine code of a program.

    Attributes:
        program: What its compiler made.
        signatures: Those of the kernels of the source.
        chip: The architecture.
        cache: Holds what was made before.
        seconds: How long it may take; None for its usual limit.
        source: The text of the kernels, in which errors have their locations.
    """

    program: Any
    signatures: Mapping[str, Signature]
    chip: str
    cache: Cache
    seconds: float | None
    source: Source | None


@dataclass(frozen=True)
class Variant:
    """How kernels are compiled.

    Attributes:
        chip: The architecture.
        may_overlap: Whether arguments may overlap although a kernel relies on it that they do not.
        may_wrap: Whether offsets may wrap around.
        promises: What the machine code may rely on of its parameters; None for what its maker
            expects of launches.
    """

    chip: str
    may_overlap: bool = False
    may_wrap: bool = False
    promises: Promises | None = None


@dataclass(frozen=True)
class Maker:
    """What makes machine code of kernels.

    Attributes:
        compiler: The compiler to programs for a variant.
        assemble: The machine code of a program.
        compiles_overlaps: Whether there is code for arguments that overlap, where the kernel itself
            relies on it that they do not.
        compiles_wrapping: Whether there is code that relies on offsets not to wrap around.
        usable: The most that code for a kernel can rely on of what a launch finds.
        advice: What to do with arguments that overlap and a file compiled before.
    """

    compiler: Callable[[Variant], Compiler[Any]]
    assemble: Callable[[Assembly], MachineCode]
    compiles_overlaps: bool
    compiles_wrapping: bool
    usable: Callable[[Signature, KernelInterface], Promises]
    advice: str
