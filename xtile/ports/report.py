"""What is known of all ports of a kernel: a table, JSON, a page, and the files beside them."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xtile import __version__
from xtile.checking.results import CheckResult, Verdict
from xtile.command import html_of
from xtile.ports.port import REFUSED, UNCHECKED, Port

if TYPE_CHECKING:
    from rich.table import Table

JSON_NAME = "report.json"
PAGE_NAME = "report.html"

VERSION = 1
"""The version of the JSON; a number that is new to a reader may come without another version."""


@dataclass(frozen=True)
class Report:
    """All ports of a kernel.

    Attributes:
        source: The path of the kernel.
        text: Its text; empty for a file of bytes.
        language: Its language.
        kernels: The names of its functions.
        ports: What became of it.
        is_checked: Whether ports were to be compared with it.
        seed: Of the inputs.
        key: What says whether it is done already.
        seconds: How long everything took.
    """

    source: str
    text: str
    language: str
    kernels: tuple[str, ...]
    ports: tuple[Port, ...]
    is_checked: bool
    seed: int
    key: str
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether every port is there and agrees, or was not to be checked."""
        allowed = {Verdict.AGREES.value} if self.is_checked else {UNCHECKED}
        return all(port.verdict in allowed for port in self.ports)

    def files_of(self, port: Port) -> dict[str, str | bytes]:
        """The files of a port by their names."""
        stem = Path(self.source).stem
        return {f"{stem}.{port.target.name}{end}": data for end, data in port.files.items()}

    def words(self) -> dict[str, Any]:
        """The report as JSON holds it (docs/porting.md, "report.json")."""
        return {
            "version": VERSION,
            "xtile": __version__,
            "source": self.source,
            "language": self.language,
            "kernels": list(self.kernels),
            "text": self.text,
            "checked": self.is_checked,
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
            "right": self.is_right,
            "key": self.key,
            "ports": [{**port.words(), "files": list(self.files_of(port))} for port in self.ports],
        }

    def _repr_html_(self) -> str:
        """The ports in a notebook."""
        return html_of(self.table(), width=140)

    def table(self) -> Table:
        """The ports as rich prints them."""
        from rich.table import Table

        unchecked = "" if self.is_checked else ", not checked because of --no-check"
        title = f"{self.source}: {', '.join(f'@{name}' for name in self.kernels)}{unchecked}"
        table = Table(title=title, title_justify="left")
        for heading in ("port", "chip", "files"):
            table.add_column(heading, overflow="fold")
        for heading in ("structured", "products"):
            table.add_column(heading, justify="right")
        table.add_column("ms", justify="right", min_width=5)
        table.add_column("largest error", overflow="fold")
        table.add_column("exact", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        for port in self.ports:
            measures = port.measures
            accesses = ""
            if measures is not None:
                accesses = f"{measures.structured} of {measures.structured + measures.scattered}"
            table.add_row(
                port.target.name,
                port.chip or "default",
                ", ".join(port.files) or "none",
                accesses,
                "" if measures is None else str(measures.products),
                f"{1000 * port.seconds:.0f}" if port.forms else "",
                outcome(port, self.source),
                port.exact,
                port.verdict,
            )
        return table

    def write(self, directory: str) -> None:
        """Writes all files, the reports last; nothing half-written stays.

        Raises:
            OSError: A file cannot be written.
        """
        from xtile.ports.page import page_of

        os.makedirs(directory, exist_ok=True)
        contents: dict[str, str | bytes] = {}
        for port in self.ports:
            contents |= self.files_of(port)
        contents[PAGE_NAME] = page_of(self)
        contents[JSON_NAME] = json.dumps(self.words()) + "\n"
        waiting = tempfile.mkdtemp(prefix=".xtile-port-", dir=directory)
        try:
            for name, content in contents.items():
                data = content.encode() if isinstance(content, str) else content
                (Path(waiting) / name).write_bytes(data)
            for name in contents:
                os.replace(os.path.join(waiting, name), os.path.join(directory, name))
        finally:
            shutil.rmtree(waiting, ignore_errors=True)


def outcome(port: Port, source: str) -> str:
    """The largest error of a port and its location, or why there is none."""
    if port.verdict == REFUSED:
        first = port.errors[0]
        where = f"{source}:{first.line}: " if first.line else ""
        more = f" (and {len(port.errors) - 1} more)" if len(port.errors) > 1 else ""
        return f"{where}{first.text}{more}"
    if port.unchecked:
        return port.unchecked[0]
    worst = _worst(port.checks)
    return "" if worst is None else worst


def _worst(checks: Sequence[CheckResult]) -> str | None:
    wrong = [check for check in checks if not check.agrees] or list(checks)
    for check in wrong:
        if check.worst is not None:
            return check.worst.error_text()
    return None
