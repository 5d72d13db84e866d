"""A cache on disk for what compilers and drivers make of kernels; for all backends.

An entry is one file: a line that names the format, a checksum of the rest, and a header in JSON
that is followed by bytes. A file appears in one step, so that processes can share the directory
without waiting for each other; what cannot be read is as if it were not there. When the entries
exceed a limit, those go that were not used for the longest time. `xtile cache` shows what is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from xtile import __version__
from xtile.command import EXIT_OK, write_standard_output

DIRECTORY_VARIABLE = "XTILE_CACHE_DIR"
"""The environment variable with the directory of the cache, in place of the user's own."""

DEFAULT_LIMIT = 512 * 1024 * 1024
"""Bytes that all entries together may have."""

Header: TypeAlias = Mapping[str, Any]
"""What an entry says in words: anything that JSON can hold."""

_MAGIC = b"xtile cache 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
_LENGTH_SIZE = 8
_SUFFIX = ".entry"
_TEMPORARY_SUFFIX = ".tmp"

_FILE_NAME = re.compile(rf"[a-z]+-[0-9a-f]{{64}}(\.\d+\.\d+{_TEMPORARY_SUFFIX}|{_SUFFIX})")
"""The names of the cache's files; other files in the directory are left alone."""

_ABANDONED_AFTER = 3600
"""Seconds after which a temporary file belongs to no process that still writes it."""

_ROOM = 0.9
"""Part of the limit that entries may have after some had to go, so that it is not at each write."""


@dataclass(frozen=True)
class Entry:
    """What the cache holds under a key.

    Attributes:
        header: What the entry says in words.
        content: Bytes.
    """

    header: Header
    content: bytes


@dataclass(frozen=True)
class Usage:
    """How much a cache holds.

    Attributes:
        entries: The number of entries of each kind.
        size: Bytes of all entries together.
    """

    entries: Mapping[str, int]
    size: int


def make_key(kind: str, **parts: str | bytes) -> str:
    """The key of what follows from `parts` by a version of xtile.

    Args:
        kind: What the entry is, in small letters; the key begins with it.
        parts: Everything else that the content depends on.
    """
    digest = hashlib.sha256()
    for part in (kind, compiler_version(), *(text for item in parts.items() for text in item)):
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(_LENGTH_SIZE, "little"))
        digest.update(data)
    return f"{kind}-{digest.hexdigest()}"


@cache
def compiler_version() -> str:
    """The version of xtile, with its files: a version's number stays while it is developed."""
    return version_of(Path(__file__).resolve().parent.parent)


def version_of(package: Path) -> str:
    """The version of xtile in a directory: what pip has recorded of its files, or their times."""
    record = package.parent / f"xtile-{__version__}.dist-info" / "RECORD"
    digest = hashlib.sha256()
    if record.exists():
        digest.update(record.read_bytes())
    else:
        for name, modified, size in sorted(_source_files(str(package))):
            digest.update(f"{name} {modified} {size}\n".encode())
    return f"{__version__}+{digest.hexdigest()}"


