"""Finding Triton, which is never imported in this process: it may abort."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from xtile.arguments.errors import DeviceError
from xtile.dialects.triton.versions import NEWEST, OLDEST, Release, parse_release

PACKAGES = "pip install 'xtile[amd]'"
"""What brings Triton, which needs neither ROCm nor PyTorch to compile."""

_VERSION = re.compile(r"""^__version__ = ['"]([^'"]+)""", re.MULTILINE)


@dataclass(frozen=True)
class Triton:
    """The Triton that compiles kernels.

    Attributes:
        folder: What Python must have on its path to import it.
        version: Its version, as in `3.9.0`.
        release: The release whose text it reads.
    """

    folder: Path
    version: str
    release: Release

    def __str__(self) -> str:
        return f"Triton {self.version}"


@cache
def find_triton() -> Triton:
    """The Triton of this environment.

    Raises:
        DeviceError: There is none, or it is too old; the message says how to get one.
    """
    spec = find_spec("triton")
    if spec is None or spec.origin is None:
        raise DeviceError(f"Triton, which makes machine code, is not here; add it with: {PACKAGES}")
    package = Path(spec.origin)
    found = _VERSION.search(package.read_text(encoding="utf-8"))
    version = "of no version" if found is None else found[1]
    release = _release_of(version)
    if release is None:
        raise DeviceError(
            f"Triton {version} of {package.parent} is older than {OLDEST}; add another one with: "
            f"{PACKAGES}"
        )
    return Triton(package.parents[1], version, release)


def _release_of(version: str) -> Release | None:
    """The release whose text a version reads; one that is not known yet is like the newest."""
    try:
        return parse_release(version)
    except ValueError:
        numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
        return NEWEST if numbers > NEWEST else None


def triton_problem() -> str | None:
    """Why nothing can be compiled with Triton; None if it can."""
    try:
        find_triton()
    except DeviceError as error:
        return str(error)
    return None
