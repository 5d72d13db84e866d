"""What the installed commands call; loading one takes long enough to be interrupted."""

from __future__ import annotations

from xtile.interrupts import ending_at_once


def xtile() -> int:
    """Runs `xtile` with the arguments of the process; returns its exit code."""
    with ending_at_once():
        from xtile.cli import main
    return main()


def xtile_opt() -> int:
    """Runs `xtile-opt` with the arguments of the process; returns its exit code."""
    with ending_at_once():
        from xtile.opt import main
    return main()
