"""Tools that build programs: where they are, and running them in processes that may die or hang.

What happens to such a process does no harm to this one.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from xtile.backends.build_error import BuildError

_GUARDED = """
exec 3<&0 </dev/null
( ( read _ <&3; kill -9 0 ) >/dev/null 2>&1 & )
exec "$@" 3<&-
"""
"""Runs a command in a group with a process that kills the group when its input ends.

The input is a pipe whose other end only the starting process has, and a system closes that however
the process ends. A second fork keeps the guard from being a child of the command's.
"""


def find_command(name: str) -> str | None:
    """The path of a command: this Python's own, or else the first one on the PATH.

    What pip installs into a virtual environment lies beside its Python, and is found whether or not
    the environment is activated.
    """
    # There is no executable where Python is part of another program.
    own = [str(Path(sys.executable).parent)] if sys.executable else []
    return shutil.which(name, path=os.pathsep.join([*own, os.environ.get("PATH", os.defpath)]))


def run_limited(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> str:
    """Runs a command until it is done; returns what it said.

    It is stopped, and with it all that it has started, also when this process ends.

    Args:
        command: The program and its arguments.
        environment: The process's environment variables.
        seconds: When it is stopped.

    Raises:
        BuildError: It died, took too long, or ended with another code than 0.
        OSError: There is no such program, or it cannot be run.
    """
    if shutil.which(command[0]) is None:
        raise FileNotFoundError(f"there is no program {command[0]}")
    end, held_end = os.pipe()
    try:
        process = subprocess.Popen(
            _guarded(command),
            stdin=end,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            # A group of its own, so that what it starts is stopped together with it.
            start_new_session=True,
        )
    except BaseException:
        os.close(held_end)
        raise
    finally:
        os.close(end)
    with process:
        try:
            said = _wait(process, seconds)
        finally:
            _stop(process)
            os.close(held_end)
    if process.returncode < 0:
        raise BuildError(f"it died of {signal_name(-process.returncode)}", said)
    if process.returncode > 0:
        raise BuildError(f"it ended the process with code {process.returncode}", said)
    return said


def signal_name(number: int) -> str:
    """The name of a signal, such as SIGSEGV."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _guarded(command: Sequence[str]) -> Sequence[str]:
    if not hasattr(os, "killpg"):
        return command
    return ["/bin/sh", "-c", _GUARDED, "sh", *command]


def _wait(process: subprocess.Popen[bytes], seconds: float) -> str:
    """Waits until a process is done; returns what it said.

    Raises:
        BuildError: It took too long, and was stopped.
    """
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _stop(process)
        output, _ = process.communicate()
        raise BuildError(f"it was not done after {seconds:g} s", _text(output), seconds) from None
    return _text(output)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kills a process's group: it, if it still runs, its guard, and what it has started."""
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()


def _text(output: bytes) -> str:
    return output.decode(errors="replace").strip()
