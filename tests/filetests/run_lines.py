"""Runs what the `RUN:` lines of a file say, in this process: xtile-opt, and filecheck behind it."""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

from xtile.opt import main

_RUN = re.compile(r"^(?://|;) RUN: (.*)$", re.MULTILINE)

_COMMAND = re.compile(r"xtile-opt (?P<options>.*?)(?P<errors> 2>&1)? \| filecheck (?P<checks>.*)")
"""The one form of a line: a shell does with it what `RunLine.run` does."""


@dataclass(frozen=True)
class RunLine:
    """A command of a file.

    Attributes:
        file: The file that the command is in.
        options: The arguments of xtile-opt.
        checks: The arguments of filecheck.
        reads_errors: Whether filecheck reads what goes to standard error, too.
    """

    file: Path
    options: tuple[str, ...]
    checks: tuple[str, ...]
    reads_errors: bool

    def run(self) -> None:
        """Does what the line says.

        Raises:
            AssertionError: The output is not what the CHECK lines say; or there are errors or
                warnings that the line does not let filecheck read.
        """
        code, output, errors = _run_opt(self.options)
        assert code == (1 if " error: " in errors else 0), errors
        assert self.reads_errors or not errors, errors
        difference = _differences(self.checks, errors + output)
        assert not difference, difference


def run_lines(file: Path) -> list[RunLine]:
    """The commands of a file.

    Raises:
        AssertionError: There is none, or one has another form.
    """
    lines = _RUN.findall(file.read_text())
    assert lines, f"{file} has no RUN line"
    return [_run_line(file, line) for line in lines]


def _run_line(file: Path, line: str) -> RunLine:
    found = _COMMAND.fullmatch(line)
    assert found is not None, f"{file}: not `xtile-opt ... [2>&1] | filecheck ...`: {line}"
    options, checks = (
        tuple(word.replace("%s", str(file)) for word in shlex.split(found[part]))
        for part in ("options", "checks")
    )
    return RunLine(file, options, checks, found["errors"] is not None)


def _run_opt(options: tuple[str, ...]) -> tuple[int, str, str]:
    """What xtile-opt comes to, and writes to standard output and standard error."""
    output, errors = StringIO(), StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        code = main(list(options))
    return code, output.getvalue(), errors.getvalue()


def _differences(checks: tuple[str, ...], text: str) -> str:
    """What filecheck says about a text; nothing if it is as the CHECK lines say."""
    options = parse_argv_options(["filecheck", *checks])
    message = StringIO()
    with redirect_stdout(message), redirect_stderr(message):
        code = Matcher(options, FInput("-", text), Parser.from_opts(options)).run()
    return message.getvalue() if code else ""
