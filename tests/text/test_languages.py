"""The languages of files."""

from __future__ import annotations

import pytest

from xtile.dialects.languages import LANGUAGES, guess_language
from xtile.dialects.registry import make_context
from xtile.text.source import Source


@pytest.mark.parametrize(
    ("text", "extension"),
    [
        ("func @f() {}", "ir"),
        ("\n  ; comment\nfunc @f() {}", "ir"),
        ("$n = 4", "ir"),
        ("", "ir"),
        ("func.func @f()", "mlir"),
        ("module {}", "mlir"),
        ("// comment\nmodule {}", "mlir"),
        ("tensorlang.func @f() {}", "mlir"),
    ],
)
def test_guessing(text: str, extension: str) -> None:
    assert guess_language(text) is LANGUAGES[extension]


def test_splitting_keeps_line_numbers() -> None:
    source = Source("t.ir", "a\n// -----\nb\nc\n; ----- more\nd")
    parts = LANGUAGES["ir"].split(source)
    assert [part.text for part in parts] == ["a\n", "b\nc\n", "d"]
    assert [part.position(0) for part in parts] == [(1, 1), (3, 1), (6, 1)]
    assert parts[1].line_text(4) == "c"


def test_only_a_comment_of_the_language_splits() -> None:
    source = Source("t.mlir", "a // -----\n; -----\n // -----\nb")
    assert [part.text for part in LANGUAGES["mlir"].split(source)] == [
        "a // -----\n; -----\n",
        "b",
    ]


def test_a_context_loads_dialects_on_first_use() -> None:
    context = make_context()
    assert list(context.loaded_dialects) == []
    assert context.get_optional_op("arith.addi") is not None
    assert context.get_optional_op("tensorlang.axpby") is not None
    assert [dialect.name for dialect in context.loaded_dialects] == ["arith", "tensorlang"]
