"""Whether CUDA Tile IR text is printed as NVIDIA's tests state.

FileCheck, of the package `filecheck`, compares the comments of a test file with what this package
prints, from the custom form and, read again, from the generic one. Both must also be equal.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from io import StringIO
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tests.conformance.cuda_tile_functions import make_testing_context
from tests.conformance.llvm_verdicts import pieces_of
from xtile.text.diagnostics import Diagnostics
from xtile.text.mlir import print_mlir, read_mlir
from xtile.text.source import Source

_CUT = "// -----\n"
_PASS = re.compile(r"--canonicalize|--test-")


def states_text(text: str) -> bool:
    """Whether a test file states what NVIDIA's tool prints when it only reads."""
    runs = re.findall(r"^// RUN: (.*)$", text, re.MULTILINE)
    return any(
        run.startswith("cuda-tile-opt") and "FileCheck" in run and _PASS.search(run) is None
        for run in runs
    )


def compare_text(files: Iterable[Path]) -> dict[str, bool]:
    """Prints the test files that state their text.

    Args:
        files: The test files.

    Returns:
        Whether each is printed as it states, by its name.
    """
    texts = {path: path.read_text(encoding="utf-8") for path in files}
    return {
        path.name: _is_printed_as_stated(path, text)
        for path, text in texts.items()
        if states_text(text)
    }


def _is_printed_as_stated(path: Path, text: str) -> bool:
    pieces = pieces_of(text) if "split-input-file" in text else [text]
    has_locations = "mlir-print-debuginfo" in text
    printed: list[str] = []
    for piece in pieces:
        custom = _print(_read(piece), has_locations)
        generic = _print(_read(piece), has_locations, generic=True)
        if {_print(_read(form), has_locations) for form in (custom, generic)} != {custom}:
            return False
        printed.append(custom)
    command = [sys.executable, "-m", "filecheck", str(path)]
    done = subprocess.run(
        command, input=_CUT.join(printed), capture_output=True, text=True, check=False
    )
    return done.returncode == 0


def _read(text: str) -> ModuleOp:
    diagnostics = Diagnostics()
    context = make_testing_context(is_lenient=False)
    module = read_mlir(Source("piece.mlir", text), diagnostics, context)
    if module is None:
        raise ValueError(diagnostics.render())
    return module


def _print(module: ModuleOp, has_locations: bool, *, generic: bool = False) -> str:
    stream = StringIO()
    print_mlir(module, stream, generic=generic, debuginfo=has_locations)
    return stream.getvalue()
