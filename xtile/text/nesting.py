"""Finds brackets that nest too deeply, before a recursive reader meets them."""

from __future__ import annotations

import re

from xtile.text.source import Span

_OPEN = b"([{<"
_CLOSE = b")]}>"
_TO_PARENTHESES = bytes.maketrans(_OPEN + _CLOSE, b"(" * len(_OPEN) + b")" * len(_CLOSE))
_NOT_BRACKETS = bytes(set(range(256)) - set(_OPEN + _CLOSE))
_CHEAP_ROUNDS = 32


def find_deep_nesting(text: str, limit: int, comment: str) -> Span | None:
    """Finds the first bracket that opens more than `limit` levels of brackets.

    Round, square, curly and angle brackets count; those in strings and comments and the
    arrow `->` do not. The brackets need not match, because a damaged file is input too.

    Args:
        text: The text of a whole file.
        limit: How many levels are allowed.
        comment: What begins a comment that lasts to the end of the line, for example `//`.

    Returns:
        The location of that bracket, or None.
    """
    if _is_surely_shallow(text, limit):
        return None
    depth = 0
    for match in _tokens(comment).finditer(text):
        bracket = match.group("bracket")
        if bracket is None:
            continue
        if bracket in "([{<":
            depth += 1
            if depth > limit:
                return Span(match.start(), match.end())
        elif depth > 0:
            depth -= 1
    return None


def _is_surely_shallow(text: str, limit: int) -> bool:
    """Whether the brackets are shallow even if those in comments count.

    Each round removes the innermost pairs of all brackets at once, so the number of rounds plus
    the brackets left open bounds the depth. This takes a few passes over the brackets at the
    speed of `bytes.replace`, where a loop over them would dominate the reading of a large file.
    """
    data = text.replace("->", "").encode("utf-8", "replace")
    brackets = data.translate(_TO_PARENTHESES, _NOT_BRACKETS)
    for rounds in range(min(limit, _CHEAP_ROUNDS)):
        inner = brackets.replace(b"()", b"")
        if len(inner) == len(brackets):
            return rounds + brackets.count(b"(") <= limit
        brackets = inner
    return False


def _tokens(comment: str) -> re.Pattern[str]:
    """Returns what matches a bracket, and the strings and comments that hide brackets."""
    return re.compile(
        r'"(?:[^"\\\n]|\\.)*"'
        rf"|{re.escape(comment)}[^\n]*"
        r"|->"
        r"|(?P<bracket>[()\[\]{}<>])"
    )
