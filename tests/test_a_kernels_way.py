"""docs/a-kernels-way.md names what runs, in the order in which it runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import xtile
from xtile.backends.cache import DIRECTORY_VARIABLE
from xtile.backends.intel.opencl.setup import available_devices

_ROOT = Path(__file__).parent.parent
_PACKAGE = str(Path(xtile.__file__).parent) + "/"
_ROW = re.compile(r"^\| `([\w/]+\.py)` \| `([\w.]+)` \| \S", re.MULTILINE)

Place = tuple[str, str]
"""A file of the package and a function's qualified name."""


def _first_calls(path: Path, arrays: dict[str, object]) -> dict[Place, int]:
    """Launches a kernel on a CPU; returns the functions of the package, numbered as they ran."""
    calls: dict[Place, int] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PACKAGE):
            place = code.co_filename.removeprefix(_PACKAGE), code.co_qualname
            calls.setdefault(place, len(calls))

    device = available_devices()[-1]
    assert device.is_cpu
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        xtile.run(path, arrays, grid=(2, 2, 1), device=device.target.name)
    finally:
        sys.setprofile(before)
    return calls


def test_the_page_is_what_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    kernel = tmp_path / "gemm.ir"
    # No other test has launched this text.
    kernel.write_text((_ROOT / "examples" / "gemm.ir").read_text() + "\n; A kernel's way.\n")
    rows, columns, depth = 300, 270, 35
    c = np.full((rows, columns), np.nan, np.float32, order="F")
    a = np.full((rows, depth), 2, np.float32, order="F")
    b = np.full((depth, columns), 3, np.float32, order="F")
    calls = _first_calls(kernel, {"alpha": 1, "A": a, "B": b, "beta": 0, "C": c})
    assert (c == 6 * depth).all()
    places = [(row[1], row[2]) for row in _ROW.finditer(_page())]
    assert len(places) > 40
    assert len(places) == sum(line.startswith("| `") for line in _page().splitlines())
    unknown = [place for place in places if place not in calls]
    assert not unknown, "these do not run"
    assert [calls[place] for place in places] == sorted(calls[place] for place in places)


def _page() -> str:
    return (_ROOT / "docs" / "a-kernels-way.md").read_text()
