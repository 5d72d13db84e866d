"""Launches on the reference device: the language's meaning in numpy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
from typing_extensions import override
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from xtile.arguments.binding import BoundArgument
from xtile.arguments.device_memory import DeviceView
from xtile.arguments.errors import ArgumentError, SanitizerError, UnfitDeviceError
from xtile.arguments.gpu_arrays import GpuMemory
from xtile.arguments.groups import GroupView
from xtile.arguments.kernel import (
    choose_function,
    find_function,
    is_host_function,
    name_of,
    signature_of,
)
from xtile.arguments.memory_types import DYNAMIC, MemoryType
from xtile.arguments.signature import Parameter, Signature
from xtile.arguments.views import View
from xtile.arguments.words import WordsView
from xtile.backends.recently_used import TEXTS, RecentlyUsed
from xtile.dialects.core.signature import source_signature
from xtile.dialects.reading import parse_source, read_source, show_warnings
from xtile.launch.executable import REFERENCE_NAME, Executable, Grid, Kernel, Launch, LaunchResult
from xtile.launch.time_limit import time_limit
from xtile.semantics.arguments import (
    Argument,
    GroupArgument,
    MemrefArgument,
    ScalarArgument,
    WordsArgument,
)
from xtile.semantics.language import language_of, register
from xtile.text.diagnostics import Diagnostic, Diagnostics

if TYPE_CHECKING:
    from xtile.semantics.compiler import Instrument

# The engine takes a func.func for a kernel's function; here it is code of the host.
register("func", "xtile.host.function")


@dataclass(frozen=True)
class ReferenceExecutable(Executable):
    """A function that the reference device can run.

    Attributes:
        function: The function, of a module that is known to be right.
        signature: What its arguments must be.
    """

    function: Operation
    signature: Signature

    @property
    @override
    def is_host(self) -> bool:
        """Whether it is code of the host."""
        return is_host_function(self.function)

    @override
    def launch(self, arguments: Sequence[BoundArgument], how: Launch) -> LaunchResult:
        """Runs the function; the arrays of the arguments hold the results afterwards.

        Raises:
            DeviceError: It was not done in time.
            SanitizerError: It is sanitized and mistakes were found.
            DiagnosticError: An instruction cannot be executed.
        """
        converted = self._as_the_kernel_takes(self.converted(arguments))
        with time_limit(how.seconds, self.signature.name):
            find = _sanitize if how.sanitize else _run
            warnings = find(self.function, converted, how)
        return LaunchResult(REFERENCE_NAME, None, tuple(warnings))

    def converted(self, arguments: Sequence[BoundArgument]) -> list[Argument]:
        """The arguments as the engine takes them."""
        return _converted(self.signature, arguments)

    def _as_the_kernel_takes(self, arguments: list[Argument]) -> list[Argument]:
        """The function's own arguments, where it takes those of its source."""
        source = source_signature(self.function)
        if source is None:
            return arguments
        from xtile.arguments.source_arguments import kernel_arguments_of

        values = language_of(self.function).parameters(self.function)
        return kernel_arguments_of(source, [value.type for value in values], arguments)

    def launch_instrumented(
        self,
        arguments: Sequence[BoundArgument],
        grid: Grid,
        block: Grid | None,
        instrument: Instrument,
        seconds: float | None = None,
    ) -> None:
        """Runs the function with operations that do something else than their own.

        Raises:
            DeviceError: It was not done in so many seconds.
            DiagnosticError: An instruction cannot be executed.
        """
        from xtile.semantics.engine import launch

        converted = self._as_the_kernel_takes(_converted(self.signature, arguments))
        with time_limit(seconds, self.signature.name):
            launch(self.function, converted, grid, block=block, instrument=instrument)

    @override
    def run_host(
        self, arguments: Sequence[BoundArgument], seed: int | None, seconds: float | None
    ) -> None:
        """Runs a function of the host, whose random numbers follow from `seed`, if there is one.

        Raises:
            DeviceError: It was not done in `seconds`.
            DiagnosticError: An instruction cannot be executed.
        """
        from xtile.host.function import run_host

        with time_limit(seconds, self.signature.name):
            run_host(self.function, _converted(self.signature, arguments), seed=seed)


def load(kernel: Kernel) -> ReferenceExecutable:
    """Makes a kernel ready.

    Raises:
        ArgumentError: There is no such function.
        DiagnosticError: The text cannot be read, or the kernel breaks the language's rules.
    """
    given = kernel.source
    if kernel.diagnostics is None and isinstance(given, str | os.PathLike):
        return _read(cast("str | os.PathLike[str]", given)).executable(kernel.entry)
    return _executable(find_function(given, kernel.entry, kernel.diagnostics))


