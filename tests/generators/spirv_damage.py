"""Damages binaries: words, operands, instructions and bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

HEADER_WORDS = 5
_MAXIMUM_WORD = 0xFFFFFFFF


def damaged(data: bytes, random: Random) -> bytes:
    """A binary with one to three defects; what it returns may be valid by chance."""
    for _ in range(random.choice((1, 1, 2, 3))):
        data = random.choice(_DEFECTS)(data, random)
    return data


def _words(data: bytes) -> list[int]:
    return list(struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4]))


def _bytes(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def _split(data: bytes) -> tuple[list[int], list[list[int]]]:
    """The header and the instructions, as far as the counts of words tell."""
    words = _words(data)
    found: list[list[int]] = []
    position = HEADER_WORDS
    while position < len(words):
        end = position + max(words[position] >> 16, 1)
        found.append(words[position:end])
        position = end
    return words[:HEADER_WORDS], found


def _any_word(random: Random, words: list[int]) -> int:
    return random.choice(
        (0, 1, _MAXIMUM_WORD, random.randrange(64), random.randrange(1 << 32), random.choice(words))
    )


def _on_words(edit: Callable[[list[int], Random], None]) -> Callable[[bytes, Random], bytes]:
    def defect(data: bytes, random: Random) -> bytes:
        words = _words(data)
        if words:
            edit(words, random)
        return _bytes(words)

    return defect


def _on_instructions(
    edit: Callable[[list[list[int]], Random], None],
) -> Callable[[bytes, Random], bytes]:
    def defect(data: bytes, random: Random) -> bytes:
        header, instructions = _split(data)
        if instructions:
            edit(instructions, random)
        return _bytes(header + [word for words in instructions for word in words])

    return defect


def _change_word(words: list[int], random: Random) -> None:
    words[random.randrange(len(words))] = _any_word(random, words)


def _flip_bit(words: list[int], random: Random) -> None:
    words[random.randrange(len(words))] ^= 1 << random.randrange(32)


def _delete_words(words: list[int], random: Random) -> None:
    start = random.randrange(len(words))
    del words[start : start + random.choice((1, 1, 30))]


def _repeat_words(words: list[int], random: Random) -> None:
    start = random.randrange(len(words))
    words[start:start] = words[start : start + random.choice((1, 1, 30))]


def _change_operand(instructions: list[list[int]], random: Random) -> None:
    words = random.choice(instructions)
    if len(words) > 1:
        words[random.randrange(1, len(words))] = _any_word(random, words)


def _change_opcode(instructions: list[list[int]], random: Random) -> None:
    words, other = random.choice(instructions), random.choice(instructions)
    words[0] = words[0] & 0xFFFF0000 | other[0] & 0xFFFF


def _delete_instruction(instructions: list[list[int]], random: Random) -> None:
    del instructions[random.randrange(len(instructions))]


def _repeat_instruction(instructions: list[list[int]], random: Random) -> None:
    instructions.insert(random.randrange(len(instructions)), list(random.choice(instructions)))


def _swap_instructions(instructions: list[list[int]], random: Random) -> None:
    one, other = (random.randrange(len(instructions)) for _ in range(2))
    instructions[one], instructions[other] = instructions[other], instructions[one]


def _truncate(data: bytes, random: Random) -> bytes:
    return data[: random.randrange(len(data) + 1)]


_DEFECTS: tuple[Callable[[bytes, Random], bytes], ...] = (
    *map(_on_words, (_change_word, _flip_bit, _delete_words, _repeat_words)),
    *map(_on_instructions, (_change_operand, _change_operand, _change_opcode, _delete_instruction)),
    *map(_on_instructions, (_repeat_instruction, _swap_instructions)),
    _truncate,
)
