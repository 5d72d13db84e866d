"""Cuts MLIR text into tokens."""

from __future__ import annotations

import re
from typing import cast

from typing_extensions import override
from xdsl.utils.lexer import Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

_COMMON = re.compile(
    r"""
    (?: // [^\n]* \n? | \s++ )*+
    (?:
        ( [a-zA-Z_] [a-zA-Z0-9_$.]* )
      | ( (?! \#-\} ) [%\#!^] (?: [0-9]++ | [a-zA-Z$._-] [a-zA-Z0-9$._-]* ) )
      | ( -> | \{ (?! -\# ) | [][:,()}<>=+/*?|-] )
      | ( [1-9] [0-9]*+ (?! \. ) | 0 (?! [xX0-9.] ) )
    )
    """,
    re.ASCII | re.VERBOSE,
)
"""White space and a name, a name with a prefix, a punctuation mark or an integer after it."""

_NAME, _PREFIXED, _PUNCTUATION, _INTEGER = range(1, 5)

_KINDS: dict[str, MLIRTokenKind] = {
    **KIND_BY_PUNCTUATION_SPELLING,
    "#": MLIRTokenKind.HASH_IDENT,
    "!": MLIRTokenKind.EXCLAMATION_IDENT,
    "^": MLIRTokenKind.CARET_IDENT,
    "%": MLIRTokenKind.PERCENT_IDENT,
}
"""The kinds of tokens by their spelling, and of names by their prefix."""


class MlirLexer(MLIRLexer):
    """xDSL's lexer, which is faster here and remembers where the token before the newest one ended.

    xDSL prints characters beyond ASCII as escaped bytes, and would read those back as bytes
    instead of a string.
    """

    # xDSL's pattern takes exponential time on a string that is not closed. This one matches the
    # same strings and never goes back.
    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    previous_end: int = 0

    @override
    def lex(self) -> MLIRToken:
        self.previous_end = self.pos
        content = self.input.content
        match = _COMMON.match(content, self.pos)
        if match is None:
            return super().lex()
        group = cast("int", match.lastindex)
        start, self.pos = match.span(group)
        if group == _NAME:
            kind = MLIRTokenKind.BARE_IDENT
        elif group == _INTEGER:
            kind = MLIRTokenKind.INTEGER_LIT
        else:
            kind = _KINDS[content[start] if group == _PREFIXED else content[start : self.pos]]
        return Token(kind, Span(start, self.pos, self.input))

    @override
    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT and _is_text(token.span):
            return MLIRToken(MLIRTokenKind.STRING_LIT, token.span)
        return token


def _is_text(literal: Span[str]) -> bool:
    """Whether the bytes that a string literal stands for are valid UTF-8."""
    contents = StringLiteral(literal.start, literal.end, literal.input).bytes_contents
    try:
        contents.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
