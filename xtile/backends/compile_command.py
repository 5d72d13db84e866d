"""What `xtile compile` does."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xtile.api import parse_source, read_source
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    EXIT_TOOL_FAILED,
    EXIT_USAGE_WRONG,
    is_colored,
)
from xtile.launch.errors import ArgumentError, DeviceError
from xtile.launch.signature import choose_entry
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from xtile.text.source import attach_source, source_of


class _UsageError(Exception):
    """The command line contradicts itself."""


def run_compile(options: Namespace) -> int:
    """Compiles kernels as the command line says; returns the exit code."""
    try:
        _compile(options)
    except _UsageError as error:
        return _fail(str(error), EXIT_USAGE_WRONG)
    except DeviceError as error:
        return _fail(str(error), EXIT_TOOL_FAILED)
    except ArgumentError as error:
        return _fail(str(error), EXIT_INPUT_WRONG)
    except OSError as error:
        reason = error.strerror or str(error)
        return _fail(f"cannot write {options.output}: {reason}", EXIT_INPUT_WRONG)
    except DiagnosticError as error:
        _show(error.diagnostics)
        return EXIT_INPUT_WRONG
    return EXIT_OK


def _compile(options: Namespace) -> None:
    extension = os.path.splitext(options.output)[1]
    write = _WRITERS.get(extension)
    if write is None:
        known = ", ".join(_WRITERS)
        raise _UsageError(f"-o {options.output}: expected a file ending with one of {known}")
    directory = os.path.dirname(options.output)
    if directory and not os.path.isdir(directory):
        raise _UsageError(f"-o {options.output}: there is no directory {directory}")
    module, diagnostics = _read(options)
    write(module, options, diagnostics)
    _show(list(diagnostics))


def _read(options: Namespace) -> tuple[ModuleOp, Diagnostics]:
    """The kernels of the file; only one of them, if one is named."""
    try:
        source, language = read_source(Path(options.kernel))
    except ValueError as error:
        raise _UsageError(str(error)) from None
    diagnostics = Diagnostics()
    module = parse_source(source, language, diagnostics)
    return _kernels_only(module, options.entry), diagnostics


def _kernels_only(module: ModuleOp, entry: str | None) -> ModuleOp:
    """A module without functions of the host, and without other kernels if one is named."""
    from xtile.launch.kernel import functions_of, is_host_function, name_of

    functions = functions_of(module)
    kernels = [name for name, function in functions.items() if not is_host_function(function)]
    if not kernels:
        raise ArgumentError("there is no kernel to compile")
    kept = kernels if entry is None else [choose_entry(kernels, [], entry)]
    if len(kept) == len(functions):
        return module
    copy = module.clone()
    source = source_of(module)
    if source is not None:
        attach_source(copy, source)
        source.record_copy(module, copy)
    for function in functions_of(copy).values():
        if name_of(function) not in kept:
            function.detach()
            function.erase(safe_erase=False)
    return copy


def _write_cubin(module: ModuleOp, options: Namespace, diagnostics: Diagnostics) -> None:
    from xtile.backends.nvidia.compilation import compile_to_cubin
    from xtile.backends.nvidia.sidecar import write_cubin

    cubin = compile_to_cubin(
        module,
        _nvidia_chip(options),
        diagnostics,
        level=options.level,
        seconds=options.build_seconds,
    )
    write_cubin(options.output, cubin)


def _write_bytecode(module: ModuleOp, options: Namespace, diagnostics: Diagnostics) -> None:
    from xtile.backends.nvidia.compilation import compile_program

    program = compile_program(module, _nvidia_chip(options), diagnostics)
    Path(options.output).write_bytes(program.bytecode)


def _nvidia_chip(options: Namespace) -> str:
    from xtile.backends.nvidia.compilation import DEFAULT_CHIP
    from xtile.backends.nvidia.devices import DEVICES

    if options.chip is not None:
        return _known_chip(options.chip, DEVICES)
    from xtile.backends.nvidia.cuda.device import available_devices

    devices = available_devices()
    return (devices[0].chip if devices else None) or DEFAULT_CHIP


def _write_spirv(module: ModuleOp, options: Namespace, diagnostics: Diagnostics) -> None:
    from xtile.backends.intel.compilation import compile_program
    from xtile.backends.intel.devices import DEVICES
    from xtile.targets import DEFAULT_SPIRV_CHIP

    chip = _known_chip(options.chip or DEFAULT_SPIRV_CHIP, DEVICES)
    program = compile_program(module, DEVICES[chip], diagnostics)
    Path(options.output).write_bytes(program.spirv)


def _known_chip(chip: str, known: Mapping[str, object]) -> str:
    if chip not in known:
        raise _UsageError(f"--chip {chip}: expected one of {', '.join(known)}")
    return chip


_WRITERS: Mapping[str, Callable[[ModuleOp, Namespace, Diagnostics], None]] = {
    ".cubin": _write_cubin,
    ".spv": _write_spirv,
    ".tileirbc": _write_bytecode,
}
"""What writes a file, by how its name ends."""


def _show(diagnostics: list[Diagnostic]) -> None:
    """Writes diagnostics to standard error."""
    colored = is_colored("auto")
    for diagnostic in diagnostics:
        sys.stderr.write(diagnostic.render(colored) + "\n")


def _fail(message: str, code: int) -> int:
    """Writes one line of error to standard error; returns the exit code."""
    sys.stderr.write(f"xtile: error: {message}\n")
    return code
