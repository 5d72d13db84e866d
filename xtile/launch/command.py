"""What `xtile run` and `xtile devices` do."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xtile.api import parse
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    EXIT_TOOL_FAILED,
    EXIT_USAGE_WRONG,
    is_colored,
    write_standard_output,
)
from xtile.launch.binding import bind
from xtile.launch.devices import DEVICES, Device, DeviceError, find_device
from xtile.launch.errors import ArgumentError
from xtile.launch.groups import Group
from xtile.launch.kernel import (
    Parameter,
    choose_function,
    is_host_function,
    name_of,
    parameters_of,
)
from xtile.launch.progress import progress_bar
from xtile.launch.reference import run_host_on_reference
from xtile.launch.report import make_table, rows_of
from xtile.launch.run import launch_function
from xtile.launch.saving import save_result
from xtile.launch.specification import random_value, value_of
from xtile.launch.writes import written_parameters
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Diagnostics

if TYPE_CHECKING:
    from rich.console import RenderableType
    from xdsl.ir import Operation

_FILE_WIDTH = 200
"""Columns of a table that goes to a file or a pipe."""


class UsageError(Exception):
    """The command line contradicts itself or the kernel's signature."""


def run_kernel(options: Namespace) -> int:
    """Runs a kernel as the command line says; returns the exit code."""
    try:
        return _run_kernel(options)
    except UsageError as error:
        return _fail(str(error), EXIT_USAGE_WRONG)
    except DeviceError as error:
        return _fail(str(error), EXIT_TOOL_FAILED)
    except (ArgumentError, OSError) as error:
        return _fail(str(error), EXIT_INPUT_WRONG)
    except DiagnosticError as error:
        _show(error.diagnostics)
        return EXIT_INPUT_WRONG


def _run_kernel(options: Namespace) -> int:
    device = find_device(options.device)
    function = _read(options)
    parameters = parameters_of(function)
    outputs = _by_parameter("--out", options.out, parameters)
    _check_directories(outputs)
    values = _values(options, parameters)
    _check_outputs(outputs, parameters, values)
    if is_host_function(function):
        _run_host(options, function, values)
    else:
        _launch(options, device, function, values)
    if parameters and not options.quiet:
        _print(_result_table(function, parameters, values))
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.name in outputs:
            _save(outputs[parameter.name], value)
    return EXIT_OK


def _read(options: Namespace) -> Operation:
    """Reads the kernel and shows its warnings."""
    diagnostics = Diagnostics()
    try:
        module = parse(Path(options.kernel), diagnostics=diagnostics)
    except ValueError:
        raise UsageError(f"{options.kernel}: expected a file ending with .ir or .mlir") from None
    _show(list(diagnostics))
    return choose_function(module, options.entry)


def _by_parameter(
    option: str, assignments: Sequence[tuple[str, str]], parameters: Sequence[Parameter]
) -> dict[str, str]:
    """Returns the NAME=VALUE pairs of an option, each for a parameter of the kernel.

    Raises:
        UsageError: There is no such parameter, or a name comes twice.
    """
    names = [parameter.name for parameter in parameters]
    result: dict[str, str] = {}
    for name, value in assignments:
        if name not in names:
            known = ", ".join(names) or "none"
            raise UsageError(f"{option} {name}: the kernel has no such argument; it has: {known}")
        if name in result:
            raise UsageError(f"{option} {name}: given twice")
        result[name] = value
    return result


def _check_directories(outputs: dict[str, str]) -> None:
    """Finds out before the launch that a result could not be saved.

    Raises:
        UsageError: There is no such directory.
    """
    for name, path in outputs.items():
        directory = os.path.dirname(path)
        if directory and not os.path.isdir(directory):
            raise UsageError(f"--out {name}: there is no directory {directory}")


def _values(options: Namespace, parameters: Sequence[Parameter]) -> list[Any]:
    """Returns the kernel's arguments as the command line describes them."""
    texts = _by_parameter("--arg", options.arg, parameters)
    sizes = _by_parameter("--size", options.size, parameters)
    generator = np.random.default_rng(options.seed)
    return [_value(options, parameter, texts, sizes, generator) for parameter in parameters]


def _value(
    options: Namespace,
    parameter: Parameter,
    texts: dict[str, str],
    sizes: dict[str, str],
    generator: np.random.Generator,
) -> Any:
    name = parameter.name
    if name in texts:
        return value_of(parameter, texts[name], generator)
    is_memory = parameter.is_memory
    if options.rand and is_memory:
        return random_value(parameter, sizes.get(name), generator)
    hint = " or --rand" if is_memory else ""
    raise ArgumentError(f"{parameter}: no value is given; add --arg {name}=...{hint}")


def _launch(options: Namespace, device: Device, function: Operation, values: Sequence[Any]) -> None:
    with progress_bar() as progress:
        launch_function(
            function,
            values,
            options.grid,
            device,
            block=options.block,
            sanitize=options.sanitize,
            workers=options.workers,
            progress=progress,
        )


def _run_host(options: Namespace, function: Operation, values: Sequence[Any]) -> None:
    """Runs a function of the host, which itself says how large its launches are.

    Raises:
        UsageError: An option is for kernels only.
    """
    for option, is_given in (
        ("--sanitize", options.sanitize),
        ("--grid", options.grid != (1, 1, 1)),
        ("--block", options.block is not None),
    ):
        if is_given:
            raise UsageError(
                f"{option} is for kernels, but @{name_of(function)} is a function of the host; "
                "choose a kernel with --entry"
            )
    run_host_on_reference(function, bind(function, values, check_promises=True), options.seed)


def _check_outputs(
    outputs: dict[str, str], parameters: Sequence[Parameter], values: Sequence[Any]
) -> None:
    """Finds out before the launch that an argument has no memory to save.

    Raises:
        UsageError: It is a scalar or a null pointer.
    """
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.name in outputs and not isinstance(value, np.ndarray | Group):
            raise UsageError(f"--out {parameter.name}: {parameter} has no array to save")


def _save(path: str, value: Any) -> None:
    try:
        save_result(path, value)
    except OSError as error:
        raise ArgumentError(f"cannot write {path}: {error.strerror or error}") from None


def _result_table(
    function: Operation, parameters: Sequence[Parameter], values: Sequence[Any]
) -> RenderableType:
    rows = rows_of(parameters, values, written_parameters(function))
    return make_table(f"@{name_of(function)}", rows)


def list_devices() -> int:
    """Prints the devices; returns the exit code."""
    from rich.table import Table

    table = Table()
    table.add_column("device")
    table.add_column("what it is")
    table.add_column("sanitizer")
    for device in DEVICES.values():
        table.add_row(device.name, device.description, "yes" if device.can_sanitize else "no")
    _print(table)
    return EXIT_OK


def _print(content: RenderableType) -> None:
    """Prints a table to standard output; off a terminal it is not cut to a width."""
    from rich.console import Console

    console = Console(width=None if sys.stdout.isatty() else _FILE_WIDTH)
    # rich itself would end the process if the reader of the output has gone.
    with console.capture() as capture:
        console.print(content)
    write_standard_output(capture.get())


def _show(diagnostics: Sequence[Diagnostic]) -> None:
    """Writes diagnostics to standard error."""
    colored = is_colored("auto")
    for diagnostic in diagnostics:
        sys.stderr.write(diagnostic.render(colored) + "\n")


def _fail(message: str, code: int) -> int:
    """Writes one line of error to standard error; returns the exit code."""
    sys.stderr.write(f"xtile: error: {message}\n")
    return code
