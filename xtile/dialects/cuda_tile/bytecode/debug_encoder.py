"""Debug information as bytes: where operations come from, by function.

    Debug = functions (varint), where each one's numbers begin (4 bytes each),
            count of numbers (varint), numbers (8 bytes each),
            count of entries (varint), offsets (4 bytes each), entries

A function names its list of numbers, counted from 1; 0 is a function without locations. The list
has a number for the function and for each of its operations, those in regions after the operation
that has the region. It is the number of an entry, counted from 1; 0 is an unknown location.

A location in a file without a scope is not kept, because the format has none; with line
information the function becomes its scope, so that NVIDIA's tools name it. Names of locations are
left out then, and a call in no scope is at its line in the function.

Source: NVIDIA/cuda-tile 13.3.0, `BytecodeWriter.cpp`, "Debug Info Section Management"; for 13.5
the writer of cuda-tile 1.7.0.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    NameLoc,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation

from xtile.dialects.cuda_tile.bytecode.byte_streams import (
    align,
    write_offsets,
    write_table,
    write_varint,
)
from xtile.dialects.cuda_tile.bytecode.string_table import StringWriter
from xtile.dialects.cuda_tile.bytecode.tables import SUBPROGRAM_FLAGS_SINCE, DebugTag
from xtile.dialects.cuda_tile.bytecode.type_encoder import UnwritableError
from xtile.dialects.cuda_tile.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DILexicalBlockAttr,
    DILocAttr,
    DISubprogramAttr,
)
from xtile.dialects.cuda_tile.versions import Version
from xtile.text.diagnostics import error_at

OFFSET_SIZE = 4
NUMBER_SIZE = 8

_WITHOUT_LOCATION = (UnknownLoc, FileLineColLoc)
"""The locations that the format has not; a range in a file counts as a location in it."""


class DebugWriter:
    """Collects the locations of functions and of their operations.

    Args:
        strings: What collects strings.
        version: The version that is written.
        line_info: Whether locations in a file without a scope get the function as scope.
    """

    def __init__(self, strings: StringWriter, version: Version, line_info: bool = False) -> None:
        self._strings = strings
        self._version = version
        self._line_info = line_info
        self._scope: DISubprogramAttr | None = None
        self._functions: list[list[int]] = []
        self._numbers: dict[Attribute, int] = {}
        self._entries: list[Attribute] = []
        self._current: list[int] = []

    def begin_function(self, function: Operation) -> int:
        """Begins the list of a function, and returns its number; 0 if it needs none.

        Raises:
            DiagnosticError: The format has no such location.
        """
        self._scope = _scope_of(function) if self._line_info else None
        if not any(self._has_position(operation) for operation in function.walk()):
            return 0
        self._functions.append([])
        number = len(self._functions)
        self.continue_function(function, number)
        self.add_location(function)
        return number

    def continue_function(self, function: Operation, number: int) -> None:
        """Makes what follows belong to a function, whose list has a number."""
        self._scope = _scope_of(function) if self._line_info else None
        self._current = self._functions[number - 1] if number else []

    def _has_position(self, operation: Operation) -> bool:
        location = self._location_of(operation)
        if isinstance(location, FileLineColLoc):
            return self._scope is not None
        return not isinstance(location, UnknownLoc)

    def add_location(self, operation: Operation) -> None:
        """Adds where an operation comes from to the list.

        Raises:
            DiagnosticError: The format has no such location.
        """
        location = self._location_of(operation)
        if location.__class__ is UnknownLoc:
            self._current.append(0)
            return
        if isinstance(location, _WITHOUT_LOCATION):
            if self._scope is None or not isinstance(location, FileLineColLoc):
                self._current.append(0)
                return
            position = FileLineColLoc(location.filename, location.line, location.column)
            location = DILocAttr(position, self._scope)
        try:
            self._current.append(self._index(location))
        except UnwritableError as error:
            raise error_at(operation, str(error)) from None

    def _location_of(self, operation: Operation) -> Attribute:
        return _line_of(operation.location) if self._line_info else operation.location

    def section(self) -> bytes | None:
        """The contents of the section; None if no location is known."""
        if not self._functions:
            return None
        out = bytearray()
        write_varint(out, len(self._functions))
        align(out, OFFSET_SIZE)
        write_varint(out, write_offsets(out, map(len, self._functions), OFFSET_SIZE))
        align(out, NUMBER_SIZE)
        for function in self._functions:
            for number in function:
                out += number.to_bytes(NUMBER_SIZE, "little")
        # Further strings are collected here.
        write_table(out, [self._entry(attribute) for attribute in self._entries], OFFSET_SIZE)
        return bytes(out)

    def _index(self, attribute: Attribute) -> int:
        """The number of an entry; those that it names come before it."""
        known = self._numbers.get(attribute)
        if known is not None:
            return known
        if isinstance(attribute, _WITHOUT_LOCATION):
            return 0
        for part in _parts(attribute):
            self._index(part)
        self._entries.append(attribute)
        number = self._numbers[attribute] = len(self._entries)
        return number

    def _entry(self, attribute: Attribute) -> bytes:
        out = bytearray()
        match attribute:
            case DICompileUnitAttr():
                self._write(out, DebugTag.COMPILE_UNIT, attribute.file)
            case DIFileAttr():
                self._write(out, DebugTag.FILE, attribute.file_name.data, attribute.directory.data)
            case DILexicalBlockAttr():
                scope, file = attribute.scope, attribute.file
                line, column = attribute.line.data, attribute.column.data
                self._write(out, DebugTag.LEXICAL_BLOCK, scope, file, line, column)
            case DISubprogramAttr():
                self._write_subprogram(out, attribute)
            case DILocAttr():
                position = attribute.source_location
                name, line, column = (
                    position.filename.data,
                    position.line.data,
                    position.column.data,
                )
                self._write(out, DebugTag.LOCATION, attribute.scope, name, line, column)
            case _:
                callsite = cast("CallSiteLoc", attribute)
                self._write(out, DebugTag.CALL_SITE, callsite.callee, callsite.caller)
        return bytes(out)

    def _write_subprogram(self, out: bytearray, attribute: DISubprogramAttr) -> None:
        self._write(
            out,
            DebugTag.SUBPROGRAM,
            attribute.file,
            attribute.line.data,
            attribute.function_name.data,
            attribute.linkage_name.data,
            attribute.compile_unit,
            attribute.scope_line.data,
        )
        if self._version >= SUBPROGRAM_FLAGS_SINCE:
            out.append(0)

    def _write(self, out: bytearray, tag: DebugTag, *values: Attribute | str | int) -> None:
        """Writes a tag, and entries and strings by their numbers."""
        out.append(tag)
        for value in values:
            if isinstance(value, Attribute):
                value = self._index(value)
            elif isinstance(value, str):
                value = self._strings.index(value)
            write_varint(out, value)


def _scope_of(function: Operation) -> DISubprogramAttr | None:
    """The function as the scope of locations in its text; None if its own location is not known."""
    location, name = _line_of(function.location), function.properties.get("sym_name")
    if not isinstance(location, FileLineColLoc) or not isinstance(name, StringAttr):
        return None
    directory, _, file_name = location.filename.data.rpartition("/")
    file = DIFileAttr(StringAttr(file_name), StringAttr(directory))
    line = location.line
    return DISubprogramAttr(file, line, name, name, DICompileUnitAttr(file), line)


def _line_of(location: Attribute) -> Attribute:
    """A location in a file, or one that the format has; of several that are fused the first."""
    match location:
        # First, because it counts as an instance of CallSiteLoc, too.
        case DILocAttr():
            return location
        case NameLoc():
            return _line_of(location.location)
        case FusedLoc():
            locations = cast("ArrayAttr[Attribute]", location.locations)
            return _line_of(locations.data[0]) if locations.data else UnknownLoc()
        case CallSiteLoc() if not isinstance(_line_of(location.callee), DILocAttr | CallSiteLoc):
            return _line_of(location.caller)
        case FileLineColLoc() | CallSiteLoc():
            return location
        case _:
            return UnknownLoc()


def _parts(attribute: Attribute) -> tuple[Attribute, ...]:
    """The entries that one names, in the order in which they are collected.

    Raises:
        UnwritableError: The format has no such location.
    """
    match attribute:
        case DIFileAttr():
            return ()
        case DICompileUnitAttr():
            return (attribute.file,)
        case DILexicalBlockAttr():
            return (attribute.scope, attribute.file)
        case DISubprogramAttr():
            return (attribute.file, attribute.compile_unit)
        case DILocAttr():
            return (attribute.scope,)
        case CallSiteLoc():
            return (attribute.callee, attribute.caller)
        case _:
            raise UnwritableError(
                f"the bytecode has no location such as {attribute}; expected a di_loc, or a "
                "callsite of such"
            )
