"""Whether machine code is a whole ELF file for a vendor's GPUs, and what its notes say.

The driver believes what the headers of a cubin say of the locations in it, and reads beyond the
end of one that was cut off: NVIDIA's driver 580 ends the process with a segmentation fault.

Source: System V ABI, "Object Files", ELF-64.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from xtile.backends.machine_code import CodeFormat

MAGIC = b"\x7fELF\x02\x01"
"""What ELF files of 64 bits begin with whose numbers are little-endian."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_NOTE = struct.Struct("<III")
_NOTES, _NO_BITS = 7, 8
"""The types of a section with notes, and of one that has no bytes in the file."""


def find_damage(code: bytes, kind: CodeFormat) -> str | None:
    """What is wrong with machine code, for a message; None if all that it names is in it."""
    expected = f"expected {kind.an}, which is an ELF file for {kind.vendor.name}'s GPUs"
    if not code.startswith(MAGIC) or len(code) < _HEADER.size:
        return expected
    _, _, machine, _, _, segments, sections, _, _, *counts = _HEADER.unpack_from(code)
    if machine != kind.machine:
        return expected
    segment_size, segment_count, section_size, section_count, _ = counts
    tables = (
        (segments, segment_size, segment_count, _SEGMENT.size),
        (sections, section_size, section_count, _SECTION.size),
    )
    for start, size, count, expected in tables:
        if count and (size != expected or start + size * count > len(code)):
            return _cut_off(start + size * count, len(code), kind)
    ends = [
        *_ends_of_segments(code, segments, segment_count),
        *_ends_of_sections(code, sections, section_count),
    ]
    return _cut_off(max(ends), len(code), kind) if ends and max(ends) > len(code) else None


def notes(code: bytes, owner: str, type: int) -> Iterator[bytes]:
    """The contents of the notes of a whole file that have an owner and a type.

    Args:
        code: The file, in which nothing is damaged.
        owner: Who says what they mean.
        type: What they are.
    """
    *_, start, _, _, _, _, _, count, _ = _HEADER.unpack_from(code)
    for number in range(count):
        section = _SECTION.unpack_from(code, start + number * _SECTION.size)
        if section[1] == _NOTES:
            yield from _notes_in(code[section[4] : section[4] + section[5]], owner, type)


def _notes_in(data: bytes, owner: str, type: int) -> Iterator[bytes]:
    position = 0
    while position + _NOTE.size <= len(data):
        name_size, size, own_type = _NOTE.unpack_from(data, position)
        name = position + _NOTE.size
        content = name + name_size + -name_size % 4
        if own_type == type and data[name : name + name_size].rstrip(b"\0") == owner.encode():
            yield data[content : content + size]
        position = content + size + -size % 4


def _ends_of_segments(code: bytes, start: int, count: int) -> Iterator[int]:
    for number in range(count):
        _, _, offset, _, _, size, _, _ = _SEGMENT.unpack_from(code, start + number * _SEGMENT.size)
        yield offset + size


def _ends_of_sections(code: bytes, start: int, count: int) -> Iterator[int]:
    for number in range(count):
        section = _SECTION.unpack_from(code, start + number * _SECTION.size)
        _, type, _, _, offset, size, *_ = section
        yield offset + (0 if type == _NO_BITS else size)


def _cut_off(end: int, length: int, kind: CodeFormat) -> str:
    return f"the {kind.name} is damaged: it has {length} bytes, but names bytes up to {end}"
