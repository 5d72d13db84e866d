"""Errors, warnings and notes about a source text, and how they are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from xtile.text.source import Source, Span, source_of, span_of

if TYPE_CHECKING:
    from xdsl.ir import Operation

MAXIMUM_MESSAGE_LENGTH = 2000
"""A longer message is cut; it can only come from a huge token or type in the text."""

MAXIMUM_LINE_LENGTH = 160
"""A longer source line is shown as a window of this many characters around the span."""

_WINDOW_BEFORE_SPAN = 40
_ELLIPSIS = "..."

_BOLD = "\x1b[1m"
_GREEN = "\x1b[1;32m"
_RESET = "\x1b[0m"


class Severity(Enum):
    """How grave a diagnostic is; the value is the word that is printed."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"
    NOTE = "note"


_COLORS = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;35m",
    Severity.REMARK: "\x1b[1;34m",
    Severity.NOTE: "\x1b[1;36m",
}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message about a location in a source.

    Attributes:
        severity: Error, warning, remark or note.
        message: What is wrong and what would be right; without a final full stop or line end.
        source: The text that the message is about; None if there is none.
        span: The location in `source`; None if the message is about the whole of it.
        notes: Further locations that explain this one, shown below it.
    """

    severity: Severity
    message: str
    source: Source | None
    span: Span | None
    notes: tuple[Diagnostic, ...] = ()

    def render(self, colored: bool = False) -> str:
        """Returns the message, the source line and an underline, without a final line end.

        The form is `file:6.8-23: error: message`. Lines and columns count from 1 and the last
        column belongs to the span. A span of one column is shown as `6.8` and one over several
        lines as `6.8-7.3`; such a span is underlined to the end of its first line.

        A location in a file of bytes is the number of its first byte: `file: error: byte 9:
        message`.

        Args:
            colored: Whether to add terminal colours.
        """
        paint = _COLORS[self.severity] if colored else ""
        bold, reset = (_BOLD, _RESET) if colored else ("", "")
        message = _printable(shorten(self.message, MAXIMUM_MESSAGE_LENGTH))
        source, span = self.source, self.span
        if source is not None and source.data is not None and span is not None:
            message = f"{source.byte_position(span.start)}: {message}"
            span = None
        position = _position(source, span)
        lines = [
            f"{bold}{position}{reset}{paint}{self.severity.value}: {reset}{bold}{message}{reset}"
        ]
        if source is not None and span is not None:
            lines += _excerpt(source, span, colored)
        lines += [note.render(colored) for note in self.notes]
        return "\n".join(lines)


def words_of(diagnostic: Diagnostic) -> dict[str, Any]:
    """A diagnostic as JSON holds it.

    Lines and columns count from 1; the end is the first column behind the span. They are null where
    the message is about a whole file, and so is the file where it is about none.
    """
    source, span = diagnostic.source, diagnostic.span
    is_text = source is not None and source.data is None
    start = end = (None, None)
    if source is not None and span is not None and is_text:
        start, end = source.position(span.start), source.position(span.end)
    return {
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "file": None if source is None else source.name,
        "line": start[0],
        "column": start[1],
        "end_line": end[0],
        "end_column": end[1],
        "notes": [words_of(note) for note in diagnostic.notes],
    }


class SourceWarning(UserWarning):
    """A kernel is accepted or was run, but something in it should change."""


class DiagnosticError(Exception):
    """Input was wrong. `str` of the error is every diagnostic as it is shown to a user.

    Attributes:
        diagnostics: What is wrong, in source order.
    """

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(diagnostics)
        self.diagnostics = list(diagnostics)

    def __str__(self) -> str:
        return "\n".join(diagnostic.render() for diagnostic in self.diagnostics)


def error_at(operation: Operation, message: str) -> DiagnosticError:
    """An error at an operation, at its place in the source if that is known."""
    root = operation
    while (around := root.parent_op()) is not None:
        root = around
    source = source_of(root)
    return DiagnosticError(
        [Diagnostic(Severity.ERROR, message, source, span_of(operation, source))]
    )


class Diagnostics:
    """Collects diagnostics, so that one run can report every mistake of a file.

    Args:
        limit: How many errors are kept; the further ones are only counted. None keeps all.
    """

    def __init__(self, limit: int | None = 100) -> None:
        self.limit = limit
        self._kept: dict[Diagnostic, None] = {}
        self._error_count = 0
        self._left_out = 0
        self._last_source: Source | None = None

    def add(self, diagnostic: Diagnostic) -> None:
        """Keeps a diagnostic unless it was seen before or the limit of errors is reached."""
        if diagnostic in self._kept:
            return
        if diagnostic.severity is Severity.ERROR:
            if self.is_full:
                self._left_out += 1
                self._last_source = diagnostic.source
                return
            self._error_count += 1
        self._kept[diagnostic] = None

    def error(
        self,
        source: Source | None,
        span: Span | None,
        message: str,
        notes: Sequence[Diagnostic] = (),
    ) -> None:
        """Adds an error at `span` of `source`."""
        self.add(Diagnostic(Severity.ERROR, message, source, span, tuple(notes)))

    def warning(
        self,
        source: Source | None,
        span: Span | None,
        message: str,
        notes: Sequence[Diagnostic] = (),
    ) -> None:
        """Adds a warning at `span` of `source`."""
        self.add(Diagnostic(Severity.WARNING, message, source, span, tuple(notes)))

    def note(self, source: Source | None, span: Span | None, message: str) -> None:
        """Adds a note at `span` of `source`."""
        self.add(Diagnostic(Severity.NOTE, message, source, span))

    @property
    def has_errors(self) -> bool:
        """Whether any error was added."""
        return self._error_count > 0

    @property
    def is_full(self) -> bool:
        """Whether the limit of errors is reached, so that a reader may as well stop."""
        return self.limit is not None and self._error_count >= self.limit

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors that were kept, in source order."""
        return [d for d in self.sorted() if d.severity is Severity.ERROR]

    def sorted(self) -> list[Diagnostic]:
        """Returns all diagnostics in source order without duplicates.

        Sources keep the order in which they first appeared. What has no location comes after what
        has one. If errors were left out, a note at the end says how many.
        """
        ranks: dict[Source | None, int] = {}
        for diagnostic in self._kept:
            ranks.setdefault(diagnostic.source, len(ranks))
        ordered = sorted(self._kept, key=lambda d: _order(d, ranks))
        if self._left_out:
            message = f"too many errors; {self._left_out} more are not shown"
            ordered.append(Diagnostic(Severity.NOTE, message, self._last_source, None))
        return ordered

    def render(self, colored: bool = False) -> str:
        """Returns all diagnostics as text, in source order, without a final line end."""
        return "\n".join(diagnostic.render(colored) for diagnostic in self.sorted())

    def raise_if_errors(self) -> None:
        """Raises everything that was collected, if an error is among it.

        Raises:
            DiagnosticError: At least one error was added.
        """
        if self.has_errors:
            raise DiagnosticError(self.sorted())

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.sorted())

    def __len__(self) -> int:
        return len(self._kept)


