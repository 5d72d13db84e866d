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
TEXT_BLOCKS = re.findall(r"```text\n(.*?)```", README, re.DOTALL)
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
    """The lines, without the milliseconds that a table of ports has behind two other numbers."""
    lines = [re.sub(r"(\d │ +\d+ │) +\d+ │", r"\1 ms │", line) for line in text.splitlines()]
    return [line.rstrip() for line in lines]


@pytest.mark.parametrize(("command", "shown"), CONSOLE_BLOCKS)
def test_tour_prints_what_the_readme_shows(command: str, shown: str) -> None:
    assert without_trailing_blanks(run_in_shell(command)) == without_trailing_blanks(shown)


@pytest.mark.slow
@pytest.mark.parametrize("code", PYTHON_BLOCKS)
def test_python_of_the_readme_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The block asserts its result itself.
    assert "assert" in code
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})


WITHOUT_NVIDIA = """
import sys
from xtile.backends.nvidia import tools

sys.modules["nvidia"] = sys.modules["cuda"] = None
tools.find_tool = lambda name: None
"""
"""Hides the packages of the extra `nvidia`, and what a CUDA toolkit has of them."""


def printed_on_three_devices(before: str = "") -> list[str]:
    """What the block "One file on three devices" prints, without the name of the processor."""
    (code,) = [block for block in PYTHON_BLOCKS if '"cuda"' in block]
    command = [sys.executable, "-c", before + code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    return without_processor(done.stdout)


def without_processor(text: str) -> list[str]:
    """Lines without the kind and the name of the processor, which differ between computers."""
    return [re.sub(r"on cpu[\w-]* \(.*\)$", "on cpu", line) for line in text.splitlines()]


def test_three_devices_after_the_first_command() -> None:
    shown, _ = map(without_processor, TEXT_BLOCKS)
    assert printed_on_three_devices(WITHOUT_NVIDIA) == shown


def test_three_devices_with_nvidias_packages() -> None:
    first, last = map(without_processor, TEXT_BLOCKS)
    *printed, cuda = printed_on_three_devices()
    assert printed == first[:2]
    assert [cuda] == last or re.fullmatch(r"cuda: right, on sm_\d+ \(NVIDIA .*\)", cuda)


def test_readme_has_its_blocks() -> None:
    assert len(CONSOLE_BLOCKS) == 15
    assert len(PYTHON_BLOCKS) == 6
    assert len(SHELL_BLOCKS) == 2
    assert len(TEXT_BLOCKS) == 2


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    """It takes them from here, so that each must be one line."""
    assert [block.count("\n") for block in SHELL_BLOCKS] == [1, 1]
    ci = (ROOT / ".ci" / "run").read_text()
    assert [f"readme_command {number}" in ci for number in (1, 2)] == [True, True]
    assert "pytest -q -n" not in ci
