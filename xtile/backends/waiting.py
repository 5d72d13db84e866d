"""Waiting for a device so that Ctrl-C and a limit of time end the waiting.

A driver's own function for it blocks: no signal reaches Python meanwhile. Asking again and again
costs half of the speed where the device is the CPU, because the thread that waits in the driver is
one of those that compute. So a thread of its own waits in the driver for all but short launches.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable

from xtile.arguments.errors import DeviceError
from xtile.processes import skip_exit_handlers

_SHORT = 0.5e-3
"""Seconds of a launch that is over before another thread would take over."""


class TimeLimitError(Exception):
    """What was waited for was not done in time.

    Attributes:
        seconds: The time that it had.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


def check_is_free(device: object) -> None:
    """Checks that a device is done with the launches for which the waiting ended early.

    Raises:
        DeviceError: It still runs one of them, and would begin no other one before its end.
    """
    if not _given_up:
        # Every launch asks.
        return
    given_up = _given_up.get(str(device), [])
    given_up[:] = [(name, waiting) for name, waiting in given_up if not waiting.is_over.is_set()]
    if given_up:
        name, _ = given_up[0]
        raise DeviceError(
            f"the device {device} still runs an earlier launch of @{name}, which was not waited "
            "for; a new process can launch kernels"
        )


def wait_until_done(
    is_done: Callable[[], bool],
    wait: Callable[[], object],
    seconds: float | None = None,
    *,
    device: object,
    name: str,
) -> None:
    """Waits for what a device does, which goes on where the waiting ends early.

    Args:
        is_done: Asks the driver, without waiting.
        wait: Waits in the driver. Whatever it refers to is kept until then: a device that is not
            done must not lose the memory that it works on.
        seconds: How long to wait; None: as long as it takes.
        device: What does it.
        name: The function that it executes.

    Raises:
        TimeLimitError: It was not done in `seconds`.
        Exception: What `wait` raised.
    """
    if seconds is None and threading.current_thread() is not threading.main_thread():
        # Python's signals reach the main thread only.
        wait()
        return
    waiting = _Waiting(wait)
    try:
        if _is_short(is_done):
            wait()
            return
        _start(waiting)
        is_over = waiting.is_over.wait(seconds)
    except KeyboardInterrupt:
        if not waiting.is_started:
            _start(waiting)
        _give_up(waiting, device, name)
        raise
    if not is_over:
        assert seconds is not None
        _give_up(waiting, device, name)
        raise TimeLimitError(seconds)
    if waiting.failure is not None:
        raise waiting.failure


def _is_short(is_done: Callable[[], bool]) -> bool:
    """Asks for a short time; returns whether it was done then."""
    end = time.perf_counter() + _SHORT
    while not is_done():
        if time.perf_counter() > end:
            return False
        # The processor may be wanted for the launch.
        time.sleep(0)
    return True


class _Waiting:
    """One call of a function that waits, made by another thread."""

    def __init__(self, wait: Callable[[], object]) -> None:
        self._wait = wait
        self.is_started = False
        self.is_over = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        """Makes the call."""
        try:
            self._wait()
        except BaseException as error:
            self.failure = error
        finally:
            self.is_over.set()


_given_up: dict[str, list[tuple[str, _Waiting]]] = {}
"""By the device, what it executes although nobody waits for it, with the name of the function."""


def _give_up(waiting: _Waiting, device: object, name: str) -> None:
    _given_up.setdefault(str(device), []).append((name, waiting))
    skip_exit_handlers()


_idle: list[queue.SimpleQueue[_Waiting]] = []
"""What the threads that have nothing to wait for take their work from."""

if hasattr(os, "register_at_fork"):
    # A forked process has none of these threads.
    os.register_at_fork(after_in_child=_idle.clear)


def _start(waiting: _Waiting) -> None:
    """Hands a call to a thread: an idle one, because starting one may take milliseconds."""
    waiting.is_started = True
    try:
        work = _idle.pop()
    except IndexError:
        work = queue.SimpleQueue[_Waiting]()
        # What never ends must not keep the process from ending.
        threading.Thread(target=_serve, args=(work,), daemon=True).start()
    work.put(waiting)


def _serve(work: queue.SimpleQueue[_Waiting]) -> None:
    while True:
        work.get().run()
        _idle.append(work)
