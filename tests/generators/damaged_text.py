"""Damages a text the way editors, transfers and merges do, for tests of readers."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

_TOKEN = re.compile(rb"\s+|[%@$]?\w+|.", re.DOTALL)

_BRACKETS = (b"{", b"}", b"(", b")", b"[", b"]", b"<", b">", b'"', b";")
_INSERTIONS = (
    *(
        "é".encode(),
        "⪯".encode(),
        "\N{GRINNING FACE}".encode(),
        "\u2028".encode(),
        b"\xff",
        b"\xc3",
    ),
    *(
        b"\x00",
        b"\r",
        b"\x1b[31m",
        b"\t",
        b"\\",
        b"'",
        b"!calc(",
        b"$x",
        b"%",
        b"@",
        b"->",
        b"..",
        b"x",
    ),
)
_NUMBERS = (b"0", b"-1", b"9223372036854775808", b"1e999", b"0x", b"1.5.2", b"?", b"9" * 5000)


def damaged(data: bytes, random: Random) -> bytes:
    """A text with one to three defects; what it returns need not be valid UTF-8."""
    for _ in range(random.choice((1, 1, 2, 3))):
        data = random.choice(_DEFECTS)(data, random)
    return data


def _place(data: bytes, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _flip_byte(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    place = random.randrange(len(data))
    changed = data[place] ^ 1 << random.randrange(8)
    return data[:place] + bytes([changed]) + data[place + 1 :]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: _place(data, random)]


def _insert(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + random.choice(_INSERTIONS) + data[place:]


def _add_bracket(data: bytes, random: Random) -> bytes:
    place = _place(data, random)
    return data[:place] + random.choice(_BRACKETS) + data[place:]


def _remove_bracket(data: bytes, random: Random) -> bytes:
    bracket = random.choice(_BRACKETS)
    place = data.find(bracket, _place(data, random))
    return data if place < 0 else data[:place] + data[place + 1 :]


def _repeat(data: bytes, random: Random) -> bytes:
    """Repeats a short piece many times in its place."""
    place = _place(data, random)
    piece = data[place : place + random.randint(1, 20)]
    return data[:place] + piece * random.choice((2, 50)) + data[place:]


def _change_number(data: bytes, random: Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    number = random.choice(numbers)
    return data[: number.start()] + random.choice(_NUMBERS) + data[number.end() :]


def _delete_token(tokens: list[bytes], place: int, random: Random) -> None:
    del tokens[place]


def _duplicate_token(tokens: list[bytes], place: int, random: Random) -> None:
    tokens.insert(place, tokens[place])


def _swap_tokens(tokens: list[bytes], place: int, random: Random) -> None:
    other = random.randrange(len(tokens))
    tokens[place], tokens[other] = tokens[other], tokens[place]


def _replace_token(tokens: list[bytes], place: int, random: Random) -> None:
    tokens[place] = random.choice(tokens)


_Edit = Callable[[list[bytes], int, Random], None]


def _on_tokens(edit: _Edit) -> Callable[[bytes, Random], bytes]:
    return lambda data, random: _edited(_TOKEN.findall(data), b"", edit, random)


def _on_lines(edit: _Edit) -> Callable[[bytes, Random], bytes]:
    return lambda data, random: _edited(data.split(b"\n"), b"\n", edit, random)


def _edited(pieces: list[bytes], separator: bytes, edit: _Edit, random: Random) -> bytes:
    if pieces:
        edit(pieces, random.randrange(len(pieces)), random)
    return separator.join(pieces)


_EDITS: tuple[_Edit, ...] = (_delete_token, _duplicate_token, _swap_tokens, _replace_token)

_DEFECTS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *(_flip_byte, _truncate, _insert, _add_bracket, _remove_bracket, _repeat, _change_number),
    *(_on_tokens(edit) for edit in _EDITS),
    *(_on_lines(edit) for edit in _EDITS),
)
