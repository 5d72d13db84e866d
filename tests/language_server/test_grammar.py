"""The grammar for editors has the words of the lexer's and the reader's tables, and no others."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from xtile.dialects.tensorlang.lexer import Lexer
from xtile.dialects.tensorlang.ops import BY_MNEMONIC
from xtile.dialects.tensorlang.term_reader import ATTRIBUTE_NAMES, TYPE_CLASSES
from xtile.dialects.tensorlang.types import SCALAR_TYPES

ROOT = Path(__file__).parents[2]

VSCODE = ROOT / "editors" / "vscode"

GRAMMAR: dict[str, Any] = json.loads(
    (VSCODE / "syntaxes" / "tensorlang.tmLanguage.json").read_text()
)

CONTINUATIONS = {"as", "attributes", "else", "init"}
"""Words within instructions."""

COMPOUND_TYPES = {"memref", "group", "coopmatrix", "void"}


def words(rule: str) -> set[str]:
    """The words that a rule of the grammar lists."""
    lists = re.findall(r"\(\?:([\w|]+)\)", GRAMMAR["repository"][rule]["match"])
    return {word for each in lists for word in each.split("|")}


def test_words_are_those_of_the_reader() -> None:
    assert words("control") | words("instruction") == set(BY_MNEMONIC) | CONTINUATIONS
    assert not words("control") & words("instruction")
    assert words("type") == set(SCALAR_TYPES) | COMPOUND_TYPES
    assert len(TYPE_CLASSES) == len(COMPOUND_TYPES)
    assert words("attribute") == set(ATTRIBUTE_NAMES)


def test_every_rule_is_used_and_there() -> None:
    included = [each["include"].removeprefix("#") for each in GRAMMAR["patterns"]]
    assert sorted(included) == sorted(GRAMMAR["repository"])


RULES = {
    "local": {"value"},
    "global": {"function"},
    "definition": {"definition"},
    "string": {"string"},
    "calc": {"calculation"},
    "float": {"number"},
    "integer": {"number"},
    "word": {"control", "instruction", "type", "attribute", "number", None},
    "modifier": {"instruction", None},
    "punctuation": {"operator", None},
}
"""The rules that a token of each kind of the lexer may have."""


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ir")), ids=lambda p: p.name)
def test_tokens_are_those_of_the_lexer(path: Path) -> None:
    """What the grammar colours begins and ends with tokens of the lexer, of the right kind."""
    text = path.read_text()
    found = dict(_coloured(text))
    lexer = Lexer(text)
    starts: set[int] = set()
    while lexer.kind != "end":
        # The reader takes a type such as `f32x16x8` apart by itself.
        is_type = lexer.kind == "word" and "x" in lexer.value and lexer.value not in BY_MNEMONIC
        starts |= set(range(lexer.start, lexer.end)) if is_type else {lexer.start}
        assert found.get(lexer.start) in RULES[lexer.kind], (lexer.value, lexer.start)
        lexer.advance()
    rest = {start: rule for start, rule in found.items() if rule != "comment"}
    assert set(rest) <= starts


def _coloured(text: str) -> list[tuple[int, str]]:
    """The begin of each match of a rule, as an editor applies them: the first match, from left."""
    names = [each["include"].removeprefix("#") for each in GRAMMAR["patterns"]]
    rules = [(name, re.compile(GRAMMAR["repository"][name]["match"], re.M)) for name in names]
    found: list[tuple[int, str]] = []
    offset = 0
    while True:
        matches = [(name, rule.search(text, offset)) for name, rule in rules]
        there = [
            (match.start(), number, name, match)
            for number, (name, match) in enumerate(matches)
            if match
        ]
        if not there:
            return found
        start, _, name, match = min(there, key=lambda each: each[:2])
        found.append((start, name))
        offset = max(match.end(), start + 1)


def test_the_extension_names_files_that_are_there() -> None:
    package = json.loads((VSCODE / "package.json").read_text())
    contributed = package["contributes"]
    paths = [package["main"], *(each["path"] for each in contributed["grammars"])]
    paths += [each["configuration"] for each in contributed["languages"] if "configuration" in each]
    assert all((VSCODE / path).is_file() for path in paths)
    endings = {ending for each in contributed["languages"] for ending in each["extensions"]}
    assert endings == {".ir", ".mlir", ".ttir", ".ttgir"}
    assert contributed["grammars"][0]["scopeName"] == GRAMMAR["scopeName"]
