"""Cubins: what `tileiras`, NVIDIA's assembler, makes of the bytecode of CUDA Tile IR.

Each is assembled once for each bytecode, architecture and version of the assembler, in a process
of its own with a limit of time. What the assembler cannot compile is remembered, with its words,
and not tried again.

Source: tileiras 13.5.37, `tileiras --help`; it ends with 3 where it refuses the bytecode and with 5
where it cannot compile it.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from xtile.backends.build_error import BuildError
from xtile.backends.cache import Cache, make_key
from xtile.backends.located_log import explained
from xtile.backends.nvidia.tools import Tool, find_tileiras, mismatch
from xtile.backends.tools import run_limited
from xtile.text.source import Source

DEFAULT_SECONDS = 300.0
"""How long it may take; kernels that spill registers take up to 10 s."""

DEFAULT_LEVEL = 3
"""How much it optimizes, from 0 to 3."""

_BYTECODE = "kernel.tileirbc"
_CUBIN = "kernel.cubin"


def assemble(
    bytecode: bytes,
    chip: str,
    tool: Tool,
    *,
    level: int = DEFAULT_LEVEL,
    seconds: float | None = None,
) -> bytes:
    """Compiles bytecode; returns the cubin.

    Args:
        bytecode: A module of CUDA Tile IR.
        chip: The architecture, such as `sm_90`.
        tool: The assembler.
        level: How much it optimizes, from 0 to 3.
        seconds: How long it may take; None for `DEFAULT_SECONDS`.

    Raises:
        BuildError: It refuses the bytecode, dies, or takes too long.
    """
    with tempfile.TemporaryDirectory(prefix="xtile-tileiras-") as name:
        bytecode_path, cubin_path = Path(name) / _BYTECODE, Path(name) / _CUBIN
        bytecode_path.write_bytes(bytecode)
        command = [
            *(str(tool.path), "--gpu-name", chip, f"-O{level}", "--lineinfo"),
            *(str(bytecode_path), "-o", str(cubin_path)),
        ]
        limit = DEFAULT_SECONDS if seconds is None else seconds
        # What it leaves behind where it is stopped goes with the directory.
        environment = {**tool.environment(), "TMPDIR": name}
        try:
            said = run_limited(command, environment, limit)
        except OSError as error:
            raise BuildError(f"it cannot be started: {error.strerror or error}", "") from None
        if not cubin_path.exists():
            raise BuildError("it wrote no cubin", said)
        return cubin_path.read_bytes()


def build_cubin(
    bytecode: bytes,
    chip: str,
    cache: Cache,
    *,
    level: int | None = None,
    seconds: float | None = None,
    source: Source | None = None,
) -> bytes:
    """Assembles bytecode, or takes what the cache has of it.

    Args:
        bytecode: A module of CUDA Tile IR.
        chip: The architecture.
        cache: Holds cubins and failures.
        level: How much the assembler optimizes, from 0 to 3; None for 3.
        seconds: How long it may take; None for its usual limit.
        source: The text of the kernels, in which errors have their places.

    Raises:
        DeviceError: The assembler is missing or fails; the message has what it said.
        DiagnosticError: What it refuses has a location in the text.
    """
    tool = find_tileiras()
    optimization = DEFAULT_LEVEL if level is None else level
    parts = {"tool": str(tool), "chip": chip, "level": str(optimization)}
    key = make_key("cubin", bytecode=bytecode, **parts)
    entry = cache.get(key)
    if entry is not None:
        return entry.content
    failure_key = make_key("failure", bytecode=bytecode, **parts)
    entry = cache.get(failure_key)
    if entry is not None:
        failure = BuildError.from_header(entry.header)
        if not failure.may_succeed_within(seconds):
            raise explained(failure, f"{tool}, for {chip},", source, is_remembered=True)
    try:
        cubin = assemble(bytecode, chip, tool, level=optimization, seconds=seconds)
    except BuildError as error:
        failure = replace(error, log=error.log + mismatch(tool))
        cache.put(failure_key, failure.header())
        raise explained(failure, f"{tool}, for {chip},", source) from None
    cache.put(key, parts, cubin)
    return cubin
