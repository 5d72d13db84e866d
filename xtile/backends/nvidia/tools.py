"""Finding NVIDIA's command line tools: those of pip's packages, then those of a CUDA toolkit.

Sources: the packages nvidia-cuda-tileiras, nvidia-cuda-nvcc and nvidia-nvvm 13.5 on PyPI, which
install into one directory; CUDA Installation Guide for Linux, section "Environment Setup".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from xtile.arguments.errors import DeviceError
from xtile.backends.build_error import BuildError
from xtile.backends.tools import find_command, run_limited

PACKAGES = "pip install 'xtile[nvidia]'"
"""What brings the assembler, `ptxas`, which it starts, and the driver's bindings."""

_ADVICE = f"install it with: {PACKAGES}"

_TOOLKIT_VARIABLES = ("CUDA_HOME", "CUDA_PATH")
"""Environment variables with the directory of a CUDA toolkit."""

_TOOLKIT = Path("/usr/local/cuda")
"""Where a CUDA toolkit is installed if nothing else is said."""

_OLDEST = (13, 3)
"""The oldest version that reads the bytecode that is written, and that compiles for sm_90."""

_VERSION = re.compile(r"\bV(\d+\.\d+\.\d+)")
_VERSION_SECONDS = 20.0


@dataclass(frozen=True)
class Tool:
    """One of NVIDIA's command line tools.

    Attributes:
        path: The program.
        version: Its version, as in `13.5.37`.
        is_packaged: Whether it belongs to a package of pip, which brings what it needs.
    """

    path: Path
    version: str
    is_packaged: bool

    def __str__(self) -> str:
        return f"{self.path.name} {self.version}"

    @property
    def minor_version(self) -> tuple[int, int]:
        """The first two numbers of the version."""
        major, minor, *_ = self.version.split(".")
        return int(major), int(minor)

    def environment(self) -> Mapping[str, str]:
        """The environment variables that it is started with.

        A packaged tool must not find parts of another toolkit, whose version may differ.
        """
        if not self.is_packaged:
            return os.environ
        return {name: value for name, value in os.environ.items() if name not in _TOOLKIT_VARIABLES}


@cache
def find_tileiras() -> Tool:
    """The assembler of CUDA Tile IR.

    Raises:
        DeviceError: It is not there, or lacks what it needs; the message says how to get it.
    """
    tool = find_tool("tileiras")
    if tool is None:
        raise DeviceError(f"NVIDIA's assembler tileiras is not here; {_ADVICE}")
    if tool.minor_version < _OLDEST:
        raise DeviceError(f"{tool} of {tool.path} is older than 13.3; {_ADVICE}")
    if tool.is_packaged and not (tool.path.parent / "ptxas").exists():
        raise DeviceError(f"{tool} has no ptxas beside it, which it starts; {_ADVICE}")
    return tool


def mismatch(tool: Tool) -> str:
    """What to add to an error of an assembler whose `ptxas` is of another version."""
    version = _version_of(tool.path.parent / "ptxas")
    if version is None or version.split(".")[:2] == tool.version.split(".")[:2]:
        return ""
    return f"\nits ptxas is of version {version}, but both must be of one minor version; {_ADVICE}"


def find_tool(name: str) -> Tool | None:
    """A tool of NVIDIA's by its name; None if there is none that runs."""
    for path, is_packaged in _positions(name):
        version = _version_of(path)
        if version is not None:
            return Tool(path, version, is_packaged)
    return None


def _positions(name: str) -> Iterator[tuple[Path, bool]]:
    """Where a tool may be, the best location first, and whether that is a package's."""
    for directory in _package_directories():
        yield directory / name, True
    for variable in _TOOLKIT_VARIABLES:
        if os.environ.get(variable):
            yield Path(os.environ[variable]) / "bin" / name, False
    found = find_command(name)
    if found is not None:
        yield Path(found), False
    yield _TOOLKIT / "bin" / name, False


def _package_directories() -> list[Path]:
    """The `bin` directories of NVIDIA's packages, the newest first."""
    namespace = find_spec("nvidia")
    if namespace is None or namespace.submodule_search_locations is None:
        return []
    found = (
        path
        for position in namespace.submodule_search_locations
        for path in Path(position).glob("cu[0-9]*/bin")
    )
    return sorted(found, key=_toolkit_number, reverse=True)


def _toolkit_number(path: Path) -> int:
    digits = path.parent.name.removeprefix("cu")
    return int(digits) if digits.isdecimal() else 0


def _version_of(path: Path) -> str | None:
    """The version that a program itself tells; None if it cannot be run."""
    if not path.is_file():
        return None
    try:
        said = run_limited([str(path), "--version"], os.environ, _VERSION_SECONDS)
    except (BuildError, OSError):
        return None
    match = _VERSION.search(said)
    return None if match is None else match[1]
