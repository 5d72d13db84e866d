"""The table in `docs/triton.md` of what is done with each operation, which comes from the code."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

from tests.semantics.triton.test_every_operation import (
    DECLARATIONS,
    OF_LAYOUTS_TERMINATORS,
    TERMINATORS,
)
from xtile.dialects.triton.amdg.dialect import OPERATIONS as OF_AMDG
from xtile.dialects.triton.operation import TritonOperation
from xtile.dialects.triton.tt.dialect import OPERATIONS as OF_TT
from xtile.dialects.triton.ttg.dialect import OPERATIONS as OF_TTG
from xtile.dialects.triton.versions import NEWEST
from xtile.semantics.triton.table import HANDLERS
from xtile.translate.triton_to_core import RULES

_PAGE = Path(__file__).parents[3] / "docs/triton.md"

_PARTS = {*TERMINATORS, *OF_LAYOUTS_TERMINATORS, *DECLARATIONS}
"""What belongs to the operation around it, or is what is launched."""


def table() -> str:
    """The table: operations of the same releases with which the same is done share a row."""
    rows: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
    for kind in (*OF_TT, *OF_TTG, *OF_AMDG):
        assert issubclass(kind, TritonOperation)
        if kind.name in _PARTS:
            continue
        until = kind.UNTIL or NEWEST
        releases = f"{kind.SINCE} to {until}" if until > kind.SINCE else str(until)
        runs = kind.name in HANDLERS
        done = ("yes" if runs else "no", "yes" if RULES.get(kind.name) else "no")
        rows[(releases, *done)].append(kind.name)
    lines = ["| releases | run | raised | operations |", "|---|---|---|---|"]
    for (releases, runs, raised), names in sorted(rows.items()):
        shown = ", ".join(f"`{name}`" for name in sorted(names))
        lines.append(f"| {releases} | {runs} | {raised} | {shown} |")
    return "\n".join(lines) + "\n"


def test_the_page_has_the_table() -> None:
    begin, end = "<!-- begin of the operations -->\n\n", "\n<!-- end of the operations -->"
    page = _PAGE.read_text()
    assert page.split(begin)[1].split(end)[0] == table()
