"""Building a program in this process, which a driver may take with it."""

from __future__ import annotations

from typing import Any, cast

import pyopencl as cl

from xtile.backends.build_error import BuildError
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.device import OpenclDevice
from xtile.backends.intel.opencl.subgroups import without_subgroups


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