def _executable(function: Operation) -> ReferenceExecutable:
    """A function, made ready.

    Raises:
        ArgumentError: The types of its source's parameters are not known.
        UnfitDeviceError: It is SPIR-V.
    """
    if function.name == "spirv.func":
        raise UnfitDeviceError(
            f"@{name_of(function)} is SPIR-V, which the device '{REFERENCE_NAME}' does not run; "
            "run it with the device 'opencl', and check or port the kernel's source"
        )
    return ReferenceExecutable(function, signature_of(function))


@dataclass(frozen=True)
class _Text:
    """What was read of a text, and the functions in it that were launched, by what named them."""

    module: ModuleOp
    warnings: Diagnostics
    executables: dict[str | None, ReferenceExecutable] = field(
        default_factory=dict[str | None, ReferenceExecutable]
    )

    def executable(self, entry: str | None) -> ReferenceExecutable:
        """A function, which is made ready once."""
        if entry not in self.executables:
            self.executables[entry] = _executable(choose_function(self.module, entry))
        return self.executables[entry]


_texts: RecentlyUsed[_Text] = RecentlyUsed(TEXTS)


def _read(path_or_text: str | os.PathLike[str]) -> _Text:
    """Reads a text, unless it was read before; its warnings are shown in any case."""
    source, language = read_source(path_or_text)

    def read() -> _Text:
        found = Diagnostics()
        return _Text(parse_source(source, language, found), found)

    text = _texts.get((source.name, source.text, source.data, language.name), read)
    show_warnings(text.warnings)
    return text


def _converted(signature: Signature, arguments: Sequence[BoundArgument]) -> list[Argument]:
    return [
        _argument(parameter, argument)
        for parameter, argument in zip(signature.parameters, arguments, strict=True)
    ]


def _run(function: Operation, arguments: Sequence[Argument], how: Launch) -> list[Diagnostic]:
    """Runs a launch and returns its warnings."""
    from xtile.semantics.engine import launch

    found = Diagnostics()
    warnings = launch(
        *(function, arguments, how.grid),
        block=how.block,
        workers=how.workers,
        progress=how.progress,
    )
    for warning in warnings.diagnostics():
        found.add(warning)
    return found.sorted()


def _sanitize(function: Operation, arguments: Sequence[Argument], how: Launch) -> list[Diagnostic]:
    """Looks for mistakes in a launch and returns its warnings.

    Raises:
        SanitizerError: There are mistakes.
    """
    from xtile.semantics.sanitizer import sanitize

    found = Diagnostics(limit=None)
    for report in sanitize(function, arguments, how.grid, block=how.block, progress=how.progress):
        found.add(report.diagnostic())
    if found.has_errors:
        raise SanitizerError(found.sorted())
    return found.sorted()


def _argument(parameter: Parameter, argument: BoundArgument) -> Argument:
    """Returns an argument as the engine takes it."""
    if isinstance(argument, WordsView):
        words = argument.entries
        return WordsArgument(
            [w if isinstance(w, int) else _any_memory(_on_host(parameter, w)) for w in words]
        )
    if isinstance(argument, GroupView):
        assert parameter.group is not None
        entries = [_memref(parameter, parameter.group.element, view) for view in argument.entries]
        return GroupArgument(entries, argument.offset, argument.is_associated)
    if parameter.memory is not None:
        assert not isinstance(argument, np.generic)
        return _memref(parameter, parameter.memory, argument)
    if isinstance(argument, np.generic):
        return ScalarArgument(argument)
    assert isinstance(argument, View | DeviceView)
    return _any_memory(_on_host(parameter, argument))


def _any_memory(view: View) -> MemrefArgument:
    """Memory that a kernel finds by its address."""
    return MemrefArgument(view.memory, is_initialized=not _is_blank(view))


def _on_host(parameter: Parameter, view: View | DeviceView) -> View:
    if isinstance(view, DeviceView):
        owner = "a CUDA GPU" if isinstance(view.memory, GpuMemory) else "an OpenCL device"
        raise ArgumentError(
            f"{parameter}: memory of {owner} is given, but the kernel runs on the device "
            f"'{REFERENCE_NAME}'"
        )
    return view


def _memref(
    parameter: Parameter, type: MemoryType, argument: View | DeviceView | None
) -> MemrefArgument:
    if argument is None:
        return _null(type)
    view = _on_host(parameter, argument)
    return MemrefArgument(view.memory, view.shape, view.strides, is_initialized=not _is_blank(view))


def _null(type: MemoryType) -> MemrefArgument:
    """The null pointer; its dynamic sizes are 0, its dynamic strides 1."""
    shape = tuple(0 if size == DYNAMIC else size for size in type.shape)
    strides = tuple(1 if stride == DYNAMIC else stride for stride in type.strides)
    return MemrefArgument(None, shape, strides)


def _is_blank(view: View) -> bool:
    """Whether the memory holds nothing that a kernel may read: it is declared so, or all NaN."""
    if view.is_output:
        return True
    if view.memory.dtype.kind not in "fVc" or view.memory.size == 0:
        return False
    return bool(np.isnan(view.memory).all())
