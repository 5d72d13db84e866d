"""Writes numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xtile.dialects.cuda_tile.bytecode.tables import PADDING_BYTE


def write_varint(out: bytearray, value: int) -> None:
    """Writes a number that is not negative, 7 bits a byte, the lowest first."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def write_signed_varint(out: bytearray, value: int) -> None:
    """Writes a number of 64 bits with its sign as the lowest bit."""
    write_varint(out, value << 1 if value >= 0 else ~(value << 1))


def write_numbers(out: bytearray, values: Sequence[int], size: int) -> None:
    """Writes how many numbers there are, and each in `size` bytes."""
    write_varint(out, len(values))
    for value in values:
        out += value.to_bytes(size, "little", signed=True)


def align(out: bytearray, alignment: int) -> None:
    """Fills up to a multiple of bytes."""
    out += bytes([PADDING_BYTE]) * (-len(out) % alignment)


def write_table(out: bytearray, entries: Sequence[bytes], offset_size: int) -> None:
    """Writes entries: how many, where each begins after the last offset, and what each holds."""
    write_varint(out, len(entries))
    align(out, offset_size)
    write_offsets(out, map(len, entries), offset_size)
    for entry in entries:
        out += entry


def write_offsets(out: bytearray, lengths: Iterable[int], size: int) -> int:
    """Writes where each of some things begins, and returns where the last one ends."""
    offset = 0
    for length in lengths:
        out += offset.to_bytes(size, "little")
        offset += length
    return offset
