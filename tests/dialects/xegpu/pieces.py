"""The pieces of MLIR text in the folder `corpus`, right ones and wrong ones.

A piece states the errors that it has in comments; one without such a comment is right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_SEPARATOR = "\n// -----\n"


@dataclass(frozen=True)
class Piece:
    """One piece of a file."""

    file: str
    name: str
    text: str

    @property
    def is_wrong(self) -> bool:
        return "// expected-error" in self.text


def read_corpus() -> list[Piece]:
    """Returns every piece, named as its function."""
    pieces: list[Piece] = []
    for path in sorted(Path(__file__).with_name("corpus").glob("*.mlir")):
        for text in path.read_text(encoding="utf-8").split(_SEPARATOR):
            function = re.search(r"^func\.func (?:private )?@(\w+)", text, re.MULTILINE)
            assert function is not None
            pieces.append(Piece(path.stem, function[1], text))
    return pieces
