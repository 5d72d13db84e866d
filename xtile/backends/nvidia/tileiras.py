"""`tileiras`, NVIDIA's assembler: from the bytecode of CUDA Tile IR to machine code.

It runs in a process of its own with a limit of time.

Source: tileiras 13.5.37, `tileiras --help`; it ends with 3 where it refuses the bytecode and with 5
where it cannot compile it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from xtile.backends.build_error import BuildError
from xtile.backends.limited_process import run_limited
from xtile.backends.nvidia.tools import Tool

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
