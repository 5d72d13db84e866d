"""The arguments and results of `xtile run`, shown as a table and saved as files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from xtile.arguments.arrays import element_strides
from xtile.arguments.groups import Group
from xtile.arguments.signature import Parameter
from xtile.arguments.views import list_text
from xtile.semantics.values import Array
from xtile.text.files import write_file

if TYPE_CHECKING:
    from rich.table import Table

_SHOWN_ENTRIES = 4
"""More entries of a group are summed up in one line."""


@dataclass(frozen=True)
class Row:
    """One line of the table: an array, or a scalar."""

    name: str
    type: str
    value: Any
    is_written: bool

    def words(self) -> dict[str, Any]:
        """The line as JSON holds it; numbers are texts, as JSON has no infinities."""
        keys = ("shape", "strides", "min", "max", "mean", "nan")
        cells = {key: cell for key, cell in zip(keys, _cells(self.value), strict=True) if cell}
        return {"name": self.name, "type": self.type, "written": self.is_written, **cells}


def rows_of(
    parameters: Sequence[Parameter], values: Sequence[Any], written: frozenset[int]
) -> list[Row]:
    """The lines of the table; a group has one for each of its first entries."""
    rows: list[Row] = []
    for index, (parameter, value) in enumerate(zip(parameters, values, strict=True)):
        is_written = index in written
        text = parameter.type_text
        if not isinstance(value, Group):
            rows.append(Row(parameter.name, text, value, is_written))
            continue
        rows.append(Row(parameter.name, text, f"{len(value.entries)} entries", is_written))
        for number, entry in enumerate(value.entries[:_SHOWN_ENTRIES]):
            rows.append(Row(f"{parameter.name}[{number}]", "", entry, is_written))
        more = len(value.entries) - _SHOWN_ENTRIES
        if more > 0:
            rows.append(Row(f"{parameter.name}[...]", "", f"{more} more", is_written))
    return rows


def make_table(title: str, rows: Sequence[Row]) -> Table:
    """Returns the table as rich prints it; results have a mark in the column `out`."""
    from rich.table import Table

    table = Table(title=title, title_justify="left")
    table.add_column("name", no_wrap=True)
    table.add_column("type", overflow="fold")
    table.add_column("out")
    for heading in ("shape", "strides", "min", "max", "mean", "NaN"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        mark = "yes" if row.is_written else ""
        table.add_row(row.name, row.type, mark, *_cells(row.value))
    return table


def _cells(value: Any) -> tuple[str, ...]:
    """Shape, strides, min, max, mean and number of NaNs; a scalar stands in the column `min`."""
    if value is None:
        return ("null", "", "", "", "", "")
    if isinstance(value, np.ndarray):
        array: Array = value  # pyright: ignore[reportUnknownVariableType]
        strides = list_text(element_strides("", array))
        return (list_text(array.shape), strides, *_statistics(array))
    if isinstance(value, str):
        return (value, "", "", "", "", "")
    return ("", "", str(value), "", "", "")


def _statistics(array: Array) -> tuple[str, str, str, str]:
    """Min, max, mean and number of NaNs; of complex numbers the magnitudes."""
    if array.size == 0:
        return ("", "", "", "0")
    wide = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
    numbers = wide[~np.isnan(wide)]
    nan_count = str(wide.size - numbers.size)
    if numbers.size == 0:
        return ("", "", "", nan_count)
    with np.errstate(all="ignore"):
        least, largest, mean = numbers.min(), numbers.max(), numbers.mean()
    return (f"{least:.4g}", f"{largest:.4g}", f"{mean:.4g}", nan_count)


def save_result(path: str, value: Any) -> None:
    """Writes an array as `.npy`, or the entries of a group as `.npz`.

    Null pointers are left out of an archive; entry i is named `entry_i`.

    Raises:
        OSError: The file cannot be written; an earlier file at `path` stays as it was.
    """
    content = BytesIO()
    if isinstance(value, Group):
        entries: dict[str, Any] = {
            f"entry_{index}": entry
            for index, entry in enumerate(value.entries)
            if entry is not None
        }
        np.savez(content, allow_pickle=False, **entries)
    else:
        np.save(content, value, allow_pickle=False)
    write_file(path, content.getvalue())
