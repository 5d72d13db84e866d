"""Writes output files whole or not at all."""

from __future__ import annotations

import os
import stat


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
