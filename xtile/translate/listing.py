"""The routes and the contracts as text, for a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from xtile.targets import COMPILED_VENDORS
from xtile.translate.forms import Form
from xtile.translate.search import Table, Way

_WIDTH = 79
_GAP = "  "
_GLUE = "\N{NO-BREAK SPACE}"


def list_routes(table: Table) -> str:
    """Every route with its steps, and what each step takes and gives."""
    return f"{_routes(table)}\n\n{_steps(table)}"


def _routes(table: Table) -> str:
    rows = [("FROM", "TO", "THROUGH", "FOR")]
    for route in table.routes.values():
        for each in table.all_ways(route.target, route.source):
            if each.form.language == route.source:
                end = route.target if each.level is None else f"{route.target} {each.level}"
                rows.append((each.form.name, end, _through(each.way, table), _chips(each.way)))
    return _columns(rows)


def _steps(table: Table) -> str:
    rows = [("PASS", "TAKES", "GIVES", "FOR")]
    for step in table.steps:
        gives = "the same" if step.gives is None else step.gives.name
        rows.append((step.name, _names(step.takes), gives, _chips((step,))))
    return _columns(rows)


def _through(way: Way, table: Table) -> str:
    return ", ".join(step.name for step in table.steps_of([way]))


def _names(forms: Iterable[Form]) -> str:
    return ", ".join(form.name for form in forms)


def _chips(way: Way) -> str:
    """Whose chips a way is for: those that every step of it is for."""
    given = [step.vendors for step in way if step.vendors]
    shared = [vendor for vendor in COMPILED_VENDORS if all(vendor in own for own in given)]
    is_for_any = len(shared) == len(COMPILED_VENDORS)
    return "any chip" if is_for_any else ", ".join(vendor.name for vendor in shared)


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as columns, the widest of which has its lines broken behind commas."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    widest = max(range(len(widths)), key=widths.__getitem__)
    widths[widest] = _WIDTH - sum(widths) + widths[widest] - len(_GAP) * (len(widths) - 1)
    lines: list[str] = []
    for row in rows:
        cells = [_lines(cell, width) for cell, width in zip(row, widths, strict=True)]
        for line in range(max(map(len, cells))):
            parts = [cell[line] if line < len(cell) else "" for cell in cells]
            padded = (part.ljust(width) for part, width in zip(parts, widths, strict=True))
            lines.append(_GAP.join(padded).rstrip())
    return "\n".join(lines)


def _lines(cell: str, width: int) -> list[str]:
    """A list between commas on lines of a width."""
    glued = cell.replace(", ", ",\n").replace(" ", _GLUE).replace("\n", " ")
    lines = wrap(glued, width, break_on_hyphens=False)
    return [line.replace(_GLUE, " ") for line in lines]
