"""A limit of time for what runs in Python itself, such as the reference device."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from xtile.arguments.errors import too_long


class _TimeIsUp(BaseException):
    """Raised within what takes too long; no `except Exception` there must catch it."""


@contextmanager
def time_limit(seconds: float | None, name: str) -> Generator[None]:
    """Ends what runs in it once it has taken too long.

    It ends between two steps of Python's, so a single call of numpy's runs to its end before.

    Args:
        seconds: How long it may take; None for no limit.
        name: The function that runs, for the error.

    Raises:
        DeviceError: It took longer.
    """
    if seconds is None:
        yield
        return
    alarm = _Alarm(threading.get_ident())
    timer = threading.Timer(seconds, alarm.ring)
    timer.daemon = True
    try:
        try:
            # Which returns after the timer has begun, and a short one may have rung.
            timer.start()
            yield
        finally:
            timer.cancel()
            alarm.silence()
    except _TimeIsUp:
        raise too_long(name, seconds) from None


class _Alarm:
    """Raises `_TimeIsUp` in a thread."""

    def __init__(self, thread: int) -> None:
        self._thread = thread
        self._lock = threading.Lock()
        self._is_silent = False
        self._has_rung = False

    def ring(self) -> None:
        """Raises it as soon as the thread executes a step, unless the alarm is silent."""
        with self._lock:
            if not self._is_silent:
                self._has_rung = True
                thread, error = ctypes.c_ulong(self._thread), ctypes.py_object(_TimeIsUp)
                ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, error)

    def silence(self) -> None:
        """Keeps it from being raised, also where the thread has not seen it yet."""
        with self._lock:
            self._is_silent = True
        if self._has_rung:
            # To take it back with NULL would make Python 3.11 look for it for ever, and hang in the
            # next function that is traced or profiled. It is there after a turn of a loop.
            with suppress(_TimeIsUp):
                for _ in range(_TURNS):
                    pass


_TURNS = 1000
"""More turns of a loop than Python needs to raise what another thread asked for."""
