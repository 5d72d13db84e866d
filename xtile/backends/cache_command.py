"""What `xtile cache` does."""

from __future__ import annotations

from xtile.backends.cache import DIRECTORY_VARIABLE, Cache, Usage
from xtile.command import EXIT_OK, write_standard_output

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
