"""Source text, and the locations in it that operations and values came from."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Block, Operation, SSAValue

_SOURCE_ATTRIBUTE = "_xtile_source"

SPIRV_MAGIC = b"\x03\x02\x23\x07"
"""What a file of SPIR-V begins with."""

TILE_MAGIC = b"\x7fTileIR\x00"
"""What a file of CUDA Tile bytecode begins with."""

_NAME = re.compile(r'"?([A-Za-z_][\w.]*)')
"""An operation's name, in quotes in MLIR's generic form."""


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range `[start, end)` of character offsets in one source."""

    start: int
    end: int


class Source:
    """One text with a name, and the spans that a reader recorded in it.

    Offsets count characters of `text` from 0. Lines and columns count from 1.
    A line ends at a line feed; a carriage return before it belongs to the line end.

    Args:
        name: What messages call the text: a path, or for example `<stdin>`.
        text: The text itself.
        first_line: The number of the text's first line. It is larger than 1 for a text that was
            cut out of a larger file, so that messages show the line of that file.
    """

    def __init__(self, name: str, text: str, first_line: int = 1) -> None:
        self.name = name
        self.text = text
        self.first_line = first_line
        self.data: bytes | None = None
        """The bytes of a file that is no text; offsets count bytes then."""
        self.parts: list[tuple[Span, str]] = []
        """Where the parts of such a file are, and what messages call them."""
        self._line_starts: array[int] | None = None
        # Plain integers, because a Span object for each operand of 100,000 operations would cost
        # more memory than the operations' own locations.
        self._spans: dict[Operation | SSAValue, tuple[int, ...]] = {}
        self.names: dict[SSAValue, str] = {}
        """Names that a value has in the text and that its name hint cannot hold."""
        self.incomplete: set[Block] = set()
        """Blocks that lost instructions to syntax errors."""

    @classmethod
    def from_binary(cls, name: str, data: bytes) -> Source:
        """A file of bytes, which has no text to show."""
        source = cls(name, "")
        source.data = data
        return source

    def byte_position(self, offset: int) -> str:
        """What messages call a byte of a file that is no text."""
        for part, name in self.parts:
            if part.start <= offset < part.end:
                return f"byte {offset} ({name})"
        return f"byte {offset}"

    def position(self, offset: int) -> tuple[int, int]:
        """Returns the line and the column of a character offset, both counted from 1."""
        offset = min(max(offset, 0), len(self.text))
        starts = self._starts()
        index = bisect_right(starts, offset) - 1
        return index + self.first_line, offset - starts[index] + 1

    def offset(self, line: int, column: int) -> int | None:
        """Returns the offset of a line and a column, or None if there is no such location."""
        index = line - self.first_line
        if not 0 <= index < len(self._starts()):
            return None
        span = self.line_range(line)
        offset = span.start + column - 1
        return offset if span.start <= offset <= span.end else None

    def line_range(self, line: int) -> Span:
        """Returns the characters of a line without its line end.

        Raises:
            IndexError: The text has no such line.
        """
        starts = self._starts()
        index = line - self.first_line
        if not 0 <= index < len(starts):
            raise IndexError(f"{self.name} has no line {line}")
        start = starts[index]
        end = starts[index + 1] - 1 if index + 1 < len(starts) else len(self.text)
        if end > start and self.text[end - 1] == "\r":
            end -= 1
        return Span(start, end)

    def line_text(self, line: int) -> str:
        """Returns a line without its line end.

        Raises:
            IndexError: The text has no such line.
        """
        span = self.line_range(line)
        return self.text[span.start : span.end]

    def record(self, item: Operation | SSAValue, offsets: tuple[int, ...]) -> None:
        """Remembers where an operation and its operands, or where a value, stand in the text.

        Args:
            item: The operation or the value.
            offsets: Where it begins and ends, and then where each operand does.
        """
        self._spans[item] = offsets

    def record_copy(self, original: Operation, copy: Operation) -> None:
        """Gives a copy, and the operations in it, the locations of the original."""
        for before, after in zip(original.walk(), copy.walk(), strict=True):
            if before in self._spans:
                self._spans[after] = self._spans[before]

    def span_of(self, item: Operation | SSAValue) -> Span | None:
        """Returns the recorded location of an operation or a value, or None."""
        offsets = self._spans.get(item)
        return None if offsets is None else Span(offsets[0], offsets[1])

    def operand_span(self, operation: Operation, index: int) -> Span | None:
        """Returns the recorded location of an operation's operand `index`, or None."""
        offsets = self._spans.get(operation, ())
        first = 2 + 2 * index
        if index < 0 or first + 1 >= len(offsets):
            return None
        return Span(offsets[first], offsets[first + 1])

    def _starts(self) -> array[int]:
        """Returns the offset of each line's first character, found once."""
        if self._line_starts is None:
            starts = array("Q", [0])
            find = self.text.find
            newline = find("\n")
            while newline >= 0:
                starts.append(newline + 1)
                newline = find("\n", newline + 1)
            self._line_starts = starts
        return self._line_starts


