"""Finding tools, and running them in processes that may die or hang without harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from xtile.backends.build_error import BuildError
from xtile.backends.tools import find_command, run_limited, signal_name

SECONDS = 60.0


def run_python(code: str, seconds: float = SECONDS) -> str:
    return run_limited([sys.executable, "-c", code], os.environ, seconds)


def failure_of(code: str, seconds: float = SECONDS) -> BuildError:
    with pytest.raises(BuildError) as raised:
        run_python(code, seconds)
    return raised.value


def test_what_it_said() -> None:
    said = run_python("import sys; print('out', flush=True); print('err', file=sys.stderr)")
    assert said == "out\nerr"


def test_its_environment() -> None:
    code = "import os; print(os.environ['XTILE_TEST'])"
    assert run_limited([sys.executable, "-c", code], {"XTILE_TEST": "5"}, SECONDS) == "5"


def test_a_code() -> None:
    failure = failure_of("import sys; sys.exit('no')")
    assert (failure.cause, failure.log) == ("it ended the process with code 1", "no")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGABRT", "SIGKILL"])
def test_a_signal(name: str) -> None:
    failure = failure_of(f"import os, signal; os.kill(os.getpid(), signal.{name})")
    assert failure.cause == f"it died of {name}"
    assert failure.seconds is None


def test_a_signal_without_a_name() -> None:
    assert signal_name(signal.SIGRTMIN + 1) == f"signal {signal.SIGRTMIN + 1}"


def test_no_such_program(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        run_limited([str(tmp_path / "nothing")], os.environ, SECONDS)


STARTS_ANOTHER = """
import subprocess, sys, time
from pathlib import Path
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
Path({path!r}).write_text(str(child.pid))
print("begun", flush=True)
time.sleep(600)
"""


def test_what_takes_too_long_is_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    start = time.monotonic()
    failure = failure_of(STARTS_ANOTHER.format(path=str(path)), 3.0)
    # The process that it started holds the output open, so waiting for it would take 600 s.
    assert time.monotonic() - start < SECONDS
    assert (failure.cause, failure.log) == ("it was not done after 3 s", "begun")
    assert failure.seconds == 3.0
    assert not is_running(int(path.read_text()))


OF_A_PARENT = """
import os, sys
from xtile.backends.tools import run_limited
run_limited([sys.executable, "-c", {code!r}], os.environ, 600.0)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_its_parent_and_so_does_all_that_it_started(
    tmp_path: Path, number: int
) -> None:
    path = tmp_path / "pid"
    code = OF_A_PARENT.format(code=STARTS_ANOTHER.format(path=str(path)))
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.DEVNULL) as parent:
        deadline = time.monotonic() + SECONDS
        while not (path.exists() and path.read_text()) and time.monotonic() < deadline:
            time.sleep(0.05)
        parent.send_signal(number)
        parent.wait(SECONDS)
    assert not is_running(int(path.read_text()))


def test_what_it_leaves_behind_is_stopped(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    code = (
        STARTS_ANOTHER.format(path=str(path))
        .replace("time.sleep(600)\n", "os._exit(0)\n")
        .replace("import subprocess", "import os, subprocess")
        .replace("])", "], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)", 1)
    )
    assert run_python(code) == "begun"
    assert not is_running(int(path.read_text()))


def is_running(process: int) -> bool:
    """Whether there is such a process that is no zombie, after some time in which it may end."""
    state = Path(f"/proc/{process}/stat")
    for _ in range(100):
        try:
            if state.read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except FileNotFoundError:
            return False
        time.sleep(0.05)
    return True


# --- finding commands: this Python's own before those of the PATH ---


def _command(directory: Path, name: str) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def positions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """The directories of this Python and of the PATH."""
    own, path = tmp_path / "own", tmp_path / "path"
    monkeypatch.setattr(sys, "executable", str(own / "python"))
    monkeypatch.setenv("PATH", str(path))
    return own, path


def test_this_pythons_command_comes_first(positions: tuple[Path, Path]) -> None:
    first, _ = (str(_command(position, "tool")) for position in positions)
    assert find_command("tool") == first


def test_a_command_of_the_path(positions: tuple[Path, Path]) -> None:
    assert find_command("tool") is None
    found = _command(positions[1], "tool")
    assert find_command("tool") == str(found)
    assert find_command(str(found)) == str(found)


def test_what_is_no_program_is_no_command(positions: tuple[Path, Path]) -> None:
    _command(positions[0], "tool").chmod(0o644)
    assert find_command("tool") is None


def test_a_python_without_an_executable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The current directory is no position for commands."""
    monkeypatch.setattr(sys, "executable", "")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.chdir(tmp_path)
    _command(tmp_path, "tool")
    assert find_command("tool") is None
