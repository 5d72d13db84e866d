"""The part of the parser of MLIR text that takes the next token, in one step for each.

Every token of a text comes through here, which xDSL's parser does in five to ten calls for each.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from typing_extensions import override
from xdsl.context import Context
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser, ParserState, UnresolvedOperand
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import (
    KIND_BY_PUNCTUATION_SPELLING,
    MLIRTokenKind,
    PunctuationSpelling,
)

from xtile.text.known_texts import SkippingParser
from xtile.text.mlir_lexer import MlirLexer, MlirToken

_DICTIONARY = re.compile(r"""\{[^{}<>()"#!@]*+\}""")
"""A dictionary of numbers and of other attributes whose text always means the same."""

_MAXIMUM_DICTIONARIES = 4096


class NamedOperand(UnresolvedOperand):
    """An operand as the text names it; it makes its span when somebody asks for it.

    Attributes:
        operand_name: The name without `%`.
        value: The value, once it is looked up; None for one that is defined later.
    """

    __slots__ = ("index", "operand_name", "token", "value")

    def __init__(self, token: MlirToken, index: int) -> None:
        self.token = token
        self.operand_name = token.text[1:]  # pyright: ignore
        self.index = index
        self.value: SSAValue | None = None

    @property
    def span(self) -> Span:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Where the name stands, with its `%`."""
        return self.token.span


class TokenState(ParserState[MLIRTokenKind]):
    """Where a parser stands: its lexer, and the token that comes next."""

    lexer: MlirLexer  # pyright: ignore[reportIncompatibleVariableOverride]
    current_token: MlirToken  # pyright: ignore[reportIncompatibleVariableOverride]


class TokenParser(SkippingParser, Parser):
    """xDSL's parser on a lexer of ours."""

    _lexer: MlirLexer
    _parser_state: TokenState  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, ctx: Context, input: str | bytes, name: str = "<unknown>") -> None:
        super().__init__(ctx, input, name)
        # The operands read so far; an operation takes its own.
        self._operands: list[NamedOperand] = []
        self.known_types = {}
        self._dictionaries: dict[str, Mapping[str, Attribute]] = {}

    @property
    @override
    def previous_end(self) -> int:
        return self._lexer.previous_end

    @property
    @override
    def text(self) -> str:
        return self._lexer.input.content

    @override
    def skip_to(self, offset: int) -> None:
        self._lexer.pos = offset
        self._parser_state.current_token = self._lexer.lex()

    @property
    @override
    def pos(self) -> Position:
        return self._parser_state.current_token.start

    @override
    def _consume_token(self, expected_kind: MLIRTokenKind | None = None) -> MlirToken:
        state = self._parser_state
        token = state.current_token
        state.current_token = state.lexer.lex()
        return token

    @override
    def _parse_optional_token(self, expected_kind: MLIRTokenKind) -> MlirToken | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            return None
        state.current_token = state.lexer.lex()
        return token

    @override
    def _parse_token(self, expected_kind: MLIRTokenKind, error_msg: str) -> MlirToken:
        state = self._parser_state
        token = state.current_token
        if token.kind is not expected_kind:
            self.raise_error(error_msg, token.span)
        state.current_token = state.lexer.lex()
        return token

    @override
    def parse_optional_punctuation(
        self, punctuation: PunctuationSpelling
    ) -> PunctuationSpelling | None:
        state = self._parser_state
        if state.current_token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            return None
        state.current_token = state.lexer.lex()
        return punctuation

    @override
    def parse_punctuation(
        self, punctuation: PunctuationSpelling, context_msg: str = ""
    ) -> PunctuationSpelling:
        state = self._parser_state
        token = state.current_token
        if token.kind is not KIND_BY_PUNCTUATION_SPELLING[punctuation]:
            self.raise_error(f"Expected '{punctuation}'{context_msg}", token.span)
        state.current_token = state.lexer.lex()
        return punctuation

    @override
    def parse_optional_characters(self, text: str) -> str | None:
        state = self._parser_state
        if state.current_token.text != text:
            return None
        state.current_token = state.lexer.lex()
        return text

    @override
    def parse_optional_keyword(self, keyword: str) -> str | None:
        return self.parse_optional_keyword_in((keyword,))

    @override
    def parse_optional_keyword_in(self, keywords: Collection[str]) -> str | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not MLIRTokenKind.BARE_IDENT or token.text not in keywords:
            return None
        state.current_token = state.lexer.lex()
        return token.text

    @override
    def parse_optional_identifier(self) -> str | None:
        token = self._parse_optional_token(MLIRTokenKind.BARE_IDENT)
        return None if token is None else token.text

    @override
    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        """Reads a dictionary; one whose text was read before is not read again."""
        if self._parser_state.current_token.kind is not MLIRTokenKind.L_BRACE:
            return {}
        match = _DICTIONARY.match(self.text, self.pos)
        if match is None:
            return super().parse_optional_dictionary_attr_dict()
        known = self._dictionaries.get(match[0])
        if known is not None:
            self.skip_to(match.end())
            return dict(known)
        read = super().parse_optional_dictionary_attr_dict()
        if self.previous_end == match.end() and len(self._dictionaries) < _MAXIMUM_DICTIONARIES:
            self._dictionaries[match[0]] = dict(read)
        return read

    @override
    def parse_optional_unresolved_operand(self) -> NamedOperand | None:
        state = self._parser_state
        token = state.current_token
        if token.kind is not MLIRTokenKind.PERCENT_IDENT:
            return None
        following = state.current_token = state.lexer.lex()
        index = 0
        if following.kind is MLIRTokenKind.HASH_IDENT:
            state.current_token = state.lexer.lex()
            if not following.text[1:].isdigit():
                self.raise_error("Expected integer as SSA value tuple index", following.span)
            index = int(following.text[1:])
        operand = NamedOperand(token, index)
        self._operands.append(operand)
        return operand

    @override
    def parse_unresolved_operand(self, msg: str = "operand expected") -> NamedOperand:
        operand = self.parse_optional_unresolved_operand()
        if operand is None:
            self.raise_error(msg)
        return operand
