"""Reads files into sources, with an error where one cannot be read, and writes files whole."""

from __future__ import annotations

import os
import stat
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


def write_file(path: str, data: str | bytes) -> None:
    """Writes `data` to `path` so that a failure leaves no half-written file.

    A new file takes the location of the old one in a single step and keeps its permissions. A
    device or a pipe, such as `/dev/stdout`, is written to directly. Text is encoded as UTF-8.

    Raises:
        OSError: The file cannot be written; an old file at `path` is still as it was.
    """
    content = data.encode("utf-8") if isinstance(data, str) else data
    # A link keeps pointing to the file that is replaced.
    path = os.path.realpath(path)
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode):
        with open(path, "wb") as file:
            file.write(content)
        return
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        if mode is not None:
            os.chmod(temporary, stat.S_IMODE(mode))
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def _mode(path: str) -> int | None:
    """Returns the type and permission bits of a file, or None if there is no such file."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _remove(path: str) -> None:
    """Deletes a file if it is there."""
    try:
        os.remove(path)
    except FileNotFoundError:
        return
