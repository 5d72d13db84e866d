"""docs/a-kernels-way.md names what runs, in the order in which it runs."""

from __future__ import annotations

import json
import os
import re
import subprocess
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

Position = tuple[str, str]
"""A file of the package and a function's qualified name."""


def print_first_calls(kernel: str) -> None:
    """Launches a kernel on a CPU; prints the functions of the package in the order of first calls.

    This is for a process of its own: Python 3.11 was seen to stop making progress when a profile
    function was set after a long run of other tests.
    """
    calls: dict[Position, None] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_PACKAGE):
            calls[code.co_filename.removeprefix(_PACKAGE), code.co_qualname] = None

    device = available_devices()[-1]
    assert device.is_cpu
    rows, columns, depth = 300, 270, 35
    c = np.full((rows, columns), np.nan, np.float32, order="F")
    a = np.full((rows, depth), 2, np.float32, order="F")
    b = np.full((depth, columns), 3, np.float32, order="F")
    arrays = {"alpha": 1, "A": a, "B": b, "beta": 0, "C": c}
    sys.setprofile(note)
    xtile.run(kernel, arrays, grid=(2, 2, 1), device=device.target.name)
    sys.setprofile(None)
    assert (c == 6 * depth).all()
    print(json.dumps(list(calls)))


@pytest.mark.slow
def test_the_page_is_what_runs(tmp_path: Path) -> None:
    kernel = tmp_path / "gemm.ir"
    # Nothing has launched this text.
    kernel.write_text((_ROOT / "examples" / "gemm.ir").read_text() + "\n; A kernel's way.\n")
    code = f"from tests.test_a_kernels_way import print_first_calls as p; p({str(kernel)!r})"
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=_ROOT,
        env={**os.environ, DIRECTORY_VARIABLE: str(tmp_path / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    calls = {(file, name): number for number, (file, name) in enumerate(json.loads(result.stdout))}
    positions = [(row[1], row[2]) for row in _ROW.finditer(_page())]
    assert len(positions) > 40
    assert len(positions) == sum(line.startswith("| `") for line in _page().splitlines())
    unknown = [position for position in positions if position not in calls]
    assert not unknown, "these do not run"
    assert [calls[position] for position in positions] == sorted(
        calls[position] for position in positions
    )


def _page() -> str:
    return (_ROOT / "docs" / "a-kernels-way.md").read_text()
