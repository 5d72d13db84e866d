"""The words of SPIR-V's assembler text.

Source: SPIRV-Tools, docs/syntax.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from xtile.text.source import Source, Span

_SPACE = re.compile(r"(?:[ \t\r\n]++|;[^\n]*+)*+")
_WORD = re.compile(r'(?:"(?:[^"\\]|\\.)*+"|\\.|[^ \t\r\n;"\\])++', re.DOTALL)
_OPCODE = re.compile(r"Op[A-Z]")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Token:
    """One word of the text, and where it starts."""

    text: str
    start: int

    @property
    def span(self) -> Span:
        """Its position."""
        return Span(self.start, self.start + len(self.text))

    @property
    def is_opcode(self) -> bool:
        """Whether it is written as the name of an instruction."""
        return _OPCODE.match(self.text) is not None

    @property
    def is_string(self) -> bool:
        """Whether it is a literal string."""
        return len(self.text) >= 2 and self.text[0] == '"' == self.text[-1]

    @property
    def string(self) -> str:
        """The literal string: a backslash stands before what is taken as it is."""
        return _ESCAPED.sub(r"\1", self.text[1:-1])


class UnclosedStringError(ValueError):
    """A literal string has no end."""

    def __init__(self, span: Span) -> None:
        super().__init__(span)
        self.span = span


def tokens_of(source: Source) -> list[Token]:
    """The words of a text without white space and comments.

    Raises:
        UnclosedStringError: A literal string has no end.
    """
    text = source.text
    tokens: list[Token] = []
    position = _end_of_space(text, 0)
    while position < len(text):
        match = _WORD.match(text, position)
        if match is None or text.startswith(('"', "\\"), match.end()):
            raise UnclosedStringError(Span(position, text.find("\n", position) % (len(text) + 1)))
        tokens.append(Token(match.group(), position))
        position = _end_of_space(text, match.end())
    return tokens


def starts_instruction(tokens: list[Token], index: int) -> bool:
    """Whether an instruction begins at a token: `OpStore`, or `%a = OpLoad`."""
    if tokens[index].is_opcode:
        return True
    return (
        tokens[index].text[0] == "%"
        and index + 2 < len(tokens)
        and tokens[index + 1].text == "="
        and tokens[index + 2].is_opcode
    )


def _end_of_space(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()
