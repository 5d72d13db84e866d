"""Which releases of Triton are there: the newest in the environment, others in a folder."""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

RELEASES_VARIABLE = "XTILE_TRITON_RELEASES"
"""The environment variable with the folder of other releases, each in a folder of its name."""

ALL_VARIABLE = "XTILE_ALL_ON_TRITON"
"""The environment variable by which all kernels of tests at tile level are run for Triton, too."""


def newest() -> str:
    """The release in the environment."""
    return version("triton")


def releases() -> list[str]:
    """The releases that are there, the oldest first."""
    return sorted({*folders(), newest()}, key=_number)


def folders() -> dict[str, Path]:
    """Where other releases are: folders with the package `triton`."""
    given = os.environ.get(RELEASES_VARIABLE)
    found = Path(given).glob("*.*.*") if given else ()
    return {folder.name: folder.resolve() for folder in found if (folder / "triton").is_dir()}


def _number(release: str) -> tuple[int, ...]:
    return tuple(map(int, release.split(".")))
