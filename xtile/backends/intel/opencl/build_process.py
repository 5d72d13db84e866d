"""Building a program in a process of its own, which may abort or hang without harm.

The process is this module: it reads a request from the directory that is its argument, and leaves
the binary or the driver's words there.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from xtile.backends.build_error import BuildError
from xtile.backends.limited_process import run_limited

if TYPE_CHECKING:
    from xtile.backends.intel.compilation import Program
    from xtile.backends.intel.opencl.device import OpenclDevice

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


def _main(directory: Path) -> None:
    """What the process does."""
    import pyopencl as cl

    from xtile.backends.intel.opencl import native
    from xtile.backends.intel.opencl.build_here import binary_of, build_here
    from xtile.backends.intel.opencl.device import find_devices

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
