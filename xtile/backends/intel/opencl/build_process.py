"""Building a program in this process, or in one of its own, which may abort or hang without harm.

That process is this module: it reads a request from the directory that is its argument, and leaves
the binary or the driver's words there.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyopencl as cl

from xtile.backends.build_error import BuildError
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.device import OpenclDevice, find_devices
from xtile.backends.intel.opencl.subgroups import without_subgroups
from xtile.backends.tools import run_limited

if TYPE_CHECKING:
    from xtile.backends.intel.compilation import Program

_REQUEST = "request.json"
_SPIRV = "kernel.spv"
_BINARY = "kernel.bin"
_FAILURE = "failure.json"


def build_in_process(device: OpenclDevice, program: Program, seconds: float) -> bytes:
    """Builds a program in another process; returns its binary.

    Args:
        device: The device, which the other process finds by its identity.
        program: The program. Its kernels are created, too, because some drivers compile then.
        seconds: When the process is stopped.

    Raises:
        BuildError: The driver refused it, died, or took too long.
    """
    with tempfile.TemporaryDirectory(prefix="xtile-build-") as name:
        directory = Path(name)
        request = {
            "device": device.identity,
            "options": program.build_options,
            "kernels": list(program.kernels),
        }
        (directory / _REQUEST).write_text(json.dumps(request))
        (directory / _SPIRV).write_bytes(program.spirv)
        said = _run(directory, seconds)
        if (directory / _FAILURE).exists():
            raise BuildError(**json.loads((directory / _FAILURE).read_text()))
        if not (directory / _BINARY).exists():
            raise BuildError("the process that builds it found no such device", said)
        return (directory / _BINARY).read_bytes()


def _run(directory: Path, seconds: float) -> str:
    """Runs the process; returns what it said."""
    package = Path(__file__).resolve().parents[4]
    paths = [str(package), *filter(None, [os.environ.get("PYTHONPATH")])]
    return run_limited(
        [sys.executable, "-m", __spec__.name, str(directory)],
        {**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        seconds,
    )


def build_here(device: OpenclDevice, context: cl.Context, spirv: bytes, options: str) -> cl.Program:
    """Builds SPIR-V in this process.

    Raises:
        BuildError: The driver refuses it.
    """
    try:
        program = cl.Program(context, spirv)
    except cl.Error as error:
        raise BuildError(str(error), "") from None
    try:
        native.build_program(program, device.handle, options)
    except native.OpenclError as error:
        raise BuildError(str(error), _log(program, device)) from None
    if device.is_cpu:
        log = _log(program, device)
        for name in without_subgroups(spirv, log):
            raise BuildError(f"it makes no subgroups for @{name}, which needs them", log)
    return program


def _log(program: cl.Program, device: OpenclDevice) -> str:
    built: Any = program
    try:
        return str(built.get_build_info(device.handle, cl.program_build_info.LOG)).strip("\0 \n")
    except cl.Error:
        return ""


def binary_of(program: cl.Program) -> bytes:
    """The code for the only device that a program is built for."""
    (binary,) = cast("list[bytes]", program.get_info(cl.program_info.BINARIES))
    return binary


def _main(directory: Path) -> None:
    """What the process does."""
    request = json.loads((directory / _REQUEST).read_text())
    found = (device for device in find_devices() if device.identity == request["device"])
    device = next(found, None)
    if device is None:
        return
    try:
        context = cl.Context([device.handle])
        spirv = (directory / _SPIRV).read_bytes()
        program = build_here(device, context, spirv, request["options"])
        for name in request["kernels"]:
            native.Kernel(program, name)
    except (BuildError, cl.Error, native.OpenclError) as error:
        log = error.log if isinstance(error, BuildError) else ""
        failure = {"cause": str(error), "log": log}
        (directory / _FAILURE).write_text(json.dumps(failure))
        return
    (directory / _BINARY).write_bytes(binary_of(program))


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
