"""What became of the kernels of a folder: verdicts, as a table and as numbers.

Each kernel is ported by a process of its own, whose report says by a key what it follows from.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xtile.backends.cache import make_key
from xtile.ports.report import JSON_NAME, PAGE_NAME

if TYPE_CHECKING:
    from rich.table import Table

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

    @property
    def is_translated(self) -> bool:
        """Whether every language can express the kernel."""
        return bool(self.verdicts) and "refused" not in self.verdicts.values()


def key_of(options: Namespace) -> str:
    """What tells whether a port of a kernel is there already: all that it follows from."""
    path = Path(options.kernel)
    content = path.read_bytes() if path.is_file() else str(path).encode()
    return make_key("port", content=content, options=" ".join(words_of(options)))


def of_kernel(options: Namespace, kernel: Path) -> Namespace:
    """The options of a folder for one of its kernels."""
    return Namespace(**{**vars(options), "kernel": str(kernel)})


def words_of(options: Namespace) -> list[str]:
    """The options of a port as words of a command line."""
    words = [word for name in options.to for word in ("--to", name)]
    words += [word for chip in options.chip for word in ("--chip", chip)]
    words += [word for name, value in options.arg for word in ("--arg", f"{name}={value}")]
    words += [word for name, value in options.size for word in ("--size", f"{name}={value}")]
    words += [word for name in options.device or () for word in ("--device", name)]
    for option, value in (("--entry", options.entry), ("--inputs", options.inputs)):
        words += [option, value] if value is not None else []
    for option, value in (("--grid", options.grid), ("--block", options.block)):
        words += [option, ",".join(map(str, value))] if value is not None else []
    words += ["--seed", str(options.seed)] if options.seed is not None else []
    words += [] if options.field else ["--no-field"]
    return [*words, "--no-check"] if options.no_check else words


def failed(name: str, code: int, errors: str) -> Outcome:
    """What became of a kernel whose process wrote no report."""
    lines = errors.strip().splitlines() or [f"its process ended with {code}"]
    return Outcome(name, message=lines[0])


def _words_in(output: Path) -> dict[str, Any] | None:
    """The report in a folder, if it is whole."""
    try:
        words: dict[str, Any] = json.loads((output / JSON_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return words if (output / PAGE_NAME).exists() else None


def read_report(name: str, output: Path, key: str) -> Outcome | None:
    """What a report says that follows from the same things; None where there is none."""
    words = _words_in(output)
    if words is None or words.get("key") != key:
        return None
    verdicts = {port["target"]: port["verdict"] for port in words["ports"]}
    exact = {port["target"]: port["exact"] for port in words["ports"]}
    return Outcome(name, words["language"], verdicts, exact)


def exact_of_routes(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """For each route how many ports agree, differ and are refused on exact numbers."""
    routes: dict[str, Counter[str]] = {}
    for each in outcomes:
        for target, word in each.exact.items():
            if word:
                routes.setdefault(f"{each.language} to {target}", Counter())[word] += 1
    return {route: dict(routes[route]) for route in sorted(routes)}


def table_of(outcomes: Sequence[Outcome]) -> Table:
    """The verdicts by kernel and language, and how often each is there."""
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
