"""What Ctrl-C and SIGTERM do to a command: it tidies up and ends without a Python trace."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
"""Exit codes that shells give to programs that SIGINT and SIGTERM ended."""

Handler = Callable[[int, FrameType | None], object]


class Interrupts:
    """The time in which Ctrl-C raises KeyboardInterrupt and SIGTERM raises SystemExit.

    Attributes:
        has_come: Whether Ctrl-C was pressed, which libraries that were being loaded may have made
            another error of, or nothing.
    """

    def __init__(self) -> None:
        self.has_come = False
        self._replaced: dict[int, Handler | int | None] = {}

    def __enter__(self) -> None:
        self._replace(signal.SIGINT, signal.default_int_handler, self._interrupt)
        self._replace(signal.SIGTERM, signal.SIG_DFL, _terminate)

    def __exit__(self, *error: object) -> None:
        for number, handler in self._replaced.items():
            signal.signal(number, handler)

    def _replace(self, number: int, usual: Handler | int, handler: Handler) -> None:
        """Sets a handler where Python's usual one is, or none yet, and Python lets it be set."""
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(number) in (usual, _end):
            self._replaced[number] = signal.signal(number, handler)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        self.has_come = True
        raise KeyboardInterrupt


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(EXIT_TERMINATED)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    os._exit(EXIT_INTERRUPTED)


@contextmanager
def ending_at_once() -> Generator[None]:
    """The time of a command in which Ctrl-C ends the process at once, until `Interrupts` begins.

    There is nothing to tidy up while modules are loaded, and an exception might get lost in what
    loads them; nobody would catch one just before or behind what the command does.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, _end)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
