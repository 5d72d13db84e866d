"""Cuts MLIR text into tokens."""

from __future__ import annotations

import re

from typing_extensions import override
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral


class MlirLexer(MLIRLexer):
    """xDSL's lexer, which also remembers where the token before the newest one ended.

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
        return super().lex()

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
