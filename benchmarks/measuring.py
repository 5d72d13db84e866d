"""What the benchmarks share: repeated measurements, and tables that say how they were made."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import distributions, version

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Cost:
    """Seconds of wall clock and of CPU time; a median of several runs."""

    wall: float
    cpu: float


def cost_of_command(command: Sequence[str], repeats: int) -> Cost:
    """The cost of a process from its start to its end."""
    # Without compiled modules, which users have, a command takes longer to start.
    environment = {n: v for n, v in os.environ.items() if n != "PYTHONDONTWRITEBYTECODE"}
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        walls.append(time.perf_counter() - started)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return Cost(statistics.median(walls), statistics.median(cpus))


def cost_of_call(function: Callable[[], object], repeats: int) -> Cost:
    """The cost of a call in this process, after one that is not counted."""
    function()
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(repeats):
        cpu, wall = time.process_time(), time.perf_counter()
        function()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return Cost(statistics.median(walls), statistics.median(cpus))


def conditions(*packages: str) -> str:
    """The date, the machine and the versions, in one line."""
    # A machine that only runs machine code has not all of them.
    installed = {each.name for each in distributions()}
    packages = tuple(name for name in ("xdsl", "numpy", *packages) if name in installed)
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    cores = len(os.sched_getaffinity(0))
    return (
        f"{date.today().isoformat()}, {cores} cores {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}"
    )


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Prints a table whose first column is text and whose others are figures."""
    table = Table(title=title, title_justify="left")
    for index, heading in enumerate(headings):
        table.add_column(heading, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def seconds(value: float) -> str:
    """A time with three digits that matter."""
    return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"
