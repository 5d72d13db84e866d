"""Child processes that never outlive their parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
from functools import cache

_SET_PARENT_DEATH_SIGNAL = 1
"""PR_SET_PDEATHSIG of Linux's prctl(2)."""

_GRACE = 1.0
"""Seconds in which a process that is asked to end may tidy up."""

_GRACE_STEP = 0.01


def die_with(parent: int) -> None:
    """Lets this process, which was forked by `parent`, be killed as soon as that ends.

    It holds however the parent ends, and whatever this process does then, on Linux.
    """
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        # It ended before it could be watched.
        os._exit(1)


def leave_interrupts_to_parent() -> None:
    """Lets Ctrl-C, which a terminal sends to all processes of a command, end the parent only."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def run_forked(body: Callable[[], int]) -> int:
    """Runs `body` in a forked process, and ends that process if this one is interrupted.

    Args:
        body: What to run; returns an exit code.

    Returns:
        The process's exit code; if a signal ended it, minus that signal's number.
    """
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            die_with(parent)
            leave_interrupts_to_parent()
            code = body()
        finally:
            # The parent's own code must not run twice.
            os._exit(code)
    try:
        _, status = os.waitpid(child, 0)
    except BaseException:
        _end(child)
        raise
    return os.waitstatus_to_exitcode(status)


def _end(child: int) -> None:
    """Asks a child process to end, and kills it if it does not."""
    os.kill(child, signal.SIGTERM)
    deadline = time.monotonic() + _GRACE
    while time.monotonic() < deadline:
        if os.waitpid(child, os.WNOHANG) != (0, 0):
            return
        time.sleep(_GRACE_STEP)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


@cache
def skip_exit_handlers() -> None:
    """Lets this process end without what libraries do then.

    OpenCL's driver for CPUs waits for its kernels then, which is forever for one that never ends.
    Python's own exit handlers have run before.
    """
    library = ctypes.CDLL(None)
    # glibc's on_exit gives the exit code to what it calls.
    if hasattr(library, "on_exit"):
        library.on_exit(ctypes.cast(library._exit, ctypes.c_void_p), None)
