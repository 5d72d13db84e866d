"""Debug information from bytes; `debug_encoder.py` describes it.

Entries are read when they are asked for. What an entry is altogether is bounded, because entries
that name one another twice each would be more than any memory holds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FileLineColLoc,
    IntAttr,
    LocationAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute

from xtile.dialects.cuda_tile.bytecode.byte_streams import ByteReader
from xtile.dialects.cuda_tile.bytecode.container import Entries, read_entries
from xtile.dialects.cuda_tile.bytecode.debug_encoder import NUMBER_SIZE, OFFSET_SIZE
from xtile.dialects.cuda_tile.bytecode.string_table import StringReader
from xtile.dialects.cuda_tile.bytecode.tables import SUBPROGRAM_FLAGS_SINCE, DebugTag
from xtile.dialects.cuda_tile.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DILocAttr,
    DISubprogramAttr,
)
from xtile.dialects.cuda_tile.versions import Version

_AttributeT = TypeVar("_AttributeT", bound=Attribute)

_UNKNOWN = UnknownLoc()

MAXIMUM_DEPTH = 256
"""How deep scopes and calls may nest."""

MAXIMUM_SIZE = 10_000
"""How many entries one may consist of, each counted as often as it is named."""


class DebugReader:
    """The locations of a section.

    Args:
        section: The section; None if the file has none.
        strings: The file's strings.
        version: The file's version.

    Raises:
        DiagnosticError: The section is damaged.
    """

    def __init__(self, section: ByteReader | None, strings: StringReader, version: Version) -> None:
        self._strings = strings
        self._version = version
        self._starts: list[int] = []
        self._numbers: list[int] = []
        self._entries: Entries | None = None
        self._known: dict[int, tuple[Attribute, int]] = {}
        self._loading: set[int] = set()
        self._size = 0
        self._readers: dict[int, Callable[[ByteReader], Attribute]] = {
            DebugTag.UNKNOWN: _read_unknown,
            DebugTag.COMPILE_UNIT: self._read_compile_unit,
            DebugTag.FILE: self._read_file,
            DebugTag.LEXICAL_BLOCK: self._read_lexical_block,
            DebugTag.LOCATION: self._read_location,
            DebugTag.SUBPROGRAM: self._read_subprogram,
            DebugTag.CALL_SITE: self._read_call_site,
        }
        if section is not None:
            self._read_section(section)

    def _read_section(self, section: ByteReader) -> None:
        origin = section.position
        functions = section.count("functions", OFFSET_SIZE)
        section.align(OFFSET_SIZE, origin)
        self._starts = section.fixed_numbers(functions, OFFSET_SIZE)
        numbers = section.count("locations", NUMBER_SIZE)
        section.align(NUMBER_SIZE, origin)
        self._numbers = section.fixed_numbers(numbers, NUMBER_SIZE)
        self._entries = read_entries(section, "entries", OFFSET_SIZE, origin)

    def function(self, reader: ByteReader) -> FunctionLocations:
        """Reads the number of a function's list of locations.

        Raises:
            DiagnosticError: There is no such list.
        """
        start = reader.position
        number = reader.varint()
        if not number:
            return FunctionLocations(self, None)
        if number > len(self._starts):
            raise reader.error(
                f"there is no list of locations {number}; there are {len(self._starts)}", start
            )
        return FunctionLocations(self, self._starts[number - 1])

    def location(self, index: int, reader: ByteReader) -> LocationAttr:
        """The location at an index of the list of all locations.

        Raises:
            DiagnosticError: There is none, or it is damaged.
        """
        if index >= len(self._numbers):
            raise reader.error(f"the Debug section has no location {index} for what stands here")
        number = self._numbers[index]
        if not number:
            return _UNKNOWN
        known = self._known.get(number)
        attribute = self._load(number, reader) if known is None else known[0]
        if not isinstance(attribute, LocationAttr):
            raise reader.error(f"entry {number} of the Debug section is no location")
        return attribute

    def _load(self, number: int, reader: ByteReader) -> Attribute:
        """Reads an entry, and counts what it consists of."""
        known = self._known.get(number)
        if known is not None:
            self._size += known[1]
            return known[0]
        if self._entries is None or number > len(self._entries.starts):
            raise reader.error(f"there is no entry {number} in the Debug section")
        entry = self._entries.entry(number - 1, "entry")
        if number in self._loading:
            raise entry.error(f"entry {number} contains itself")
        if len(self._loading) == MAXIMUM_DEPTH:
            raise entry.error(f"entry {number} nests more than {MAXIMUM_DEPTH} deep")
        outside, self._size = self._size, 1
        self._loading.add(number)
        try:
            attribute = self._read(entry, number)
        except RecursionError:
            raise entry.error("entries nest too deeply for Python's stack") from None
        self._loading.remove(number)
        entry.expect_end(f"entry {number}")
        if self._size > MAXIMUM_SIZE:
            raise entry.error(f"entry {number} consists of more than {MAXIMUM_SIZE} entries")
        self._known[number] = (attribute, self._size)
        self._size += outside
        return attribute

    def _read(self, entry: ByteReader, number: int) -> Attribute:
        start = entry.position
        tag = entry.varint()
        read = self._readers.get(tag)
        if read is None:
            raise entry.error(f"entry {number} has the tag {tag}, which there is not", start)
        return read(entry)

    def _part(self, entry: ByteReader, kind: type[_AttributeT], what: str) -> _AttributeT:
        """Reads the number of another entry of a class.

        Raises:
            DiagnosticError: There is none, or it is of another class.
        """
        start = entry.position
        number = entry.varint()
        attribute = self._load(number, entry) if number else _UNKNOWN
        if not isinstance(attribute, kind):
            raise entry.error(f"expected {what}, got {attribute.name}", start)
        return attribute

    def _read_compile_unit(self, entry: ByteReader) -> Attribute:
        return DICompileUnitAttr(self._part(entry, DIFileAttr, "a file"))

    def _read_file(self, entry: ByteReader) -> Attribute:
        return DIFileAttr(self._string(entry), self._string(entry))

    def _read_lexical_block(self, entry: ByteReader) -> Attribute:
        scope = self._scope(entry)
        file = self._part(entry, DIFileAttr, "a file")
        return DILexicalBlockAttr(scope, file, _number(entry), _number(entry))

    def _read_location(self, entry: ByteReader) -> Attribute:
        scope = self._scope(entry)
        position = FileLineColLoc(self._string(entry), _number(entry), _number(entry))
        return DILocAttr(position, scope)

    def _read_subprogram(self, entry: ByteReader) -> Attribute:
        file = self._part(entry, DIFileAttr, "a file")
        line = _number(entry)
        name, linkage_name = self._string(entry), self._string(entry)
        unit = self._part(entry, DICompileUnitAttr, "a compile unit")
        scope_line = _number(entry)
        if self._version >= SUBPROGRAM_FLAGS_SINCE:
            start = entry.position
            flags = entry.varint()
            if flags:
                raise entry.error(f"the flags are {flags:#x}; none are known", start)
        return DISubprogramAttr(file, line, name, linkage_name, unit, scope_line)

    def _read_call_site(self, entry: ByteReader) -> Attribute:
        callee = self._location(entry)
        return CallSiteLoc(callee, self._location(entry))

    def _scope(self, entry: ByteReader) -> DISubprogramAttr | DILexicalBlockAttr:
        start = entry.position
        scope = self._part(entry, Attribute, "a scope")
        if not isinstance(scope, DISubprogramAttr | DILexicalBlockAttr):
            raise entry.error(f"expected a subprogram or a lexical block, got {scope.name}", start)
        return scope

    def _location(self, entry: ByteReader) -> LocationAttr:
        start = entry.position
        location = self._part(entry, Attribute, "a location")
        if not isinstance(location, LocationAttr):
            raise entry.error(f"expected a location, got {location.name}", start)
        return location

    def _string(self, entry: ByteReader) -> StringAttr:
        return StringAttr(self._strings.get(entry))


class FunctionLocations:
    """The locations of a function and its operations, one after the other.

    Args:
        debug: The locations of the file.
        index: Where those of the function begin; None if none is known.
    """

    def __init__(self, debug: DebugReader, index: int | None) -> None:
        self._debug = debug
        self._index = index

    def next(self, reader: ByteReader) -> LocationAttr:
        """The next location.

        Raises:
            DiagnosticError: There are no more, or it is damaged.
        """
        index = self._index
        if index is None:
            return _UNKNOWN
        self._index = index + 1
        return self._debug.location(index, reader)


def _number(entry: ByteReader) -> IntAttr:
    return IntAttr(entry.varint())


def _read_unknown(entry: ByteReader) -> Attribute:
    return _UNKNOWN
