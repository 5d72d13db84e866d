"""Runs what the README and the pages about the commands show, and compares what it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
RUNNING = (ROOT / "docs" / "running.md").read_text()
COMMANDS = [(ROOT / "docs" / f"{name}.md").read_text() for name in ("translating", "compiling")]
PAGES = "\n".join((README, RUNNING, *COMMANDS))

CONSOLE_BLOCKS = dict(re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGES, re.DOTALL))
PYTHON_BLOCKS = re.findall(r"```python\n(.*?)```", PAGES, re.DOTALL)
TEXT_BLOCKS = re.findall(r"```text\n(.*?)```", RUNNING, re.DOTALL)
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


@pytest.mark.parametrize("command", CONSOLE_BLOCKS)
def test_commands_print_what_the_pages_show(command: str) -> None:
    shown = CONSOLE_BLOCKS[command]
    assert without_trailing_blanks(run_in_shell(command)) == without_trailing_blanks(shown)


@pytest.mark.slow
@pytest.mark.parametrize("code", PYTHON_BLOCKS)
def test_python_of_the_pages_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
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
    """What the block "One kernel on three devices" prints, without the name of the processor."""
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


def test_pages_have_their_blocks() -> None:
    assert len(CONSOLE_BLOCKS) == 16
    assert len(PYTHON_BLOCKS) == 6
    assert len(TEXT_BLOCKS) == 2


def test_a_command_prints_the_same_on_each_page() -> None:
    blocks = re.findall(r"```console\n\$ (.*?)\n(.*?)```", PAGES, re.DOTALL)
    assert all(CONSOLE_BLOCKS[command] == shown for command, shown in blocks)


def test_readme_is_short_and_its_links_lead_somewhere() -> None:
    assert README.count("\n") < 200
    links = [link for link in re.findall(r"\]\(([^)#]+)[^)]*\)", README) if "://" not in link]
    assert len(links) > 30
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_ci_runs_the_two_commands_of_the_readme() -> None:
    """It takes them from here, so that each must be one line."""
    assert [block.count("\n") for block in SHELL_BLOCKS] == [1, 1]
    ci = (ROOT / ".ci" / "run").read_text()
    assert [f"readme_command {number}" in ci for number in (1, 2)] == [True, True]
    assert "pytest -q -n" not in ci
