"""What a long command is doing, on a terminal: the progress bar of `xtile run`, a line of words."""

from __future__ import annotations

import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.status import Status

    from xtile.launch.executable import Progress

_PATIENCE = 1.0
"""Seconds before a bar appears; a short launch needs none."""


class _LateBar:
    """A progress bar that appears when a launch takes longer than `_PATIENCE`."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._bar: Bar | None = None

    def update(self, done: int, total: int) -> None:
        """Shows how many work-groups are done."""
        if self._bar is None:
            if time.monotonic() - self._started < _PATIENCE:
                return
            self._bar = _new_bar()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=done, total=total)

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.stop()


def _new_bar() -> Bar:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeColumn

    bar = Progress(
        TextColumn("work-groups"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task("")
    bar.start()
    return bar


@contextmanager
def progress_bar() -> Generator[Progress | None]:
    """A callback for a launch that shows a bar on standard error, or None off a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    bar = _LateBar()
    try:
        yield bar.update
    finally:
        bar.close()


class StatusLine:
    """Shows one line on standard error while it is entered; off a terminal nothing."""

    def __init__(self) -> None:
        self._status: Status | None = None

    def __enter__(self) -> StatusLine:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("")
            self._status.start()
        return self

    def __exit__(
        self,
        type: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()

    def begin(self, what: str) -> None:
        """Shows what is done next."""
        if self._status is not None:
            self._status.update(what)