def attach_source(module: Operation, source: Source) -> None:
    """Keeps `source` with `module`, so that later errors can show the text.

    The source refers to the module's operations. A weak table keyed by the module would therefore
    never let go of it, while an attribute is an ordinary cycle that Python collects.
    """
    setattr(module, _SOURCE_ATTRIBUTE, source)


def source_of(module: Operation) -> Source | None:
    """Returns the source that was attached to `module`, or None."""
    source = getattr(module, _SOURCE_ATTRIBUTE, None)
    return source if isinstance(source, Source) else None


def span_of(operation: Operation, source: Source | None) -> Span | None:
    """Returns where an operation stands in `source`.

    That is its recorded span; else, for an operation that a pass made and gave the location of
    the one before it, the rest of the line from that location; else the location of the operation
    around it. None if none of these is known.
    """
    if source is None:
        return None
    current: Operation | None = operation
    while current is not None:
        span = source.span_of(current) or _span_of_location(current, source)
        if span is not None:
            return span
        current = current.parent_op()
    return None


def spelling_of(operation: Operation) -> str:
    """Returns the name of an operation as the text spells it that it came from.

    An operation that a pass made of another one has that one's location, so what comes out is the
    word that the author wrote: `subgroup_local_id`, and not `gpu.lane_id`. Where the text is not
    known, it is the operation's own name.
    """
    module = operation
    while (parent := module.parent_op()) is not None:
        module = parent
    source = source_of(module)
    span = None if source is None else _span_of_location(operation, source)
    if source is None or span is None:
        return operation.name
    word = _NAME.match(source.text, span.start, span.end)
    return operation.name if word is None else word[1]


def _span_of_location(operation: Operation, source: Source) -> Span | None:
    """Returns the rest of the line from an operation's location, if that is in `source`."""
    from xdsl.dialects.builtin import FileLineColLoc

    location = operation.location
    if not isinstance(location, FileLineColLoc) or location.filename.data != source.name:
        return None
    start = source.offset(location.line.data, location.column.data)
    if start is None:
        return None
    line = source.line_range(location.line.data)
    text = source.text[start : line.end]
    return Span(start, start + max(len(text.rstrip()), 1))


def with_body(
    module: ModuleOp, body: Block, attributes: Mapping[str, Attribute] | None = None
) -> ModuleOp:
    """A module with another body and the same source, and with its attributes or with others."""
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Region

    given = module.attributes if attributes is None else attributes
    result, source = ModuleOp(Region(body), dict(given)), source_of(module)
    if source is not None:
        attach_source(result, source)
    return result


def clone_with_source(module: ModuleOp) -> ModuleOp:
    """A copy of a module, with the names of its values and the locations of both in the text."""
    from xtile.text.value_names import clone_with_names

    copy, source = clone_with_names(module), source_of(module)
    if source is not None:
        attach_source(copy, source)
        source.record_copy(module, copy)
    return copy
