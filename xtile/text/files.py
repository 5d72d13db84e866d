"""Reads files into sources, with an error where one cannot be read."""

from __future__ import annotations

from os import PathLike

from xtile.text.diagnostics import Diagnostic, DiagnosticError, Severity
from xtile.text.source import SPIRV_MAGIC, TILE_MAGIC, Source, Span

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_FILES_OF_BYTES = {SPIRV_MAGIC: ("spirv", "spv"), TILE_MAGIC: ("tileir-bytecode", "tileirbc")}
"""What messages call a file of bytes, and how its name ends."""


def source_from_path(path: str | PathLike[str], is_binary: bool = False) -> Source:
    """Reads a file.

    Raises:
        DiagnosticError: The file cannot be read, or is text and not valid UTF-8.
    """
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        message = f"cannot read the file: {reason or error}"
        source = Source(str(path), "")
        raise DiagnosticError([Diagnostic(Severity.ERROR, message, source, None)]) from error
    if is_binary:
        return Source.from_binary(str(path), data)
    return source_from_bytes(str(path), data)


def source_from_bytes(name: str, data: bytes) -> Source:
    """Decodes `data` as UTF-8 and drops a byte order mark.

    Raises:
        DiagnosticError: A byte is not valid UTF-8; the error is located at that byte.
    """
    data = data.removeprefix(_BYTE_ORDER_MARK)
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise DiagnosticError([_invalid_byte(name, data, error)]) from None


def _invalid_byte(name: str, data: bytes, error: UnicodeDecodeError) -> Diagnostic:
    """Returns the located error for the first byte that is not valid UTF-8."""
    kinds = (kind for magic, kind in _FILES_OF_BYTES.items() if data.startswith(magic))
    for kind, extension in kinds:
        message = (
            f"this is {kind}, not text; its name must end with .{extension}, or the command line "
            f"say -f {extension}"
        )
        return Diagnostic(Severity.ERROR, message, Source.from_binary(name, data), None)
    source = Source(name, data.decode("utf-8", "replace"))
    offset = len(data[: error.start].decode("utf-8"))
    message = (
        f"byte 0x{data[error.start]:02x} at offset {error.start} is not valid UTF-8; "
        "save the file as UTF-8"
    )
    return Diagnostic(Severity.ERROR, message, source, Span(offset, offset + 1))
