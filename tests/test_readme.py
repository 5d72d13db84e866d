"""Runs the README's tour and compares what it prints with what the README shows."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()

CONSOLE_BLOCKS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", README, re.DOTALL)
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
SHELL_BLOCKS = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)


def run_in_shell(command: str) -> str:
    """What `command` prints, errors included, with this Python's commands on the PATH."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    completed = subprocess.run(
        command,
        shell=True,
        cwd=ROOT,
        env={**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    return completed.stdout


def without_trailing_blanks(text: str) -> list[str]:
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize(("command", "shown"), CONSOLE_BLOCKS)
def test_tour_prints_what_the_readme_shows(command: str, shown: str) -> None:
    assert without_trailing_blanks(run_in_shell(command)) == without_trailing_blanks(shown)


@pytest.mark.parametrize("code", PYTHON_BLOCKS)
def test_python_of_the_readme_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The block asserts its result itself.
    assert "assert" in code
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})


def test_readme_has_its_blocks() -> None:
    assert len(CONSOLE_BLOCKS) == 12
    assert len(PYTHON_BLOCKS) == 4
    assert len(SHELL_BLOCKS) == 2


def test_ci_calls_the_test_command_of_the_readme() -> None:
    test_command = SHELL_BLOCKS[1].strip().rpartition("&& ")[2]
    assert test_command in (ROOT / ".ci" / "run").read_text()
