"""Each restriction of the language, with the wrong text beside the right one.

In `restrictions/*.txt` a row is a title after `==`, a text, and the error after `!`. In the text
`«wrong|right»` stands for the part that is wrong and what would be right in its place. The wrong
text has exactly this one error, and the right text has none.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from xtile.dialects.tensorlang.reader import read
from xtile.dialects.tensorlang.verifier import verify
from xtile.text.diagnostics import Diagnostics
from xtile.text.source import Source

_ALTERNATIVE = re.compile(r"«([^|»]*)\|([^»]*)»")


def _rows() -> list[object]:
    rows: list[object] = []
    for path in sorted(Path(__file__).with_name("restrictions").glob("*.txt")):
        for row in path.read_text(encoding="utf-8").split("== ")[1:]:
            title, _, rest = row.partition("\n")
            text, _, error = rest.rpartition("! ")
            rows.append(pytest.param(text, error.strip(), id=f"{path.stem}: {title}"))
    return rows


def _errors(text: str) -> list[str]:
    source, diagnostics = Source("kernel.ir", text), Diagnostics()
    verify(read(source, diagnostics, "v0.4"), diagnostics)
    return [error.render().splitlines()[0] for error in diagnostics.errors]


@pytest.mark.parametrize(("text", "error"), _rows())
def test_restriction(text: str, error: str) -> None:
    place, _, message = error.partition(": ")
    assert _errors(_ALTERNATIVE.sub(r"\1", text)) == [f"kernel.ir:{place}: error: {message}"]
    assert _errors(_ALTERNATIVE.sub(r"\2", text)) == []
