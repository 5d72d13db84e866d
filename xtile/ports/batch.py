"""Ports a folder of kernels, several at once; what is done is not done again."""

from __future__ import annotations

import json
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xtile.command import (
    EXIT_INPUT_WRONG,
    EXIT_OK,
    JSON_VERSION,
    Messages,
    print_table,
    write_standard_output,
)
from xtile.dialects.languages import LANGUAGES
from xtile.launch.progress import StatusLine
from xtile.ports.outcome import Outcome, exact_of_routes, key_of, of_kernel, read_report, table_of
from xtile.targets import OptionError
from xtile.text.files import write_file

if TYPE_CHECKING:
    from xtile.ports.distributed_jobs import DistributedJobs
    from xtile.ports.local_jobs import LocalJobs

_SUMMARY = "summary.json"


def run_batch(options: Namespace, messages: Messages) -> int:
    """Ports every kernel of a folder; returns the exit code.

    Raises:
        OptionError: A scheduler is named, and the packages that speak to it are not here.
        OSError: The scheduler does not answer, or a file cannot be written.
    """
    folder = Path(options.kernel)
    kernels = sorted(each for each in folder.rglob("*") if _is_kernel(each))
    if not kernels:
        return messages.fail(f"{folder}: there is no kernel in the folder", EXIT_INPUT_WRONG)
    outcomes = _ported(options, folder, kernels)
    exact = exact_of_routes(outcomes)
    summary: dict[str, Any] = {
        "version": JSON_VERSION,
        "kernels": [{**vars(each), "right": each.is_right} for each in outcomes],
        "exact": exact,
    }
    write_file(str(Path(options.output) / _SUMMARY), json.dumps(summary, indent=1) + "\n")
    if not messages.as_json:
        _print(outcomes, exact, is_checked=not options.no_check)
    wanted = [each.is_translated if options.no_check else each.is_right for each in outcomes]
    return messages.end(EXIT_OK if all(wanted) else EXIT_INPUT_WRONG, summary)


def _print(
    outcomes: Sequence[Outcome], exact: Mapping[str, Mapping[str, int]], *, is_checked: bool
) -> None:
    print_table(table_of(outcomes), width=120)
    done = sum(each.was_done for each in outcomes)
    good = sum(each.is_right if is_checked else each.is_translated for each in outcomes)
    what = "agree" if is_checked else "are translated and not checked"
    write_standard_output(f"{good} of {len(outcomes)} kernels {what}; {done} were done before\n")
    for route, counts in exact.items():
        found = ", ".join(f"{count} {word}" for word, count in counts.items())
        write_standard_output(f"{route} on exact numbers: {found}\n")


def _is_kernel(path: Path) -> bool:
    return path.is_file() and path.suffix.removeprefix(".") in LANGUAGES


def _ported(options: Namespace, folder: Path, kernels: Sequence[Path]) -> list[Outcome]:
    """Ports all kernels that are not done; what is done when Ctrl-C comes stays."""
    os.makedirs(options.output, exist_ok=True)
    found = {each: _done(options, folder, each) for each in kernels}
    outcomes = [each for each in found.values() if each is not None]
    waiting = [each for each, outcome in found.items() if outcome is None]
    with StatusLine() as progress:
        for outcome in _jobs(options, folder).run(waiting) if waiting else ():
            outcomes.append(outcome)
            progress.begin(f"{len(outcomes)} of {len(kernels)} kernels are done")
    return sorted(outcomes, key=lambda each: each.kernel)


def _done(options: Namespace, folder: Path, kernel: Path) -> Outcome | None:
    """What became of a kernel that was ported before with the same options."""
    name = str(kernel.relative_to(folder))
    done = read_report(name, Path(options.output) / name, key_of(of_kernel(options, kernel)))
    return None if done is None else replace(done, was_done=True)


def _jobs(options: Namespace, folder: Path) -> LocalJobs | DistributedJobs:
    """What ports the kernels: a Dask cluster where it is asked for, or helps and is here."""
    is_here = find_spec("distributed") is not None
    if options.scheduler is not None and not is_here:
        raise OptionError(
            "Dask, which speaks to schedulers, is not here; add it with: "
            "pip install 'xtile[distributed]'"
        )
    if options.scheduler is not None or (options.jobs > 1 and is_here):
        from xtile.ports.distributed_jobs import DistributedJobs

        return DistributedJobs(options, folder)
    from xtile.ports.local_jobs import LocalJobs

    return LocalJobs(options, folder)
