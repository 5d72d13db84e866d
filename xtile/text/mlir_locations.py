"""Reads MLIR's locations, `loc(...)`, in all forms.

Source: MLIR, "Builtin Dialect", "Location Attributes".
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from typing_extensions import override
from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xtile.text.mlir_attributes import FileLineColRange
from xtile.text.mlir_literals import LiteralParser


def file_location(file: StringAttr, line: int, column: int) -> FileLineColLoc:
    """Returns a place in a file, counted from 1.

    Nothing can be wrong with it, so it is not verified as xDSL verifies each attribute that it
    makes: a text has one for each operation.
    """
    location = FileLineColLoc.__new__(FileLineColLoc)
    vars(location).update(filename=file, line=_number(line), column=_column(column))
    return location


def _number(value: int) -> IntAttr:
    number = IntAttr.__new__(IntAttr)
    vars(number)["data"] = value
    return number


_column = lru_cache(1024)(_number)
"""The number of a column, of which a text has few."""


class LocationParser(LiteralParser):
    """The parser of literals with all of MLIR's locations."""

    _location_end: int = -1
    """The offset after the newest location that stands by itself."""

    @override
    def parse_optional_location(self) -> LocationAttr | None:
        token = self._current_token
        # Nearly every operation comes here, and nearly none has a location.
        if token.kind is not MLIRTokenKind.BARE_IDENT or token.text != "loc":
            return None
        self._consume_token()
        self.parse_punctuation("(", " after 'loc'")
        location = self._parse_location()
        self.parse_punctuation(")", " after a location")
        self._location_end = self.previous_end
        return location

    @override
    def _parse_location(self) -> LocationAttr:
        start = self.pos
        if self._current_token.kind is MLIRTokenKind.HASH_IDENT:
            attribute = self.parse_attribute()
            if not isinstance(attribute, LocationAttr):
                message = "expected a location, but this is another attribute"
                self.raise_error(message, start, self.previous_end)
            return attribute
        if (name := self.parse_optional_str_literal()) is not None:
            return self._parse_named_location(name)
        if self.parse_optional_keyword("callsite") is not None:
            return self._parse_call_site()
        if self.parse_optional_keyword("fused") is not None:
            return self._parse_fused_location()
        if self.parse_optional_keyword("unknown") is None:
            message = (
                'expected a location: "file":line:column, "name", callsite(...), fused[...], '
                "unknown or an alias"
            )
            self.raise_error(message)
        return UnknownLoc()

    def _parse_named_location(self, name: str) -> LocationAttr:
        """Reads what follows a string: line and column in that file, or the child of a name."""
        if self.parse_optional_punctuation(":") is not None:
            return self._parse_file_location(StringAttr(name))
        if self.parse_optional_punctuation("(") is None:
            return NameLoc(StringAttr(name), NoneAttr())
        child = self._parse_location()
        self.parse_punctuation(")", " after the child of a location")
        return NameLoc(StringAttr(name), child)

    def _parse_file_location(self, name: StringAttr) -> LocationAttr:
        """Reads `line:column`, and `to line:column` or `to :column` if it is there."""
        line, column = self._parse_line(), self._parse_column()
        if self.parse_optional_keyword("to") is None:
            return FileLineColLoc(name, line, column)
        is_same_line = self._current_token.kind is MLIRTokenKind.COLON
        end_line = line if is_same_line else self._parse_line()
        end_column = self._parse_column()
        if (end_line, end_column) == (line, column):
            return FileLineColLoc(name, line, column)
        # MLIR's locations are ranges; xDSL's union of locations does not name them.
        return cast(LocationAttr, FileLineColRange(name, line, column, end_line, end_column))

    def _parse_line(self) -> IntAttr:
        return IntAttr(self.parse_integer(False, False, " for the line of a location"))

    def _parse_column(self) -> IntAttr:
        self.parse_punctuation(":", " before the column of a location")
        return IntAttr(self.parse_integer(False, False, " for the column of a location"))

    def _parse_call_site(self) -> CallSiteLoc:
        """Reads `(callee at caller)`."""
        self.parse_punctuation("(", " after 'callsite'")
        callee = self._parse_location()
        self.parse_keyword("at", " between callee and caller")
        caller = self._parse_location()
        self.parse_punctuation(")", " after the caller")
        return CallSiteLoc(callee, caller)

    def _parse_fused_location(self) -> LocationAttr:
        """Reads `<metadata>[location, ...]`."""
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">", " after the metadata of a location")
        locations = self.parse_comma_separated_list(self.Delimiter.SQUARE, self._parse_location)
        return _fused(locations, metadata)


def _fused(locations: Sequence[LocationAttr], metadata: Attribute) -> LocationAttr:
    """Fuses locations as MLIR does: each once, none that is unknown, and one as it is."""
    parts: dict[LocationAttr, None] = {}
    for location in locations:
        if isinstance(location, FusedLoc) and location.metadata == metadata:
            inner = cast(ArrayAttr[Attribute], location.locations)
            parts.update((cast(LocationAttr, part), None) for part in inner.data)
        elif not isinstance(location, UnknownLoc):
            parts[location] = None
    if not isinstance(metadata, NoneAttr):
        return FusedLoc(tuple(parts) or (UnknownLoc(),), metadata)
    if len(parts) < 2:
        return next(iter(parts), UnknownLoc())
    return FusedLoc(tuple(parts), metadata)
