"""Launches on GPUs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from xtile.arguments.array_arguments import flattened, takes_pointers
from xtile.arguments.binding import BoundArgument, bind
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.arguments.launch_checks import LaunchCheck, first_failing
from xtile.arguments.signature import Signature
from xtile.backends.machine_code import NO_PROMISES, KernelInterface, Promises
from xtile.backends.recently_used import TEXTS, RecentlyUsed
from xtile.dialects.core.signature import Role
from xtile.launch.executable import (
    CUDA_NAME,
    HIP_NAME,
    TRITON_NAME,
    Executable,
    Grid,
    Kernel,
    Launch,
    LaunchResult,
)
from xtile.launch.gpu_compiled import (
    GpuPlatform,
    compilation_note,
    compiled_kernels,
    platform_named,
)

if TYPE_CHECKING:
    from xtile.backends.gpu.driver import GpuDevice
    from xtile.backends.gpu.platform import Platform
    from xtile.backends.gpu.session import LoadedKernel, Session
    from xtile.backends.machine_code import MachineCode


@dataclass(frozen=True)
class Wanted:
    """Which GPU is asked for.

    Attributes:
        ordinal: Its number; None for the first that fits.
        chip: The architecture that kernels are compiled for; None for the GPU's own.
        stream: The stream that kernels run in; 0 is the default stream.
        device: What `device=` calls the GPUs of which it is one.
    """

    ordinal: int | None = None
    chip: str | None = None
    stream: int = 0
    device: str = CUDA_NAME

    def fits(self, device: GpuDevice, platform: Platform) -> bool:
        """Whether a GPU is what is asked for."""
        if self.ordinal not in (None, device.ordinal) or device.chip is None:
            return False
        return self.chip is None or platform.runs(device, self.chip)

    def __str__(self) -> str:
        if self.chip is not None:
            return f"for {self.chip}"
        return "" if self.ordinal is None else f"with the number {self.ordinal}"


@dataclass(frozen=True)
class GpuExecutable(Executable):
    """A kernel that a GPU can run.

    Attributes:
        signature: That of the function.
        key: Tells its machine code apart.
        made: The machine code.
        device: The GPU.
        gpus: The GPUs of which it is one.
        stream: The stream that it runs in.
        for_overlaps: Makes the kernel ready for arguments that overlap; None where that cannot be.
        for_wrapping: Makes it ready for offsets that wrap around; None where it is.
        for_promises: Makes it ready for launches of which something else is known; None where no
            code relies on that.
        usable: The most that code can rely on of what a launch finds.
    """

    signature: Signature
    key: str
    made: MachineCode
    device: GpuDevice
    gpus: GpuPlatform
    stream: int
    for_overlaps: Callable[[], GpuExecutable] | None
    for_wrapping: Callable[[], GpuExecutable] | None = None
    for_promises: Callable[[Promises], GpuExecutable] | None = None
    usable: Promises = NO_PROMISES

    def loaded(self) -> tuple[Session, LoadedKernel]:
        """The kernel in the memory of the GPU.

        Raises:
            ArgumentError: A kernel cannot have such a parameter.
            DeviceError: The driver does not load it.
        """
        session = self.gpus.platform.session_of(self.device)
        return session, session.kernel(self.key, self.made, self.signature)

    def suited(self, arguments: Sequence[BoundArgument]) -> GpuExecutable:
        """The kernel itself, or one that is compiled for arguments that overlap, if they do.

        Raises:
            ArgumentError: They overlap, and the kernel cannot be compiled here.
        """
        from xtile.backends.overlaps import suited

        reason = (
            f"its {self.made.format.name} was compiled for arguments that do not overlap; "
            f"{self.gpus.maker.advice}"
        )
        return suited(self, self.for_overlaps, arguments, reason)

    @property
    def has_plans(self) -> bool:
        """Whether launches on arrays of layouts that are known need nothing else to be found."""
        from xtile.backends.parameters import numbers_of_memrefs

        of_memory = numbers_of_memrefs(self.signature, frozenset(Role))
        has_checks = self.for_wrapping is not None and bool(self._interface.checks)
        return not has_checks and self.usable.divisible <= of_memory

    @property
    def checks(self) -> Sequence[LaunchCheck]:
        """What the machine code is for, where there is another one for other launches."""
        own = self._interface
        return () if self.for_wrapping is None else (*own.checks, *own.preferred)

    def is_preferred(self, grid: Grid) -> bool:
        """Whether no other machine code is faster with a grid."""
        return (
            self.for_wrapping is None or first_failing(self._interface.preferred, (), grid) is None
        )

    @property
    def _interface(self) -> KernelInterface:
        return self.made.kernels.get(self.signature.name, KernelInterface())

    def checked(self, arguments: Sequence[BoundArgument], grid: Grid) -> GpuExecutable:
        """The kernel itself, or one that relies on what is so in a launch.

        Where a check fails, that is one that relies on none.
        """
        executable = self._relying(arguments)
        wrapping = executable.for_wrapping
        if wrapping is None or first_failing(executable.checks, arguments, grid) is None:
            return executable
        return wrapping().checked(arguments, grid)

    def _relying(self, arguments: Sequence[BoundArgument]) -> GpuExecutable:
        """The kernel itself, or one that relies on neither more nor less than a launch finds."""
        if self.for_promises is None:
            return self
        from xtile.backends.gpu.promises import promises_of

        found = promises_of(self.signature, arguments) & self.usable
        if found == self._interface.promises & self.usable:
            return self
        others = self._variants.others
        if found not in others:
            others[found] = self.for_promises(found)
        return others[found]

    @property
    def _variants(self) -> _Variants:
        position = (self.gpus.name, self.device.ordinal, self.key, self.signature.name)
        return kept_variants.get(position, _Variants)

    @override
    def launch(self, arguments: Sequence[BoundArgument], how: Launch) -> LaunchResult:
        """Runs the kernel; the arrays of the arguments hold the results afterwards.

        Raises:
            ArgumentError: The launch needs more than the GPU has.
            DeviceError: The driver or the kernel failed, or it was not done in time.
        """
        from xtile.backends.gpu.launching import launch

        _check_block(self.signature.name, how.block)
        session, kernel = self.suited(arguments).checked(arguments, how.grid).loaded()
        taken = launch(
            *(kernel, session, self.signature, arguments, how.grid, self.stream),
            seconds=how.seconds,
        )
        how.tell_end()
        return LaunchResult(str(self.device), taken)

    @override
    def launch_given(
        self, arguments: Sequence[Any] | Mapping[str, Any], grid: Grid
    ) -> LaunchResult | None:
        """Runs the kernel; arrays of layouts that it was launched on before need no checks.

        Raises:
            ArgumentError: An argument does not fit, or the launch needs more than the GPU has.
            DeviceError: The driver or the kernel failed.
        """
        from xtile.backends.gpu.launching import launch, launch_again

        if takes_pointers(self.signature) and isinstance(arguments, list | tuple | Mapping):
            arguments = flattened(self.signature, arguments)
        variants = self._variants
        for executable in variants.planned.values():
            if not executable.is_preferred(grid):
                continue
            session, kernel = executable.loaded()
            repeated = kernel.plans.repeated(self.signature, arguments)
            if repeated is not None:
                name = self.signature.name
                seconds = launch_again(kernel, session, name, repeated, grid, self.stream)
                return LaunchResult(str(self.device), seconds)
        bound = bind(self.signature, arguments)
        relying = self._relying(bound)
        suited = self.suited(bound).checked(bound, grid)
        session, kernel = suited.loaded()
        seconds = launch(kernel, session, self.signature, bound, grid, self.stream)
        if suited is relying and suited.has_plans:
            kernel.plans.remember(
                *(kernel.conventions, self.signature, arguments, bound),
                by_divisor=bool(self.usable.divisible),
            )
            variants.planned[suited.key] = suited
        return LaunchResult(str(self.device), seconds)


@dataclass
class _Variants:
    """What a kernel became for launches of which different things are known.

    Attributes:
        others: For what a launch finds the kernel that relies on it.
        planned: Those that keep plans of launches, by their keys.
    """

    others: dict[Promises, GpuExecutable] = field(default_factory=dict[Promises, GpuExecutable])
    planned: dict[str, GpuExecutable] = field(default_factory=dict[str, GpuExecutable])


kept_variants: RecentlyUsed[_Variants] = RecentlyUsed(TEXTS)
"""Those of the kernels that were launched, by GPU, text and name."""


def _check_block(name: str, block: Grid | None) -> None:
    if block not in (None, (1, 1, 1)):
        raise ArgumentError(
            f"@{name} runs as tile blocks, which have no work-items; leave block out, given {block}"
        )


_NAMES = (CUDA_NAME, HIP_NAME, TRITON_NAME)
"""What `device=` calls GPUs."""


def wanted_of(name: str) -> Wanted | None:
    """The GPU that the name of a device means; None if it means no GPU."""
    prefix, separator, number = name.partition(":")
    if prefix in _NAMES and not separator:
        return Wanted(device=prefix)
    if prefix in _NAMES and number.isascii() and number.isdecimal():
        return Wanted(ordinal=int(number), device=prefix)
    if name.startswith(("sm_", "gfx")):
        from xtile.targets import AMD, NVIDIA, chip_name

        chip = chip_name(name)
        if chip in NVIDIA.chips:
            return Wanted(chip=chip)
        return Wanted(chip=chip, device=HIP_NAME) if chip in AMD.chips else None
    return None


def wanted_by_stream(stream: Any) -> Wanted | None:
    """The GPU of a stream of torch or CuPy, and the stream; None for anything else.

    Both call streams of HIP those of CUDA.
    """
    kind = type(stream).__module__.partition(".")[0]
    if kind == "torch" and hasattr(stream, "cuda_stream"):
        is_hip = (
            getattr(getattr(sys.modules.get("torch"), "version", None), "hip", None) is not None
        )
        device = HIP_NAME if is_hip else CUDA_NAME
        return Wanted(ordinal=stream.device_index, stream=stream.cuda_stream, device=device)
    if kind == "cupy" and hasattr(stream, "ptr"):
        # The null stream belongs to no GPU.
        ordinal = stream.device_id if stream.device_id >= 0 else None
        runtime = getattr(getattr(sys.modules.get("cupy"), "cuda", None), "runtime", None)
        device = HIP_NAME if getattr(runtime, "is_hip", False) else CUDA_NAME
        return Wanted(ordinal=ordinal, stream=stream.ptr, device=device)
    return None


def load(
    kernel: Kernel,
    wanted: Wanted,
    *,
    may_overlap: bool = False,
    may_wrap: bool = False,
    promises: Promises | None = None,
) -> GpuExecutable:
    """Makes a kernel ready for a GPU; without one it is compiled before the error is raised.

    Args:
        kernel: The kernel.
        wanted: The GPU.
        may_overlap: Whether it is compiled for arguments that overlap.
        may_wrap: Whether it is compiled for offsets that wrap around.
        promises: What a launch has found; None for what is expected of launches.

    Raises:
        ArgumentError: There is no such function, or it is code of the host.
        DeviceError: There is no such GPU, or nothing that makes machine code.
        DiagnosticError: The text has errors, or cannot be compiled for the GPU.
    """
    from xtile.backends.gpu.platform import Variant
    from xtile.launch.compiled import choose_kernel

    gpus = platform_named(wanted.device)
    device, reason = _find(wanted, gpus.platform)
    chip = wanted.chip or (device.chip if device is not None else None)
    variant = Variant(chip or gpus.platform.format.vendor.default, may_overlap, may_wrap, promises)
    key, ready = compiled_kernels(kernel, variant, gpus)
    signature = choose_kernel(ready.made.signatures, ready.hosts, kernel.entry)
    if not ready.is_from_text and wanted.ordinal is None and wanted.chip is None:
        # Of several GPUs one that runs the machine code.
        device, reason = _find(replace(wanted, chip=ready.made.chip), gpus.platform)
    if device is None:
        raise DeviceError(f"{reason}; {compilation_note(kernel, ready.made)}")
    _check_chip(ready.made, device, gpus.platform)

    def other(*, may_overlap: bool, may_wrap: bool) -> Callable[[], GpuExecutable]:
        return partial(
            *(load, kernel, wanted),
            may_overlap=may_overlap,
            may_wrap=may_wrap,
            promises=promises,
        )

    maker, is_from_text = gpus.maker, ready.is_from_text
    has_overlaps = is_from_text and maker.compiles_overlaps
    has_wrapping = is_from_text and maker.compiles_wrapping and not may_wrap
    interface = ready.made.kernels.get(signature.name, KernelInterface())
    usable = maker.usable(signature, interface) if is_from_text else NO_PROMISES

    def for_promises(found: Promises) -> GpuExecutable:
        return load(*(kernel, wanted), may_overlap=may_overlap, may_wrap=may_wrap, promises=found)

    return GpuExecutable(
        signature,
        key,
        ready.made,
        device,
        gpus,
        wanted.stream,
        other(may_overlap=True, may_wrap=may_wrap) if has_overlaps else None,
        other(may_overlap=may_overlap, may_wrap=True) if has_wrapping else None,
        for_promises if promises is None and usable != NO_PROMISES else None,
        usable,
    )


def _find(wanted: Wanted, platform: Platform) -> tuple[GpuDevice | None, str]:
    """The GPU that is asked for, or why there is none."""
    try:
        devices = platform.find_devices()
    except DeviceError as error:
        return None, str(error)
    for device in devices:
        if wanted.fits(device, platform):
            return device, ""
    there = ", ".join(f"{device.ordinal}: {device}" for device in devices) or "none"
    maker = platform.format.vendor.name
    return None, f"there is no {maker} GPU {wanted} here that kernels run on; there is {there}"


def _check_chip(made: MachineCode, device: GpuDevice, platform: Platform) -> None:
    if not platform.runs(device, made.chip):
        raise ArgumentError(
            f"the {made.format.name} is for {made.chip}, which the device {device} does not run"
        )
