"""What the installed commands call; loading one takes long enough to be interrupted."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

from xtile.garbage import without_collections
from xtile.interrupts import ending_at_once


@contextmanager
def _loading() -> Generator[None]:
    """Loads what lives to the end of the process: nobody looks for garbage in it."""
    with without_collections():
        yield
    gc.freeze()


def xtile() -> int:
    """Runs `xtile` with the arguments of the process; returns its exit code."""
    with ending_at_once():
        with _loading():
            from xtile.cli import main
        return main()


def xtile_opt() -> int:
    """Runs `xtile-opt` with the arguments of the process; returns its exit code."""
    with ending_at_once():
        with _loading():
            from xtile.opt import main
        return main()
