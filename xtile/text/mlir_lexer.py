"""Cuts MLIR text into tokens."""

from __future__ import annotations

import re

from typing_extensions import override
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRLexer,
    MLIRToken,
    MLIRTokenKind,
    StringLiteral,
)

_SUFFIX = r"(?: [0-9]++ | [a-zA-Z$._-] [a-zA-Z0-9$._-]*+ )"

_GROUPS = (
    (MLIRTokenKind.BARE_IDENT, r"[a-zA-Z_] [a-zA-Z0-9_$.]*+"),
    (MLIRTokenKind.PERCENT_IDENT, rf"% {_SUFFIX}"),
    (None, r"-> | \{ (?! -\# ) | [][:,()}<>=+/*?|-]"),
    (MLIRTokenKind.INTEGER_LIT, r"[1-9] [0-9]*+ (?! \. ) | 0 (?! [xX0-9.] )"),
    (MLIRTokenKind.HASH_IDENT, rf"\# (?! -\}} ) {_SUFFIX}"),
    (MLIRTokenKind.EXCLAMATION_IDENT, rf"! {_SUFFIX}"),
    (MLIRTokenKind.CARET_IDENT, rf"\^ {_SUFFIX}"),
    (MLIRTokenKind.AT_IDENT, r"@ [a-zA-Z_] [a-zA-Z0-9_$.]*+"),
    (MLIRTokenKind.FLOAT_LIT, r"[0-9]++ \. [0-9]*+ (?: [eE] [+-]? [0-9]++ )?"),
    (MLIRTokenKind.STRING_LIT, r'" [^"\\\n\v\f]*+ "'),
)
"""What tokens look like, by their kinds; None for punctuation. The most frequent stand first."""

_match = re.compile(
    r"\s*+ (?: // [^\n]* \n? \s*+ )*+ (?:" + "|".join(f"( {text} )" for _, text in _GROUPS) + ")",
    re.ASCII | re.VERBOSE,
).match
"""Matches white space and the token after it."""

_KINDS = (None, *(kind for kind, _ in _GROUPS))


class MlirToken(MLIRToken):
    """A token that has its text, and makes its span when somebody asks for it."""

    # xDSL's token makes its text each time that somebody asks for it.
    __slots__ = ("end", "input", "kind", "start", "text")

    def __init__(
        self, kind: MLIRTokenKind, text: str, start: Position, end: Position, input: Input
    ) -> None:
        self.kind = kind
        self.text = text  # pyright: ignore
        self.start = start
        self.end = end
        self.input = input

    @property
    def span(self) -> Span:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where the token stands."""
        return Span(self.start, self.end, self.input)


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
    def lex(self) -> MlirToken:
        self.previous_end = self.pos
        input = self.input
        match = _match(input.content, self.pos)
        if match is None:
            token = super().lex()
            return MlirToken(token.kind, token.text, token.span.start, token.span.end, input)
        group = match.lastindex
        assert group is not None, "each of the pattern's alternatives is a group"
        text = match[group]
        self.pos = end = match.end()
        kind = _KINDS[group] or KIND_BY_PUNCTUATION_SPELLING[text]
        return MlirToken(kind, text, end - len(text), end, input)

    @override
    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT and _is_text(token.span):
            return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


def _is_text(literal: Span[str]) -> bool:
    """Whether the bytes that a string literal stands for are valid UTF-8."""
    contents = StringLiteral(literal.start, literal.end, literal.input).bytes_contents
    try:
        contents.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
