"""Running what builds programs in a process of its own, which may die or hang without harm."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from xtile.backends.build_error import BuildError


def run_limited(command: Sequence[str], environment: Mapping[str, str], seconds: float) -> str:
    """Runs a command until it is done; returns what it said.

    Args:
        command: The program and its arguments.
        environment: The process's environment variables.
        seconds: When it is stopped, and with it all that it has started.

    Raises:
        BuildError: It died, took too long, or ended with another code than 0.
        OSError: There is no such program, or it cannot be run.
    """
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(environment),
        # A group of its own, so that what it starts is stopped together with it.
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            _stop(process)
            output, _ = process.communicate()
            raise BuildError(
                f"it was not done after {seconds:g} s", _text(output), seconds
            ) from None
        except BaseException:
            _stop(process)
            raise
    said = _text(output)
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


def _stop(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
    else:
        process.kill()


def _text(output: bytes) -> str:
    return output.decode(errors="replace").strip()
