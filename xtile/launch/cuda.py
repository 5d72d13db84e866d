"""Launches on NVIDIA's GPUs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from xtile.arguments.array_arguments import flattened, takes_pointers
from xtile.arguments.binding import BoundArgument, bind
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.arguments.launch_checks import LaunchCheck, first_failing
from xtile.arguments.signature import Signature
from xtile.launch.executable import CUDA_NAME, Grid, Kernel, LaunchResult, Progress

if TYPE_CHECKING:
    from xtile.backends.nvidia.compilation import Cubin
    from xtile.backends.nvidia.cuda.device import CudaDevice
    from xtile.backends.nvidia.cuda.session import LoadedKernel, Session


@dataclass(frozen=True)
class Wanted:
    """Which GPU is asked for.

    Attributes:
        ordinal: Its number; None for the first that fits.
        chip: The architecture that kernels are compiled for; None for the GPU's own.
        stream: The CUDA stream that kernels run in; 0 is CUDA's default stream.
    """

    ordinal: int | None = None
    chip: str | None = None
    stream: int = 0

    def fits(self, device: CudaDevice) -> bool:
        """Whether a GPU is what is asked for."""
        from xtile.backends.nvidia.cuda.device import runs

        if self.ordinal not in (None, device.ordinal) or device.chip is None:
            return False
        return self.chip is None or runs(device, self.chip)

    def __str__(self) -> str:
        if self.chip is not None:
            return f"for {self.chip}"
        return "" if self.ordinal is None else f"with the number {self.ordinal}"


@dataclass(frozen=True)
class CudaExecutable:
    """A kernel that a GPU can run.

    Attributes:
        signature: That of the function.
        key: Tells its cubin apart.
        cubin: The machine code.
        device: The GPU.
        stream: The CUDA stream that it runs in.
        for_overlaps: Makes the kernel ready for arguments that overlap; None where that cannot be.
        for_wrapping: Makes it ready for offsets that wrap around; None where it is.
    """

    signature: Signature
    key: str
    cubin: Cubin
    device: CudaDevice
    stream: int
    for_overlaps: Callable[[], CudaExecutable] | None
    for_wrapping: Callable[[], CudaExecutable] | None = None

    @property
    def is_host(self) -> bool:
        """Never: code of the host is refused when it is loaded."""
        return False

    def loaded(self) -> tuple[Session, LoadedKernel]:
        """The kernel in the memory of the GPU.

        Raises:
            ArgumentError: A kernel cannot have such a parameter.
            DeviceError: The driver does not load it.
        """
        from xtile.backends.nvidia.cuda.session import session_of

        session = session_of(self.device)
        return session, session.kernel(self.key, self.cubin, self.signature)

    def suited(self, arguments: Sequence[BoundArgument]) -> CudaExecutable:
        """The kernel itself, or one that is compiled for arguments that overlap, if they do.

        Raises:
            ArgumentError: They overlap, and the kernel cannot be compiled here.
        """
        from xtile.backends.overlaps import suited

        reason = (
            "its cubin was compiled for arguments that do not overlap; compile it with "
            "`xtile compile --may-overlap`"
        )
        return suited(self, self.for_overlaps, arguments, reason)

    @property
    def checks(self) -> Sequence[LaunchCheck]:
        """What the machine code relies on, where there is another one for other launches."""
        interface = self.cubin.kernels.get(self.signature.name)
        return () if interface is None or self.for_wrapping is None else interface.checks

    def checked(self, arguments: Sequence[BoundArgument], grid: Grid) -> CudaExecutable:
        """The kernel itself, or one that relies on no check if one of them fails."""
        if self.for_wrapping is None or first_failing(self.checks, arguments, grid) is None:
            return self
        return self.for_wrapping()

    def launch(
        self,
        arguments: Sequence[BoundArgument],
        grid: Grid,
        block: Grid | None,
        *,
        sanitize: bool,
        workers: int,
        progress: Progress | None,
        seconds: float | None,
    ) -> LaunchResult:
        """Runs the kernel; the arrays of the arguments hold the results afterwards.

        Raises:
            ArgumentError: The launch needs more than the GPU has.
            DeviceError: The driver or the kernel failed, or it was not done in time.
        """
        from xtile.backends.nvidia.cuda.launching import launch

        _check_block(self.signature.name, block)
        session, kernel = self.suited(arguments).checked(arguments, grid).loaded()
        taken = launch(
            *(kernel, session, self.signature, arguments, grid, self.stream), seconds=seconds
        )
        if progress is not None:
            blocks = grid[0] * grid[1] * grid[2]
            progress(blocks, blocks)
        return LaunchResult(str(self.device), taken)

    def launch_given(
        self, arguments: Sequence[Any] | Mapping[str, Any], grid: Grid
    ) -> LaunchResult | None:
        """Runs the kernel; arrays of layouts that it was launched on before need no checks.

        Raises:
            ArgumentError: An argument does not fit, or the launch needs more than the GPU has.
            DeviceError: The driver or the kernel failed.
        """
        from xtile.backends.nvidia.cuda.launching import launch, launch_again

        if takes_pointers(self.signature) and isinstance(arguments, list | tuple | Mapping):
            arguments = flattened(self.signature, arguments)
        session, kernel = self.loaded()
        plans = None if self.checks else kernel.plans
        repeated = None if plans is None else plans.repeated(self.signature, arguments)
        if repeated is not None:
            name = self.signature.name
            seconds = launch_again(kernel, session, name, repeated, grid, self.stream)
        else:
            bound = bind(self.signature, arguments)
            suited = self.suited(bound).checked(bound, grid)
            session, kernel = suited.loaded()
            seconds = launch(kernel, session, self.signature, bound, grid, self.stream)
            if suited is self and plans is not None:
                plans.remember(kernel.conventions, self.signature, arguments, bound)
        return LaunchResult(str(self.device), seconds)

    def run_host(
        self, arguments: Sequence[BoundArgument], seed: int | None, seconds: float | None
    ) -> None:
        """Never called, because `is_host` is false.

        Raises:
            ArgumentError: Always.
        """
        raise ArgumentError(f"@{self.signature.name} is a kernel")


def _check_block(name: str, block: Grid | None) -> None:
    if block not in (None, (1, 1, 1)):
        raise ArgumentError(
            f"@{name} runs as tile blocks, which have no work-items; leave block out, given {block}"
        )


def wanted_of(name: str) -> Wanted | None:
    """The GPU that the name of a device means; None if it means no NVIDIA GPU."""
    if name == CUDA_NAME:
        return Wanted()
    prefix, separator, number = name.partition(":")
    if prefix == CUDA_NAME and separator and number.isascii() and number.isdecimal():
        return Wanted(ordinal=int(number))
    if name.startswith("sm_"):
        from xtile.targets import NVIDIA

        return Wanted(chip=name) if name in NVIDIA.chips else None
    return None


def wanted_by_stream(stream: Any) -> Wanted | None:
    """The GPU of a CUDA stream of torch or CuPy, and the stream; None for anything else."""
    kind = type(stream).__module__.partition(".")[0]
    if kind == "torch" and hasattr(stream, "cuda_stream"):
        return Wanted(ordinal=stream.device_index, stream=stream.cuda_stream)
    if kind == "cupy" and hasattr(stream, "ptr"):
        # The null stream belongs to no GPU.
        ordinal = stream.device_id if stream.device_id >= 0 else None
        return Wanted(ordinal=ordinal, stream=stream.ptr)
    return None


def load(
    kernel: Kernel, wanted: Wanted, *, may_overlap: bool = False, may_wrap: bool = False
) -> CudaExecutable:
    """Makes a kernel ready for a GPU; without one it is compiled before the error is raised.

    Args:
        kernel: The kernel.
        wanted: The GPU.
        may_overlap: Whether it is compiled for arguments that overlap.
        may_wrap: Whether it is compiled for offsets that wrap around.

    Raises:
        ArgumentError: There is no such function, or it is code of the host.
        DeviceError: There is no such GPU, or no assembler.
        DiagnosticError: The text has errors, or cannot be compiled for the GPU.
    """
    from xtile.launch.compiled import choose_kernel
    from xtile.launch.cuda_compiled import compilation_note, machine_code

    device, reason = _find(wanted)
    chip = wanted.chip or (device.chip if device is not None else None)
    key, ready = machine_code(kernel, chip, may_overlap=may_overlap, may_wrap=may_wrap)
    signature = choose_kernel(ready.cubin.signatures, ready.hosts, kernel.entry)
    if not ready.is_from_text and wanted.ordinal is None and wanted.chip is None:
        # Of several GPUs one that runs the cubin.
        device, reason = _find(replace(wanted, chip=ready.cubin.chip))
    if device is None:
        raise DeviceError(f"{reason}; {compilation_note(kernel, ready.cubin)}")
    _check_chip(ready.cubin, device)

    def other(*, may_overlap: bool, may_wrap: bool) -> Callable[[], CudaExecutable]:
        return partial(load, kernel, wanted, may_overlap=may_overlap, may_wrap=may_wrap)

    is_from_text = ready.is_from_text
    return CudaExecutable(
        signature,
        key,
        ready.cubin,
        device,
        wanted.stream,
        other(may_overlap=True, may_wrap=may_wrap) if is_from_text else None,
        other(may_overlap=may_overlap, may_wrap=True) if is_from_text and not may_wrap else None,
    )


def _find(wanted: Wanted) -> tuple[CudaDevice | None, str]:
    """The GPU that is asked for, or why there is none."""
    from xtile.backends.nvidia.cuda.device import find_devices

    try:
        devices = find_devices()
    except DeviceError as error:
        return None, str(error)
    for device in devices:
        if wanted.fits(device):
            return device, ""
    there = ", ".join(f"{device.ordinal}: {device}" for device in devices) or "none"
    return None, f"there is no NVIDIA GPU {wanted} here that kernels run on; there is {there}"


def _check_chip(cubin: Cubin, device: CudaDevice) -> None:
    from xtile.backends.nvidia.cuda.device import runs

    if not runs(device, cubin.chip):
        raise ArgumentError(
            f"the cubin is for {cubin.chip}, which the device {device} does not run"
        )
