"""The strings of a file, each once.

    String = count (varint), offsets (4 bytes each), characters

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, "String Section Management".
"""

from __future__ import annotations

from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader, write_table
from xtile.dialects.cuda_tile.bytecode.container import Entries, read_entries

_OFFSET_SIZE = 4


class StringWriter:
    """Collects strings in the order of their first use."""

    def __init__(self) -> None:
        self._indices: dict[str, int] = {}

    def index(self, text: str) -> int:
        """The number of a string."""
        return self._indices.setdefault(text, len(self._indices))

    def section(self) -> bytes:
        """The contents of the section."""
        out = bytearray()
        entries = [text.encode("utf-8", "surrogateescape") for text in self._indices]
        write_table(out, entries, _OFFSET_SIZE)
        return bytes(out)


class StringReader:
    """The strings of a section.

    Raises:
        DiagnosticError: The section is damaged.
    """

    def __init__(self, section: ByteReader) -> None:
        self._entries: Entries = read_entries(section, "strings", _OFFSET_SIZE, section.position)
        self._known: dict[int, str] = {}

    def get(self, reader: ByteReader) -> str:
        """Reads the number of a string, and returns the string.

        Raises:
            DiagnosticError: There is no such string, or it is no UTF-8.
        """
        start = reader.position
        index = reader.varint()
        known = self._known.get(index)
        if known is not None:
            return known
        count = len(self._entries.starts)
        if index >= count:
            raise reader.error(f"there is no string {index}; there are {count}", start)
        entry = self._entries.entry(index, "string")
        data = entry.data[entry.position : entry.end]
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError as error:
            position = entry.position + error.start
            raise entry.error(f"string {index} is no UTF-8", position) from None
        self._known[index] = text
        return text
