"""Whether a cubin is a whole ELF file for NVIDIA's GPUs.

The driver believes what the headers of a cubin say of the locations in it, and reads beyond the
end of one that was cut off: driver 580 ends the process with a segmentation fault.

Source: System V ABI, "Object Files", ELF-64; the machine 190 is EM_CUDA.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

MAGIC = b"\x7fELF\x02\x01"
"""What ELF files of 64 bits begin with whose numbers are little-endian."""

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_CUDA = 190
_NO_BITS = 8
"""The type of a section that has no bytes in the file."""


def find_damage(code: bytes) -> str | None:
    """What is wrong with a cubin, in words for a message; None if all that it names is in it."""
    if not code.startswith(MAGIC) or len(code) < _HEADER.size:
        return "expected a cubin, which is an ELF file for NVIDIA's GPUs"
    _, _, machine, _, _, segments, sections, _, _, *counts = _HEADER.unpack_from(code)
    if machine != _CUDA:
        return "expected a cubin, which is an ELF file for NVIDIA's GPUs"
    segment_size, segment_count, section_size, section_count, _ = counts
    tables = (
        (segments, segment_size, segment_count, _SEGMENT.size),
        (sections, section_size, section_count, _SECTION.size),
    )
    for start, size, count, expected in tables:
        if count and (size != expected or start + size * count > len(code)):
            return _cut_off(start + size * count, len(code))
    ends = [
        *_ends_of_segments(code, segments, segment_count),
        *_ends_of_sections(code, sections, section_count),
    ]
    return _cut_off(max(ends), len(code)) if ends and max(ends) > len(code) else None


def _ends_of_segments(code: bytes, start: int, count: int) -> Iterator[int]:
    for number in range(count):
        _, _, offset, _, _, size, _, _ = _SEGMENT.unpack_from(code, start + number * _SEGMENT.size)
        yield offset + size


def _ends_of_sections(code: bytes, start: int, count: int) -> Iterator[int]:
    for number in range(count):
        section = _SECTION.unpack_from(code, start + number * _SECTION.size)
        _, type, _, _, offset, size, *_ = section
        yield offset + (0 if type == _NO_BITS else size)


def _cut_off(end: int, length: int) -> str:
    return f"the cubin is damaged: it has {length} bytes, but names bytes up to {end}"