def _source_files(directory: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(directory) as found:
        for item in found:
            if item.is_dir(follow_symlinks=False):
                yield from _source_files(item.path)
            elif item.name.endswith(".py"):
                state = item.stat()
                yield item.path, state.st_mtime_ns, state.st_size


def default_directory() -> Path:
    """Where the cache is: what XTILE_CACHE_DIR says, or the platform's position for a user's."""
    given = os.environ.get(DIRECTORY_VARIABLE)
    if given:
        return Path(given)
    from platformdirs import user_cache_path

    return user_cache_path("xtile", appauthor=False)


class Cache:
    """Entries in a directory.

    Attributes:
        directory: Where they are; it is made when something is written.
        limit: Bytes that they may have together.
    """

    def __init__(self, directory: Path | None = None, limit: int = DEFAULT_LIMIT) -> None:
        """Opens a cache; without a directory the user's own."""
        self.directory = default_directory() if directory is None else directory
        self.limit = limit

    def get(self, key: str) -> Entry | None:
        """Returns what is held under a key; None if there is nothing that can be read."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        entry = _decoded(key, data)
        if entry is None:
            _remove(path)
        else:
            _mark_as_used(path)
        return entry

    def put(self, key: str, header: Header, content: bytes = b"") -> None:
        """Holds something under a key, in place of what was there.

        A cache that cannot be written to holds nothing: everything works without it.
        """
        data = _encoded(key, header, content)
        if len(data) > self.limit:
            return
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            _write_in_one_step(self._path(key), data)
            self._make_room()
        except OSError:
            return

    def remove(self, key: str) -> None:
        """Forgets what is held under a key."""
        _remove(self._path(key))

    def usage(self) -> Usage:
        """Counts the entries."""
        entries = [(path, state) for path, state in self._files() if path.suffix == _SUFFIX]
        kinds = Counter(path.name.partition("-")[0] for path, _ in entries)
        return Usage(dict(sorted(kinds.items())), sum(state.st_size for _, state in entries))

    def clear(self) -> Usage:
        """Forgets everything; returns what there was."""
        usage = self.usage()
        for path, _ in self._files():
            _remove(path)
        return usage

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_SUFFIX}"

    def _files(self) -> list[tuple[Path, os.stat_result]]:
        """The cache's files, those that other processes are writing included."""
        files: list[tuple[Path, os.stat_result]] = []
        try:
            paths = list(self.directory.iterdir())
        except OSError:
            return []
        for path in paths:
            if _FILE_NAME.fullmatch(path.name):
                try:
                    files.append((path, path.stat()))
                except OSError:
                    # Another process has removed it.
                    continue
        return files

    def _make_room(self) -> None:
        """Removes what was not used for the longest time, if the entries exceed the limit."""
        files = self._files()
        long_ago = time.time() - _ABANDONED_AFTER
        for path, state in files:
            if path.suffix == _TEMPORARY_SUFFIX and state.st_mtime < long_ago:
                _remove(path)
        entries = [(path, state) for path, state in files if path.suffix == _SUFFIX]
        size = sum(state.st_size for _, state in entries)
        if size <= self.limit:
            return
        for path, state in sorted(entries, key=lambda entry: entry[1].st_mtime_ns):
            if size <= self.limit * _ROOM:
                return
            _remove(path)
            size -= state.st_size


def _encoded(key: str, header: Header, content: bytes) -> bytes:
    text = json.dumps(header).encode()
    body = len(text).to_bytes(_LENGTH_SIZE, "little") + text + content
    return _MAGIC + _checksum(key, body) + body


def _decoded(key: str, data: bytes) -> Entry | None:
    """The entry that a file holds; None if it is damaged, of another format, or of another key."""
    start = len(_MAGIC) + _DIGEST_SIZE
    body = data[start:]
    if not data.startswith(_MAGIC) or _checksum(key, body) != data[len(_MAGIC) : start]:
        return None
    end = _LENGTH_SIZE + int.from_bytes(body[:_LENGTH_SIZE], "little")
    return Entry(json.loads(body[_LENGTH_SIZE:end]), body[end:])


def _checksum(key: str, body: bytes) -> bytes:
    """That of an entry together with its key, so that a file of another name is no entry."""
    return hashlib.sha256(key.encode() + b"\0" + body).digest()


def _write_in_one_step(path: Path, data: bytes) -> None:
    # Threads of one process write the same entry, too.
    temporary = path.with_name(
        f"{path.stem}.{os.getpid()}.{time.monotonic_ns()}{_TEMPORARY_SUFFIX}"
    )
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except BaseException:
        _remove(temporary)
        raise


def _mark_as_used(path: Path) -> None:
    """Sets the time by which entries are forgotten; reading alone need not change a file's."""
    try:
        os.utime(path)
    except OSError:
        return


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:
        return


# --- the command ---

_KINDS = {
    "program": "compiled by xtile",
    "binary": "built by drivers",
    "failure": "refused by drivers",
}
"""What the entries of each kind are."""

_MEGABYTE = 1024 * 1024


def run_cache(action: str) -> int:
    """Shows what the cache holds, or clears it; returns the exit code."""
    cache = Cache()
    if action == "clear":
        write_standard_output(f"removed {_summary(cache.clear())} from {cache.directory}\n")
        return EXIT_OK
    usage = cache.usage()
    lines = [
        f"directory  {cache.directory}  (set {DIRECTORY_VARIABLE} to change it)",
        f"entries    {_summary(usage)}, at most {_megabytes(cache.limit)}",
        *(f"           {_KINDS.get(kind, kind)}: {count}" for kind, count in usage.entries.items()),
    ]
    write_standard_output("\n".join(lines) + "\n")
    return EXIT_OK


def _summary(usage: Usage) -> str:
    count = sum(usage.entries.values())
    entries = "1 entry" if count == 1 else f"{count} entries"
    return f"{entries} of together {_megabytes(usage.size)}"


def _megabytes(size: int) -> str:
    return f"{size / _MEGABYTE:.1f} MB"
