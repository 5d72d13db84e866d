"""What the commands share."""

import subprocess
import sys
from pathlib import Path

import pytest

from xtile.arguments.errors import ArgumentError, DeviceError, UnknownDeviceError
from xtile.backends.build_error import BuildError
from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_TOOL_FAILED,
    EXIT_USAGE_WRONG,
    Messages,
    run_command,
)
from xtile.dialects.reading import UnknownLanguageError
from xtile.targets import OptionError


def test_the_recursion_limit_is_raised_for_the_command_only() -> None:
    before = sys.getrecursionlimit()
    within: list[int] = []

    def body() -> int:
        within.append(sys.getrecursionlimit())
        return 0

    assert run_command("xtile", body) == 0
    assert within[0] >= 10_000
    assert sys.getrecursionlimit() == before


def test_a_defect_is_one_line_and_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    def body() -> int:
        raise KeyError("lost")

    assert run_command("xtile", body) == EXIT_TOOL_FAILED
    error = capsys.readouterr().err
    assert "xtile: internal error: KeyError: 'lost'" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("target", ["mlir", "tileir-bytecode"])
def test_a_full_disk_is_one_line(tmp_path: Path, target: str) -> None:
    kernel = tmp_path / "kernel.mlir"
    kernel.write_text("cuda_tile.module @kernels {\n}\n")
    command = [sys.executable, "-m", "xtile.opt", str(kernel), "-t", target]
    with open("/dev/full", "wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    message = "xtile-opt: error: cannot write standard output: No space left on device\n"
    assert (done.returncode, done.stderr) == (EXIT_TOOL_FAILED, message)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OptionError("a"), EXIT_USAGE_WRONG),
        (UnknownLanguageError("a"), EXIT_USAGE_WRONG),
        (UnknownDeviceError("a"), EXIT_USAGE_WRONG),
        (DeviceError("a"), EXIT_TOOL_FAILED),
        (BuildError("a", "the log"), EXIT_TOOL_FAILED),
        (ArgumentError("a"), EXIT_INPUT_WRONG),
        (OSError("a"), EXIT_INPUT_WRONG),
    ],
)
def test_errors_have_one_exit_code_in_all_commands(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    def body() -> int:
        raise error

    assert Messages(as_json=False).answer(body) == code
    assert capsys.readouterr().err == "xtile: error: a\n"


@pytest.mark.parametrize("error", [ValueError("a"), BrokenPipeError()])
def test_defects_and_a_reader_that_went_away_are_no_answers(error: Exception) -> None:
    def body() -> int:
        raise error

    with pytest.raises(type(error)):
        Messages(as_json=False).answer(body)
