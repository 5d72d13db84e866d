"""The header and the sections of a file.

    file     = magic, major (1 byte), minor (1 byte), tag (2 bytes), section ..., 0
    section  = number with the bit 0x80 if it is aligned (1 byte), length (varint),
               alignment (varint) and padding if it is aligned, contents

Padding counts from the beginning of the file before a section, and within a section from the
beginning of its contents.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, "Bytecode Format Overview".
"""

from __future__ import annotations

from typing import NamedTuple

from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader, align, write_varint
from xtile.dialects.cuda_tile.bytecode.tables import (
    ALIGNED,
    HEADER_BYTES,
    MAGIC,
    MANDATORY_SECTIONS,
    SECTION_ALIGNMENTS,
    SECTION_NAMES,
    Section,
)
from xtile.dialects.cuda_tile.versions import VERSIONS, Version
from xtile.text.source import Source, Span

_HEADER = "header"


class Container(NamedTuple):
    """A file cut into its sections."""

    version: Version
    sections: dict[Section, ByteReader]


class Entries(NamedTuple):
    """What a table of a section holds, as the locations where entries begin and end."""

    reader: ByteReader
    starts: list[int]
    end: int

    def entry(self, index: int, what: str) -> ByteReader:
        """What reads one entry.

        Raises:
            DiagnosticError: The entry ends before it begins, or after the section.
        """
        reader = self.reader
        start = self.starts[index]
        end = self.starts[index + 1] if index + 1 < len(self.starts) else self.end
        if not start <= end <= self.end:
            raise reader.error(f"{what} {index} has {end - start} bytes", min(start, self.end))
        return ByteReader(reader.source, reader.data, start, end, reader.section)


def read_container(data: bytes, source: Source) -> Container:
    """Reads the header, and where the sections are.

    Raises:
        DiagnosticError: The data is no bytecode, of a version that is not known, or damaged.
    """
    reader = ByteReader(source, data, 0, len(data), _HEADER)
    version = _read_header(reader)
    sections: dict[Section, ByteReader] = {}
    while (section := _read_section(reader)) is not None:
        number, contents = section
        if number in sections:
            raise reader.error("there is a second section of this kind", contents.position)
        sections[number] = contents
        reader.section = _HEADER
    for number in MANDATORY_SECTIONS:
        if number not in sections:
            raise reader.error(f"there is no {SECTION_NAMES[number]} section")
    return Container(version, sections)


def _read_header(reader: ByteReader) -> Version:
    found = reader.data[: len(MAGIC)]
    if found != MAGIC:
        raise reader.error(f"CUDA Tile bytecode begins with {MAGIC!r}, got {found!r}")
    if len(reader.data) < HEADER_BYTES:
        raise reader.error("the file ends before the version", len(reader.data))
    reader.skip(len(MAGIC))
    version = Version(reader.byte(), reader.byte())
    if version not in VERSIONS:
        known = ", ".join(map(str, VERSIONS))
        raise reader.error(f"the version is {version}, which is none of {known}", len(MAGIC))
    start = reader.position
    tag = reader.fixed(2)
    if tag:
        raise reader.error(f"the version has the tag {tag:#x} of a preview; expected 0", start)
    return version


def _read_section(reader: ByteReader) -> tuple[Section, ByteReader] | None:
    start = reader.position
    tagged = reader.byte()
    number = tagged & ~ALIGNED
    if number == Section.END:
        if tagged & ALIGNED:
            raise reader.error("the end has no alignment", start)
        reader.expect_end("the file")
        return None
    if number not in SECTION_ALIGNMENTS:
        raise reader.error(f"there is no section with the number {number}", start)
    section = Section(number)
    reader.section = SECTION_NAMES[section]
    length = reader.varint()
    alignment = _read_alignment(reader) if tagged & ALIGNED else 1
    if alignment % SECTION_ALIGNMENTS[section]:
        required = SECTION_ALIGNMENTS[section]
        raise reader.error(f"expected an alignment of {required} bytes, got {alignment}", start)
    if length > reader.remaining:
        raise reader.error(
            f"the section is said to have {length} bytes, but only {reader.remaining} are left",
            start,
        )
    contents = reader.part(length)
    reader.source.parts.append((Span(contents.position, contents.end), SECTION_NAMES[section]))
    return section, contents


def _read_alignment(reader: ByteReader) -> int:
    start = reader.position
    alignment = reader.varint()
    if alignment == 0 or alignment & (alignment - 1):
        raise reader.error(f"an alignment is a power of two, got {alignment}", start)
    reader.align(alignment, 0)
    return alignment


def read_entries(reader: ByteReader, what: str, offset_size: int, origin: int) -> Entries:
    """Reads how many entries a table has, and where they begin.

    Args:
        reader: At the table.
        what: What the entries are, in the plural.
        offset_size: How many bytes an offset has.
        origin: Where the section's contents begin.

    Raises:
        DiagnosticError: The rest of the section cannot hold them.
    """
    count = reader.count(what, offset_size)
    if not count:
        return Entries(reader, [], reader.position)
    reader.align(offset_size, origin)
    offsets = reader.fixed_numbers(count, offset_size)
    base = reader.position
    return Entries(reader, [base + offset for offset in offsets], reader.end)


def write_header(version: Version) -> bytearray:
    """The beginning of a file."""
    return bytearray(MAGIC + bytes((*version, 0, 0)))


def write_section(out: bytearray, section: Section, contents: bytes) -> None:
    """Writes a section with what stands before its contents."""
    alignment = SECTION_ALIGNMENTS[section]
    out.append(section | (ALIGNED if alignment > 1 else 0))
    write_varint(out, len(contents))
    if alignment > 1:
        write_varint(out, alignment)
        align(out, alignment)
    out += contents
