"""What `xtile run` does."""

from __future__ import annotations

import os
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from xtile.arguments.array_arguments import MissingValueError, flattened, takes_pointers
from xtile.arguments.binding import bind
from xtile.arguments.copies import copied
from xtile.arguments.errors import ArgumentError
from xtile.arguments.groups import Group
from xtile.arguments.signature import Parameter, Signature
from xtile.backends.machine_code import HSACO, format_of
from xtile.command import (
    EXIT_OK,
    Messages,
    print_table,
    write_standard_output,
)
from xtile.dialects.reading import UnknownLanguageError
from xtile.dialects.triton_dumps import kernel_file, options_text
from xtile.launch.devices import Device, find_device
from xtile.launch.executable import CUDA_NAME, HIP_NAME, Executable, Kernel, LaunchResult
from xtile.launch.progress import progress_bar
from xtile.launch.report import Row, make_table, rows_of, save_result
from xtile.launch.run import launch
from xtile.launch.specification import random_value, value_of
from xtile.launch.timing import Timing, bytes_of
from xtile.targets import OptionError
from xtile.text.diagnostics import Diagnostics


class UsageError(OptionError):
    """The command line contradicts itself or the kernel's signature."""


def run_kernel(options: Namespace) -> int:
    """Runs a kernel as the command line says; returns the exit code."""
    messages = Messages(as_json=options.json)
    return messages.answer(lambda: messages.end(EXIT_OK, _run_kernel(options, messages)))


def _run_kernel(options: Namespace, messages: Messages) -> dict[str, Any]:
    """Runs a kernel and shows what it did; returns that as JSON holds it."""
    device = find_device(options.device, sanitize=options.sanitize)
    if os.path.isdir(options.kernel):
        options.kernel = kernel_file(options.kernel)
    executable = _load(options, device, messages)
    parameters = executable.signature.parameters
    outputs = _by_parameter("--out", options.out, parameters)
    _check_directories(outputs)
    values = _values(options, executable.signature)
    _check_outputs(outputs, parameters, values)
    result, timing = None, None
    if executable.is_host:
        _run_host(options, executable, values)
    else:
        before = copied(values) if options.repeat else []
        result, _ = _launch(options, device, executable, values)
        messages.show(result.warnings)
        if options.repeat:
            timing = _repeated(options, device, executable, before)
    for parameter, value in zip(parameters, values, strict=True):
        if parameter.name in outputs:
            _save(outputs[parameter.name], value)
    rows = rows_of(parameters, values, executable.signature.written)
    if not (options.quiet or options.json):
        _print(options, executable.signature, rows, result, timing)
    return {
        "kernel": executable.signature.name,
        "device": None if result is None else result.device,
        "seconds": None if result is None else result.seconds,
        "arguments": [row.words() for row in rows],
        "timing": None if timing is None else timing.words(),
    }


def _print(
    options: Namespace,
    signature: Signature,
    rows: Sequence[Row],
    result: LaunchResult | None,
    timing: Timing | None,
) -> None:
    if rows:
        title = f"@{signature.name}"
        if result is not None and result.seconds is not None:
            title += f" on {result.device}, {result.seconds * 1000:.3f} ms"
        compiled_as = options_text(options.kernel)
        print_table(make_table(f"{title}, {compiled_as}" if compiled_as else title, rows))
    if timing is not None:
        write_standard_output(f"{timing}\n")


def _load(options: Namespace, device: Device, messages: Messages) -> Executable:
    """Reads the kernel and shows its warnings."""
    diagnostics = Diagnostics()
    kernel = Kernel(
        Path(options.kernel), options.entry, diagnostics, options.build_seconds, options.binary
    )
    try:
        executable = device.load(kernel)
    except UnknownLanguageError:
        hint = _device_hint(options.kernel)
        raise UsageError(
            f"{options.kernel}: expected a file ending with .ir, .mlir, .ttir, .ttgir or "
            f".tileirbc{hint}"
        ) from None
    messages.show(diagnostics)
    return executable


def _device_hint(path: str) -> str:
    """Which device runs a file of machine code, for the end of a message."""
    kind = format_of(path)
    if kind is None:
        return ""
    return f"; {kind.an} runs with --device {HIP_NAME if kind is HSACO else CUDA_NAME}"


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


def _values(options: Namespace, signature: Signature) -> list[Any]:
    """Returns the kernel's arguments as the command line describes them."""
    parameters = signature.parameters
    texts = _by_parameter("--arg", options.arg, parameters)
    sizes = _by_parameter("--size", options.size, parameters)
    generator = np.random.default_rng(options.seed)
    if not takes_pointers(signature):
        return [_value(options, parameter, texts, sizes, generator) for parameter in parameters]
    # Sizes and strides that are left out follow from the array before them.
    given = {
        parameter.name: _value(options, parameter, texts, sizes, generator)
        for parameter in parameters
        if parameter.name in texts or (options.rand and parameter.is_memory)
    }
    try:
        return flattened(signature, given)
    except MissingValueError as error:
        raise _missing(error.parameter) from None


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
    raise _missing(parameter)


def _missing(parameter: Parameter) -> ArgumentError:
    hint = " or --rand" if parameter.is_memory else ""
    return ArgumentError(f"{parameter}: no value is given; add --arg {parameter.name}=...{hint}")


def _launch(
    options: Namespace, device: Device, executable: Executable, values: Sequence[Any]
) -> tuple[LaunchResult, float]:
    """Launches a kernel; also returns how long it took, by the device's clock if it has one."""
    with progress_bar() as progress:
        began = time.perf_counter()
        result = launch(
            executable,
            values,
            options.grid,
            device,
            block=options.block,
            sanitize=options.sanitize,
            workers=options.workers,
            progress=progress,
            seconds=options.seconds,
        )
        passed = time.perf_counter() - began
    return result, passed if result.seconds is None else result.seconds


def _repeated(
    options: Namespace, device: Device, executable: Executable, before: list[Any]
) -> Timing:
    """Launches a kernel again on the same arguments, and says how long the launches took."""
    seconds = [
        _launch(options, device, executable, copied(before))[1] for _ in range(options.repeat)
    ]
    moved = bytes_of(before, executable.signature.written)
    return Timing(tuple(seconds), moved, options.flop)


def _run_host(options: Namespace, executable: Executable, values: Sequence[Any]) -> None:
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
                f"{option} is for kernels, but @{executable.signature.name} is a function of the "
                "host; choose a kernel with --entry"
            )
    executable.run_host(bind(executable.signature, values), options.seed, options.seconds)


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
