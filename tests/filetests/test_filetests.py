"""Each file here is an input with commands and with what a reader should notice in their output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.filetests.run_lines import RunLine, run_lines
from xtile.dialects.languages import LANGUAGES
from xtile.dialects.registry import make_context
from xtile.opt_arguments import translations
from xtile.text.diagnostics import Diagnostics
from xtile.text.files import source_from_path
from xtile.translate.forms import forms_of
from xtile.translate.route import ROUTES

_HERE = Path(__file__).parent
_FILES = sorted(path for path in _HERE.rglob("*") if path.suffix in (".ir", ".mlir"))
_LINES = [line for file in _FILES for line in run_lines(file)]
_PREFIX = re.compile(r"^(?://|;) ([A-Z0-9]+)(?:-[A-Z0-9-]+)?:", re.MULTILINE)


def _name(file: Path) -> str:
    return str(file.relative_to(_HERE))


def _value(line: RunLine, *names: str) -> str | None:
    """The value of an option of xtile-opt; None if it is not given."""
    positions = [position for position, option in enumerate(line.options) if option in names]
    return line.options[positions[0] + 1] if positions else None


@pytest.mark.parametrize("file", _FILES, ids=_name)
def test_file(file: Path) -> None:
    for line in run_lines(file):
        line.run()


@pytest.mark.parametrize("file", _FILES, ids=_name)
def test_every_check_is_read(file: Path) -> None:
    read = {"RUN"}
    for line in run_lines(file):
        prefixes = [check for check in line.checks if check.startswith("--check-prefix=")]
        read |= {prefix.split("=")[1] for prefix in prefixes} or {"CHECK"}
    assert set(_PREFIX.findall(file.read_text())) == read


def test_a_difference_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "wrong.mlir"
    file.write_text("// RUN: xtile-opt %s | filecheck %s\nmodule @m {\n}\n// CHECK: module @n\n")
    (line,) = run_lines(file)
    with pytest.raises(AssertionError, match=r"wrong\.mlir:4: .*error:.*"):
        line.run()


def test_an_error_that_nobody_reads_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "wrong.ir"
    file.write_text("; RUN: xtile-opt %s | filecheck %s\nfunc @f(%a: f31) {\n}\n; CHECK: f\n")
    (line,) = run_lines(file)
    with pytest.raises(AssertionError, match=r"wrong\.ir:2"):
        line.run()


def test_every_translation_has_a_file() -> None:
    shown = {_value(line, "--translate") for line in _LINES}
    assert set(translations()) <= shown


@pytest.mark.slow
def test_every_route_has_a_file() -> None:
    """What `xtile-opt --routes` lists: from each form of a kernel to each language."""
    routes = {
        (each.form.name, route.target)
        for route in ROUTES.routes.values()
        for each in ROUTES.all_ways(route.target, route.source)
        if each.form.language == route.source
    }
    shown = {
        (form, translations()[translation].content)
        for line in _LINES
        if (translation := _value(line, "--translate")) is not None
        for form in _forms(line.file)
    }
    assert routes <= shown


def _forms(file: Path) -> set[str]:
    """The names of the forms that the kernels of a file are written in."""
    source, diagnostics = source_from_path(file), Diagnostics()
    language = LANGUAGES[file.suffix.removeprefix(".")]
    module = language.read(source, diagnostics, make_context(), None)
    return set() if module is None else {found.form.name for found in forms_of(module)}


def test_every_pass_has_a_file() -> None:
    shown = {(_value(line, "-p") or "").split("{")[0] for line in _LINES}
    assert {step.name for step in ROUTES.steps} <= shown


def test_refusals_are_refused() -> None:
    refused = [line for line in _LINES if line.file.parent.name == "refusals"]
    assert refused
    assert all(line.reads_errors for line in refused)


def test_a_shell_runs_the_lines_as_they_are_written() -> None:
    file = _HERE / "passes" / "tensorlang-to-core.ir"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    commands = re.findall(r"RUN: (.*)", file.read_text())
    assert len(commands) == 2
    script = "\n".join(command.replace("%s", str(file)) for command in commands)
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-e", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
