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


def _position(data: bytes, random: Random) -> int:
    return random.randrange(len(data) + 1)


def _flip_byte(data: bytes, random: Random) -> bytes:
    if not data:
        return data
    position = random.randrange(len(data))
    changed = data[position] ^ 1 << random.randrange(8)
    return data[:position] + bytes([changed]) + data[position + 1 :]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: _position(data, random)]


def _insert(data: bytes, random: Random) -> bytes:
    position = _position(data, random)
    return data[:position] + random.choice(_INSERTIONS) + data[position:]


def _add_bracket(data: bytes, random: Random) -> bytes:
    position = _position(data, random)
    return data[:position] + random.choice(_BRACKETS) + data[position:]


def _remove_bracket(data: bytes, random: Random) -> bytes:
    bracket = random.choice(_BRACKETS)
    position = data.find(bracket, _position(data, random))
    return data if position < 0 else data[:position] + data[position + 1 :]


def _repeat(data: bytes, random: Random) -> bytes:
    """Repeats a short piece many times in its place."""
    position = _position(data, random)
    piece = data[position : position + random.randint(1, 20)]
    return data[:position] + piece * random.choice((2, 50)) + data[position:]


def _change_number(data: bytes, random: Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", data))
    if not numbers:
        return data
    number = random.choice(numbers)
    return data[: number.start()] + random.choice(_NUMBERS) + data[number.end() :]


def _delete_token(tokens: list[bytes], position: int, random: Random) -> None:
    del tokens[position]


def _duplicate_token(tokens: list[bytes], position: int, random: Random) -> None:
    tokens.insert(position, tokens[position])


def _swap_tokens(tokens: list[bytes], position: int, random: Random) -> None:
    other = random.randrange(len(tokens))
    tokens[position], tokens[other] = tokens[other], tokens[position]


def _replace_token(tokens: list[bytes], position: int, random: Random) -> None:
    tokens[position] = random.choice(tokens)


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
