"""Building programs: what a driver makes of SPIR-V, kept on disk for the next process.

A driver can abort or hang while it builds, and takes the process with it. So what is known to be
risky is built in a process of its own, with a limit of time; if that works, its binary is loaded
here. What a driver refuses is remembered and not tried again.
"""

from __future__ import annotations

import pyopencl as cl

from xtile.arguments.errors import DeviceError
from xtile.backends.build_error import BuildError
from xtile.backends.cache import Cache, make_key
from xtile.backends.intel.compilation import Program
from xtile.backends.intel.opencl import native
from xtile.backends.intel.opencl.build_process import binary_of, build_here, build_in_process
from xtile.backends.intel.opencl.device import OpenclDevice

RISKY_SECONDS = 60.0
"""How long a driver may take to build a program that may hang it."""


def build(
    device: OpenclDevice,
    context: cl.Context,
    program: Program,
    cache: Cache,
    seconds: float | None = None,
) -> cl.Program:
    """Builds a program for a device, or loads what was built before.

    Args:
        device: The device.
        context: Where the program is to be used.
        program: The program.
        cache: Holds binaries and failures.
        seconds: How long the driver may take; None: as long as it likes, unless the program is
            risky.

    Raises:
        DeviceError: The driver cannot build it; the message has the driver's log.
    """
    parts = {"options": program.build_options, "device": device.identity, "spirv": program.spirv}
    binary_key, failure_key = make_key("binary", **parts), make_key("failure", **parts)
    entry = cache.get(binary_key)
    if entry is not None:
        loaded = _load(device, context, program, entry.content)
        if loaded is not None:
            return loaded
        cache.remove(binary_key)
    if program.is_risky and seconds is None:
        seconds = RISKY_SECONDS
    _check_memory(device, cache, failure_key, seconds)
    try:
        built, binary = _build(device, context, program, seconds)
    except BuildError as failure:
        if failure.is_lasting:
            cache.put(failure_key, failure.header())
        raise DeviceError(failure.message(f"the device {device}")) from None
    cache.put(binary_key, {"device": str(device)}, binary)
    return built


def _check_memory(
    device: OpenclDevice, cache: Cache, failure_key: str, seconds: float | None
) -> None:
    """Raises what is remembered of an earlier attempt, unless this one has more time."""
    entry = cache.get(failure_key)
    if entry is None:
        return
    failure = BuildError.from_header(entry.header)
    if not failure.may_succeed_within(seconds):
        raise DeviceError(failure.message(f"the device {device}", is_remembered=True))


def _build(
    device: OpenclDevice, context: cl.Context, program: Program, seconds: float | None
) -> tuple[cl.Program, bytes]:
    """Returns the program and its binary."""
    if seconds is None:
        built = build_here(device, context, program.spirv, program.build_options)
        return built, binary_of(built)
    binary = build_in_process(device, program, seconds)
    loaded = _load(device, context, program, binary)
    if loaded is None:
        raise BuildError("the driver does not load what it has built", "")
    return loaded, binary


def _load(
    device: OpenclDevice, context: cl.Context, program: Program, binary: bytes
) -> cl.Program | None:
    """Loads a binary; returns None if the driver does not take it."""
    try:
        loaded = cl.Program(context, [device.handle], [binary])
        native.build_program(loaded, device.handle, program.build_options)
    except (cl.Error, native.OpenclError):
        return None
    return loaded
