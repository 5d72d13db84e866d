"""`tileiras`, NVIDIA's assembler: from the bytecode of CUDA Tile IR to machine code.

It runs in a process of its own with a limit of time. What it says about locations in the kernel's
text becomes located errors.

Source: tileiras 13.5.37, `tileiras --help`; it ends with 3 where it refuses the bytecode and with 5
where it cannot compile it.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from xtile.backends.build_error import BuildError
from xtile.backends.limited_process import run_limited
from xtile.backends.nvidia.tools import Tool
from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.source import Source, Span

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


_POSITION = re.compile(
    r'^(?:\#cuda_tile\.di_loc<)?loc\("(?P<file>[^"\n]*)":(?P<line>\d+):(?P<column>\d+)\)'
    r"(?:[ ]in[ ].*?>>)?:?[ ](?P<severity>error|warning):[ ](?P<message>.*)$",
    re.MULTILINE,
)
"""How a message begins that has a location: that of a file, or one of debug information."""


def located(log: str, source: Source) -> list[Diagnostic]:
    """The errors of a log that lie in the kernel's text.

    Args:
        log: What the assembler said.
        source: The text; bytecode knows it by its name.
    """
    return [
        Diagnostic(Severity.ERROR, match["message"], source, span)
        for match in _POSITION.finditer(log)
        if match["severity"] == "error"
        for span in _spans(match, source)
    ]


def _spans(match: re.Match[str], source: Source) -> Iterator[Span]:
    """The location of a message, if it lies in the text."""
    if Path(match["file"]).name != Path(source.name).name:
        return
    line, column = int(match["line"]), int(match["column"])
    if column > 0:
        offset = source.offset(line, column)
        if offset is not None:
            yield Span(offset, offset + 1)
        return
    # Debug information may leave the column open.
    start = source.offset(line, 1)
    if start is not None:
        text = source.line_text(line)
        yield Span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def shortened(log: str) -> str:
    """A log in which places are written as compilers write them: `file:line:column: error: ...`."""
    return _POSITION.sub(_short_position, log)


def _short_position(match: re.Match[str]) -> str:
    return "{file}:{line}:{column}: {severity}: {message}".format(**match.groupdict())