def shorten(text: str, limit: int) -> str:
    """Returns `text`, or its beginning and `...` if it has more than `limit` characters."""
    if len(text) <= limit:
        return text
    return text[: max(limit - len(_ELLIPSIS), 0)] + _ELLIPSIS


def _order(diagnostic: Diagnostic, ranks: dict[Source | None, int]) -> tuple[int, bool, int]:
    """Returns the sorting key of a diagnostic: its source, then its place."""
    span = diagnostic.span
    return ranks[diagnostic.source], span is None, 0 if span is None else span.start


def _position(source: Source | None, span: Span | None) -> str:
    """Returns the beginning of a message up to the severity, such as `file.ir:6.8-23: `."""
    if source is None:
        return ""
    if span is None:
        return f"{source.name}: "
    line, column = source.position(span.start)
    last_line, last_column = source.position(max(span.start, span.end - 1))
    position = f"{source.name}:{line}.{column}"
    if last_line > line:
        return f"{position}-{last_line}.{last_column}: "
    if last_column > column:
        return f"{position}-{last_column}: "
    return f"{position}: "


def _excerpt(source: Source, span: Span, colored: bool) -> list[str]:
    """Returns the first line of the span, cut to a window, and the underline below it."""
    line_number, _ = source.position(span.start)
    line = source.line_range(line_number)
    start = min(max(span.start, line.start), line.end)
    end = min(max(span.end, start), line.end)
    window = _window(line, start)
    end = min(end, window.end)
    head = _ELLIPSIS if window.start > line.start else ""
    tail = _ELLIPSIS if window.end < line.end else ""
    text = _printable(source.text[window.start : window.end])
    before = text[: start - window.start]
    marked = text[start - window.start : end - window.start]
    underline = _underline(marked)
    if colored:
        underline = f"{_GREEN}{underline}{_RESET}"
    return [f"{head}{text}{tail}", f"{_blank(head + before)}{underline}"]


def _window(line: Span, start: int) -> Span:
    """Returns the part of a line to show, with the span's start inside it."""
    if line.end - line.start <= MAXIMUM_LINE_LENGTH:
        return line
    first = max(line.start, start - _WINDOW_BEFORE_SPAN)
    return Span(first, min(line.end, first + MAXIMUM_LINE_LENGTH))


def _printable(text: str) -> str:
    """Returns `text` with control characters replaced, so that a terminal stays as it is."""
    if text.isprintable():
        return text
    return "".join(
        c if c in "\t\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def _blank(text: str) -> str:
    """Returns white space as wide as `text`; tabs stay, because their width is the terminal's."""
    return "".join("\t" if c == "\t" else " " for c in text)


def _underline(marked: str) -> str:
    """Returns the underline of the marked text; an empty location is marked by one `~`."""
    underline = "".join("\t" if c == "\t" else "~" for c in marked)
    return underline if "~" in underline else "~"
