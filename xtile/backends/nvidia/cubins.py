"""Cubins: assembled once for each bytecode, architecture and version of the assembler.

What the assembler cannot compile is remembered, with its words, and not tried again.
"""

from __future__ import annotations

from dataclasses import replace

from xtile.backends.build_error import BuildError
from xtile.backends.cache import Cache, make_key
from xtile.backends.located_log import explained
from xtile.backends.nvidia.tileiras import DEFAULT_LEVEL, assemble
from xtile.backends.nvidia.tools import find_tileiras, mismatch
from xtile.text.source import Source


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
