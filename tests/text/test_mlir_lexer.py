"""Text is cut into the tokens that xDSL's own lexer cuts it into."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from tests.seeds import fresh_generator
from xtile.text.mlir_lexer import MlirLexer

PIECES = (
    *("0x1F", "0x", "00", "007", "1.5e3", "1.", "0.5", "12", "1e5", "-1", "1:2", "128x64xf32"),
    *("->", "{-#", "#-}", "#-", "{-", "-", "/", "...", "..", "+", "|", "*", "?", "#", "%", "!"),
    *("%-a", "%0#1", "^bb0", "!tt.ptr<f32>", "#ttg.blocked", "_x$.", "a.b-c", "@a", '@"x"'),
    *('"a\\""', '"unclosed', "// c\n", "// d", "\n", "\t", " ", "\u00e9", "(", ")", "[", "]", "="),
)

FILES = sorted((Path(__file__).parents[1] / "filetests").rglob("*.mlir"))


class Slow(MlirLexer):
    """The lexer as xDSL has it."""

    lex = MLIRLexer.lex


Tokens = list[tuple[MLIRTokenKind | str, int, int]]


def _tokens(kind: type[MLIRLexer], text: str) -> Tokens:
    """The tokens of a text with their spans, and the error that ends them."""
    lexer, found = kind(Input(text, "<text>")), Tokens()
    try:
        while not found or found[-1][0] is not MLIRTokenKind.EOF:
            token = lexer.lex()
            found.append((token.kind, token.span.start, token.span.end))
    except ParseError as error:
        found.append((error.msg, error.span.start, error.span.end))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_files(file: Path) -> None:
    text = file.read_text()
    assert _tokens(MlirLexer, text) == _tokens(Slow, text)


@pytest.mark.slow
def test_random_text() -> None:
    random = fresh_generator()
    for _ in range(3000):
        text = "".join(random.choice(PIECES, random.integers(1, 9)))
        assert _tokens(MlirLexer, text) == _tokens(Slow, text), text
