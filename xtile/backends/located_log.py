"""What compilers built on MLIR say about locations in a kernel's text, as located errors.

Source: MLIR (LLVM 22), `lib/IR/Diagnostics.cpp`; tileiras 13.5.37, for debug information.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from xtile.arguments.errors import DeviceError
from xtile.backends.build_error import BuildError
from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import Source, Span

_POSITION = re.compile(
    r'^(?:\#cuda_tile\.di_loc<)?loc\("(?P<file>[^"\n]*)":(?P<line>\d+):(?P<column>\d+)\)'
    r"(?:[ ]in[ ].*?>>)?:?[ ](?P<severity>error|warning):[ ](?P<message>.*)$",
    re.MULTILINE,
)
"""How a message begins that has a location: that of a file, or one of debug information."""


def located(log: str, source: Source) -> list[Diagnostic]:
    """The errors of a log that lie in the kernel's text.

    Args:
        log: What the compiler said.
        source: The text, which the compiler knows by its name.
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


def explained(
    failure: BuildError, builder: str, source: Source | None, *, is_remembered: bool = False
) -> DeviceError | DiagnosticError:
    """The error for users: with locations if the compiler names any, or all that it said."""
    found = [] if source is None else located(failure.log, source)
    if found:
        return DiagnosticError(found)
    failure = replace(failure, log=shortened(failure.log))
    return DeviceError(failure.message(builder, is_remembered=is_remembered))
