"""Ports a folder of kernels, each in a process of its own; what is done is not done again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xtile.command import EXIT_INPUT_WRONG, EXIT_OK, print_table, write_standard_output
from xtile.dialects.languages import LANGUAGES
from xtile.ports.options import key_of, words_of
from xtile.ports.progress import Progress
from xtile.ports.report import JSON_NAME, PAGE_NAME
from xtile.text.output import write_file

if TYPE_CHECKING:
    from rich.table import Table

_SUMMARY = "summary.json"

FAILED = "failed"
"""The verdict of a kernel whose process died, or that cannot be read."""


@dataclass(frozen=True)
class Outcome:
    """What became of one kernel of a folder.

    Attributes:
        kernel: Its path in the folder.
        language: Its own language; empty where it failed.
        verdicts: By language the verdict; none where it failed.
        exact: By language what the comparison on exact numbers says; empty without one.
        message: Why it failed.
        was_done: Whether it was there already.
    """

    kernel: str
    language: str = ""
    verdicts: dict[str, str] = field(default_factory=dict[str, str])
    exact: dict[str, str] = field(default_factory=dict[str, str])
    message: str = ""
    was_done: bool = False

    @property
    def is_right(self) -> bool:
        """Whether all ports agree."""
        return bool(self.verdicts) and set(self.verdicts.values()) == {"agrees"}


def run_batch(options: Namespace) -> int:
    """Ports every kernel of a folder; returns the exit code."""
    folder = Path(options.kernel)
    kernels = sorted(each for each in folder.rglob("*") if _is_kernel(each))
    if not kernels:
        sys.stderr.write(f"xtile: error: {folder}: there is no kernel in the folder\n")
        return EXIT_INPUT_WRONG
    outcomes = _Batch(options, folder).run(kernels)
    exact = _exact_of_routes(outcomes)
    summary = {
        "version": 1,
        "kernels": [{**vars(each), "right": each.is_right} for each in outcomes],
        "exact": exact,
    }
    write_file(str(Path(options.output) / _SUMMARY), json.dumps(summary, indent=1) + "\n")
    print_table(_table(outcomes), width=120)
    done = sum(each.was_done for each in outcomes)
    right = sum(each.is_right for each in outcomes)
    write_standard_output(f"{right} of {len(outcomes)} kernels agree; {done} were done before\n")
    for route, counts in exact.items():
        found = ", ".join(f"{count} {word}" for word, count in counts.items())
        write_standard_output(f"{route} on exact numbers: {found}\n")
    accepted = right if not options.no_check else sum(_is_translated(each) for each in outcomes)
    return EXIT_OK if accepted == len(outcomes) else EXIT_INPUT_WRONG


def _is_translated(outcome: Outcome) -> bool:
    return bool(outcome.verdicts) and "refused" not in outcome.verdicts.values()


def _is_kernel(path: Path) -> bool:
    return path.is_file() and path.suffix.removeprefix(".") in LANGUAGES


class _Batch:
    """Runs the processes."""

    def __init__(self, options: Namespace, folder: Path) -> None:
        self._options = options
        self._folder = folder
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_stopped = False

    def run(self, kernels: Sequence[Path]) -> list[Outcome]:
        """Ports all kernels; what is done when Ctrl-C comes stays."""
        os.makedirs(self._options.output, exist_ok=True)
        found: dict[str, Outcome] = {}
        with Progress() as progress, ThreadPoolExecutor(self._options.jobs) as pool:
            futures: list[Future[Outcome]] = [pool.submit(self._port, each) for each in kernels]
            try:
                for number, future in enumerate(as_completed(futures), 1):
                    outcome = future.result()
                    found[outcome.kernel] = outcome
                    progress.begin(f"{number} of {len(kernels)} kernels are done")
            except BaseException:
                self._stop(futures)
                raise
        return [found[name] for name in sorted(found)]

    def _stop(self, futures: Sequence[Future[Outcome]]) -> None:
        for future in futures:
            future.cancel()
        with self._lock:
            self._is_stopped = True
            for process in self._processes:
                process.terminate()

    def _port(self, kernel: Path) -> Outcome:
        """Ports one kernel, unless that was done before with the same options."""
        name = str(kernel.relative_to(self._folder))
        output = Path(self._options.output) / name
        own = copy(self._options)
        own.kernel = str(kernel)
        done = _read_report(name, output, key_of(own))
        if done is not None:
            return replace(done, was_done=True)
        command = [sys.executable, "-m", "xtile", "port", str(kernel), "-o", str(output)]
        code, errors = self._run([*command, *words_of(self._options)])
        made = _read_report(name, output, key_of(own))
        if made is not None:
            return made
        lines = errors.strip().splitlines() or [f"its process ended with {code}"]
        return Outcome(name, message=lines[0])

    def _run(self, command: Sequence[str]) -> tuple[int, str]:
        with self._lock:
            if self._is_stopped:
                return 130, "interrupted"
            process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            self._processes.add(process)
        _, errors = process.communicate()
        with self._lock:
            self._processes.discard(process)
        return process.returncode, errors


def _read_report(name: str, output: Path, key: str) -> Outcome | None:
    """What a report says that follows from the same things; None where there is none."""
    try:
        words: dict[str, Any] = json.loads((output / JSON_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if words.get("key") != key or not (output / PAGE_NAME).exists():
        return None
    verdicts = {port["target"]: port["verdict"] for port in words["ports"]}
    exact = {port["target"]: port["exact"] for port in words["ports"]}
    return Outcome(name, words["language"], verdicts, exact)


def _exact_of_routes(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """For each route how many ports agree, differ and are refused on exact numbers."""
    routes: dict[str, Counter[str]] = {}
    for each in outcomes:
        for target, word in each.exact.items():
            if word:
                routes.setdefault(f"{each.language} to {target}", Counter())[word] += 1
    return {route: dict(routes[route]) for route in sorted(routes)}


def _table(outcomes: Sequence[Outcome]) -> Table:
    from rich.table import Table

    languages = list(dict.fromkeys(name for each in outcomes for name in each.verdicts))
    table = Table()
    table.add_column("kernel", overflow="fold")
    for language in languages:
        table.add_column(language)
    table.add_column("why it failed", overflow="fold")
    for each in outcomes:
        cells = [each.verdicts.get(language, "") for language in languages]
        table.add_row(each.kernel, *cells, each.message)
    totals: list[str] = []
    for language in languages:
        known = [each for each in outcomes if not each.verdicts or language in each.verdicts]
        count = Counter(each.verdicts.get(language, FAILED) for each in known)
        totals.append(", ".join(f"{n} {word}" for word, n in count.most_common()))
    table.add_row("all", *totals, "")
    return table
