"""Launches on Intel's devices through OpenCL."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from hashlib import sha256
from typing import TYPE_CHECKING

from typing_extensions import override

from xtile.arguments.binding import BoundArgument
from xtile.arguments.errors import ArgumentError, DeviceError
from xtile.arguments.launch_checks import first_failing
from xtile.arguments.signature import Signature, choose_entry
from xtile.backends.cache import Cache, make_key
from xtile.backends.intel.opencl.setup import find
from xtile.backends.machine_code import SPV, format_of
from xtile.backends.recently_used import TEXTS, RecentlyUsed
from xtile.launch.executable import Executable, Grid, Kernel, Launch, LaunchResult
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.files import source_from_path
from xtile.text.source import Source

if TYPE_CHECKING:
    import pyopencl as cl

    from xtile.backends.intel.compilation import Program
    from xtile.backends.intel.opencl.device import OpenclDevice
    from xtile.launch.compiled import Compiled, Text

_compiled: RecentlyUsed[Compiled[Program]] = RecentlyUsed(TEXTS)


@dataclass(frozen=True)
class OpenclExecutable(Executable):
    """A kernel that an OpenCL device can run.

    Attributes:
        kernel: What is launched.
        signature: That of the function.
        key: Tells its program apart.
        compiled: Its program.
        device: The device.
        queue: Where it is launched.
        for_overlaps: Makes the kernel ready for arguments that overlap; None where that cannot be.
        for_wrapping: Makes it ready for offsets that wrap around; None where it is.
    """

    kernel: Kernel
    signature: Signature
    key: str
    compiled: Compiled[Program]
    device: OpenclDevice
    queue: cl.CommandQueue
    for_overlaps: Callable[[], OpenclExecutable] | None
    for_wrapping: Callable[[], OpenclExecutable] | None = None

    def suited(self, arguments: Sequence[BoundArgument]) -> OpenclExecutable:
        """The kernel itself, or one that is compiled for arguments that overlap, if they do.

        Raises:
            ArgumentError: They overlap, and the kernel cannot be compiled here.
        """
        from xtile.backends.overlaps import suited

        reason = (
            "its SPIR-V was not compiled for arguments that overlap; compile it again with "
            "--may-overlap"
            if self.kernel.binary is None
            else "nothing says that its SPIR-V was compiled for arguments that overlap; leave the "
            "binary out, and xtile compiles the kernel for them"
        )
        return suited(self, self.for_overlaps, arguments, reason)

    def checked(self, arguments: Sequence[BoundArgument], grid: Grid) -> OpenclExecutable:
        """The kernel itself, or one that relies on no check if one of them fails."""
        interface = self.compiled.program.kernels.get(self.signature.name)
        checks = () if interface is None else interface.checks
        if self.for_wrapping is None or first_failing(checks, arguments, grid) is None:
            return self
        return self.for_wrapping()

    @override
    def launch(self, arguments: Sequence[BoundArgument], how: Launch) -> LaunchResult:
        """Runs the kernel; the arrays of the arguments hold the results afterwards.

        The driver itself divides the work.

        Raises:
            ArgumentError: The launch needs more than the device has.
            DeviceError: The driver cannot build the kernel, or fails, or the kernel was not done
                in time.
        """
        from xtile.backends.intel.opencl.launching import launch
        from xtile.backends.intel.opencl.session import session_of

        suited = self.suited(arguments).checked(arguments, how.grid)
        session = session_of(self.device, self.queue.context)
        program, name = suited.compiled.program, self.signature.name
        loaded = session.kernel(suited.key, program, name, seconds=self.kernel.build_seconds)
        taken = launch(
            *(loaded, self.device, self.queue, self.signature, arguments, how.grid, how.block),
            seconds=how.seconds,
        )
        how.tell_end()
        return LaunchResult(str(self.device), taken)


def load(kernel: Kernel, device: OpenclDevice | None) -> OpenclExecutable:
    """Makes a kernel ready for a device, or for the best one.

    Raises:
        ArgumentError: There is no such function, or it is code of the host.
        DeviceError: There is no device.
        DiagnosticError: The text has errors, or cannot be compiled for the device.
    """
    chosen = find(None) if device is None else device
    from xtile.backends.intel.opencl.session import own_queue

    return _load(kernel, chosen, own_queue(chosen))


def load_for_queue(kernel: Kernel, queue: cl.CommandQueue) -> OpenclExecutable:
    """Makes a kernel ready to be launched in a queue.

    Raises:
        ArgumentError: There is no such function, or it is code of the host, or the queue's context
            is gone.
        DeviceError: Kernels cannot be compiled for the queue's device.
        DiagnosticError: The text has errors, or cannot be compiled for the device.
    """
    import pyopencl as cl

    try:
        device = _device_of(queue.device)
        # Drivers need not keep the context of a queue, and pyopencl does not either.
        _ = queue.context
    except cl.Error as error:
        raise ArgumentError(
            f"the queue cannot be used: {error}; its context must be kept as long as the queue"
        ) from None
    return _load(kernel, device, queue)


@cache
def _device_of(device: cl.Device) -> OpenclDevice:
    from xtile.backends.intel.opencl.device import OpenclDevice, target_of

    target = target_of(device)
    if target is None:
        raise DeviceError(f"kernels cannot be compiled for the device {device.name.strip()}")
    return OpenclDevice(device, target)


def _load(
    kernel: Kernel,
    device: OpenclDevice,
    queue: cl.CommandQueue,
    *,
    may_overlap: bool = False,
    may_wrap: bool = False,
) -> OpenclExecutable:
    from xtile.backends.intel.compiler import compiler_for
    from xtile.launch.compiled import choose_kernel, compile_text, compiled_for, show, text_of

    path = _path_with_sidecar(kernel)
    if path is not None:
        return _from_file(kernel, path, device, queue)
    text = text_of(kernel)
    compiler = compiler_for(device.target, may_overlap=may_overlap, may_wrap=may_wrap)
    for_overlaps = for_wrapping = None
    if kernel.binary is None:

        def made(text: Text, key: str) -> tuple[str, Compiled[Program]]:
            return key, _compiled.get(key, lambda: compile_text(text, key, compiler, Cache()))

        key, compiled = compiled_for(kernel.entry, text, compiler.name, made)
        again = partial(_load, kernel, device, queue)
        for_overlaps = partial(again, may_overlap=True, may_wrap=may_wrap)
        if not may_wrap:
            for_wrapping = partial(again, may_overlap=may_overlap, may_wrap=True)
    else:
        name, data = os.fspath(kernel.binary), _bytes_of(kernel.binary)
        digest, program = sha256(data).hexdigest(), text.key(compiler.name)
        key = make_key("binary", program=program, data=digest, entry=kernel.entry or "")
        compiled = _compiled.get(key, lambda: _with_binary(text, data, name, kernel.entry))
    show(compiled.warnings, kernel)
    signature = choose_kernel(compiled.signatures, compiled.hosts, kernel.entry)
    return OpenclExecutable(
        kernel, signature, key, compiled, device, queue, for_overlaps, for_wrapping
    )


def _path_with_sidecar(kernel: Kernel) -> str | None:
    """The path of SPIR-V beside which a sidecar lies, if a kernel is given as such."""
    from xtile.backends.sidecar import sidecar_path

    path = kernel.path
    if path is None or format_of(path) is not SPV:
        return None
    return path if sidecar_path(path).exists() else None


def _from_file(
    kernel: Kernel, path: str, device: OpenclDevice, queue: cl.CommandQueue
) -> OpenclExecutable:
    """SPIR-V with its sidecar, which needs no source.

    Raises:
        ArgumentError: There is no such kernel, or a binary is given, too.
        DiagnosticError: A file is damaged, or of other SPIR-V, or for another chip.
    """
    from xtile.backends.intel.files import read_spirv, sidecar_text
    from xtile.launch.compiled import Compiled, choose_kernel

    if kernel.binary is not None:
        raise ArgumentError("SPIR-V is given as the kernel; leave the binary out")
    made = read_spirv(path)
    chosen = device.as_chip(made.chip)
    if chosen is None:
        message = (
            f"the {SPV.name} is for {made.chip}, but the device {device} is "
            f"{device.target.name}; compile it again with --chip {device.target.name}"
        )
        found = Diagnostic(Severity.ERROR, message, Source(path, ""), None)
        raise DiagnosticError([found])
    key = make_key("binary", data=made.program.spirv, sidecar=sidecar_text(made))
    compiled = Compiled(made.program, made.signatures, [], [])
    signature = choose_kernel(made.signatures, [], kernel.entry)
    return OpenclExecutable(kernel, signature, key, compiled, chosen, queue, None)


def _with_binary(text: Text, data: bytes, name: str, entry: str | None) -> Compiled[Program]:
    """A kernel of a text, as another compiler's SPIR-V.

    Args:
        text: The kernels, which tell what their arguments must be.
        data: The SPIR-V, which need not have the others.
        name: What messages call it.
        entry: The name of the kernel; None for the only one.

    Raises:
        ArgumentError: The SPIR-V does not fit the text, or there is no such kernel.
        DiagnosticError: The text has errors, or the SPIR-V is damaged.
    """
    from xtile.backends.intel.binaries import read_program
    from xtile.launch.compiled import Compiled, read_signatures

    signatures, warnings = read_signatures(text)
    kernel = choose_entry(list(signatures), [], entry)
    parameters = [parameter.type for parameter in signatures[kernel].parameters]
    try:
        program = read_program(data, name, {kernel: parameters})
    except ValueError as error:
        raise ArgumentError(str(error)) from None
    return Compiled(program, signatures, [], warnings)


def _bytes_of(path: str | os.PathLike[str]) -> bytes:
    data = source_from_path(path, is_binary=True).data
    assert data is not None
    return data
