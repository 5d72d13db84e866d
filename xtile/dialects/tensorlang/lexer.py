"""The tokens of `.ir` text.

Source: tensor language reference, sections "Core rules", "Identifier" and "Constants", and the
preprocessor reference for `$name` and `!calc`.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    (?: \s++ | ;[^\n]*+ )*+
    (?:
      (?P<local> % (?: [0-9]++ | [A-Za-z] [A-Za-z0-9_]*+ ) )
    | (?P<word> x (?! [A-Za-z_] ) | (?! (?:inf|nan) \b ) [A-Za-z_] [A-Za-z0-9_]*+ )
    | (?P<float> [-+]? (?: 0x (?: [0-9a-fA-F]*+ \. [0-9a-fA-F]++ (?: [pP] [-+]? [0-9]++ )?
                              | [0-9a-fA-F]++ \. (?: [pP] [-+]? [0-9]++ )?
                              | [0-9a-fA-F]++ [pP] [-+]? [0-9]++ )
                        | [0-9]*+ \. [0-9]++ (?: [eE] [-+]? [0-9]++ )?
                        | [0-9]++ \. (?: [eE] [-+]? [0-9]++ )?
                        | [0-9]++ [eE] [-+]? [0-9]++
                        | (?: inf | nan ) \b ) )
    | (?P<integer> [-+]? [0-9]++ )
    | (?P<punctuation> -> | <= | [=,:()\[\]{}<>?^*/+%-] )
    | (?P<modifier> \. [A-Za-z_] [A-Za-z0-9_]*+ )
    | (?P<global> @ (?: [0-9]++ | [A-Za-z] [A-Za-z0-9_]*+ ) )
    | (?P<definition> \$ (?: [0-9]++ | [A-Za-z] [A-Za-z0-9_]*+ ) )
    | (?P<string> " [^"\n]*+ " )
    | (?P<calc> !calc \b )
    | (?P<end> \Z )
    | (?P<unknown> . )
    )
    """,
    re.VERBOSE,
)

END = "end"


class Lexer:
    """Walks over `.ir` text token by token.

    `kind` is the name of the current token's group in the pattern above, `value` its text,
    `start` and `end` its character offsets; `previous_end` is where the token before it ended.
    """

    __slots__ = ("end", "kind", "previous_end", "start", "text", "value")

    def __init__(self, text: str) -> None:
        self.text = text
        self.end = 0
        self.move_to(0)

    def advance(self) -> None:
        """Goes to the next token; stays at the end of the text once there."""
        self.previous_end = self.end
        self._match(self.end)

    def move_to(self, offset: int) -> None:
        """Goes to the token at or after `offset`."""
        self.previous_end = offset
        self._match(offset)

    def _match(self, offset: int) -> None:
        match = _TOKEN.match(self.text, offset)
        # `unknown` takes any character, so there always is a match.
        assert match is not None
        assert match.lastgroup is not None
        self.kind: str = match.lastgroup
        self.start, self.end = match.span(self.kind)
        self.value: str = match[self.kind]
