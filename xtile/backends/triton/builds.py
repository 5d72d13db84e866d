"""What Triton has made of kernels: once for each text, chip, options and version.

What it cannot compile is remembered, with its words, and not tried again.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import takewhile

from xtile.backends.build_error import BuildError
from xtile.backends.cache import Cache, make_key
from xtile.backends.located_log import explained
from xtile.backends.triton.build_process import Built, Request, build_in_process
from xtile.backends.triton.installed import Triton
from xtile.text.source import Source

_KEPT = ("amdgcn", "hsaco", "ptx", "cubin")
"""The stages that are kept."""


def build(
    request: Request,
    triton: Triton,
    cache: Cache,
    *,
    seconds: float | None = None,
    source: Source | None = None,
) -> Built:
    """Has Triton compile a kernel, or takes what the cache has of it.

    Args:
        request: What is compiled.
        triton: What compiles it.
        cache: Holds what was made, and failures.
        seconds: How long Triton may take; None for its usual limit.
        source: The text of the kernel, in which errors have their locations.

    Raises:
        DeviceError: Triton fails; the message has what it said.
        DiagnosticError: What it refuses has a location in the text.
    """
    parts = {
        "text": request.text,
        "language": request.extension,
        "chip": f"{request.backend} {request.architecture}",
        "options": json.dumps(request.options, sort_keys=True),
        "tool": str(triton),
    }
    key = make_key("triton", **parts)
    entry = cache.get(key)
    if entry is not None:
        return _decode(entry.header["sizes"], entry.header["facts"], entry.content)
    failure_key = make_key("failure", **parts)
    entry = cache.get(failure_key)
    builder = f"{triton}, for {request.architecture},"
    if entry is not None:
        failure = BuildError.from_header(entry.header)
        if not failure.may_succeed_within(seconds):
            raise explained(failure, builder, source, is_remembered=True)
    try:
        made = build_in_process(request, triton.folder, seconds)
    except BuildError as error:
        failure = replace(error, log=_without_dumps(error.log))
        if failure.is_lasting:
            cache.put(failure_key, failure.header())
        raise explained(failure, builder, source) from None
    stages = {name: made.stages[name] for name in _KEPT if name in made.stages}
    sizes = {name: len(content) for name, content in stages.items()}
    cache.put(key, {"sizes": sizes, "facts": made.facts}, b"".join(stages.values()))
    return Built(stages, made.facts)


def _decode(sizes: dict[str, int], facts: dict[str, object], content: bytes) -> Built:
    stages: dict[str, bytes] = {}
    start = 0
    for name, size in sizes.items():
        stages[name] = content[start : start + size]
        start += size
    return Built(stages, facts)


_DUMP = re.compile(r"Stack dump|\s*#\d+ 0x|#blocked|module |\{-#|\s+t\d+: ")
"""How lines begin in which LLVM shows where it stood, and what it worked on."""


def _without_dumps(log: str) -> str:
    """What Triton said, to the first stack trace or module that LLVM shows where it fails."""
    kept = takewhile(lambda line: _DUMP.match(line) is None, log.splitlines())
    return "\n".join(kept).strip()
