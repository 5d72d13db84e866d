"""Checks diagnostics against the expectations that a test file states in comments.

The comments are those of MLIR's `--verify-diagnostics`:

    // expected-error@+1 {{what the message contains}}
    // expected-warning {{on this line}} expected-note@-2 {{two lines above}}
    // expected-error@below {{on the next line that states no expectation}}
    // expected-error-re {{found {{[0-9]+}} operands}}
    // expected-error@+1 2 {{twice}}
    // expected-error@unknown {{without a place}}

In the tensor language's own text a comment begins with `;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.source import Source, Span

_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|note)(?P<regex>-re)?"
    r"[ \t]*(?:@(?P<place>[+-]\d+|above|below|unknown))?"
    r"[ \t]*(?P<count>\d+)?"
    r"[ \t]*\{\{(?P<text>(?:[^{}\n]|\{\{[^\n]*?\}\}|\{(?!\{)|\}(?!\}))*)\}\}"
)
_PATTERN_PART = re.compile(r"\{\{(.*?)\}\}")


@dataclass(slots=True)
class _Expectation:
    """One expected diagnostic; `line` is None where it has no place."""

    severity: Severity
    pattern: re.Pattern[str]
    text: str
    line: int | None
    missing: int
    span: Span

    def matches(self, diagnostic: Diagnostic, line: int | None) -> bool:
        """Whether this still expects `diagnostic`, which was reported at `line`."""
        return (
            self.missing > 0
            and self.severity is diagnostic.severity
            and self.line == line
            and self.pattern.search(diagnostic.message) is not None
        )


def check_expectations(
    source: Source, diagnostics: Iterable[Diagnostic], comment: str
) -> list[Diagnostic]:
    """Compares what was reported with what the comments of `source` expect.

    Args:
        source: The text with the expectations.
        diagnostics: What was reported; notes are compared on their own.
        comment: What begins a comment, `//` or `;`.

    Returns:
        An error for each unexpected diagnostic and for each expectation that was not met; an
        expectation that cannot be understood is an error too.
    """
    problems: list[Diagnostic] = []
    expectations = _expectations(source, comment, problems)
    for diagnostic in _with_notes(diagnostics):
        line = _line_of(diagnostic)
        expectation = next((e for e in expectations if e.matches(diagnostic, line)), None)
        if expectation is None:
            problems.append(_unexpected(diagnostic))
        else:
            expectation.missing -= 1
    for expectation in expectations:
        if expectation.missing > 0:
            problems.append(_unmet(expectation, source))
    return problems


def _expectations(source: Source, comment: str, problems: list[Diagnostic]) -> list[_Expectation]:
    """Returns the expectations in the comments; those that make no sense go to `problems`."""
    found: list[_Expectation] = []
    stating = {source.position(m.start())[0] for m in _matches(source, comment)}
    for match in _matches(source, comment):
        line, _ = source.position(match.start())
        span = Span(match.start(), match.end())
        text = match.group("text")
        try:
            pattern = _pattern(text) if match.group("regex") else re.compile(re.escape(text))
        except re.error as error:
            message = f"invalid regular expression: {error.msg}"
            problems.append(Diagnostic(Severity.ERROR, message, source, span))
            continue
        found.append(
            _Expectation(
                severity=Severity(match.group("severity")),
                pattern=pattern,
                text=text,
                line=_target_line(match.group("place"), line, stating),
                missing=int(match.group("count") or 1),
                span=span,
            )
        )
    return found


def _matches(source: Source, comment: str) -> Iterator[re.Match[str]]:
    """Yields each expectation that stands in a comment."""
    for match in _EXPECTATION.finditer(source.text):
        line_start = source.text.rfind("\n", 0, match.start()) + 1
        if source.text.find(comment, line_start, match.start()) >= 0:
            yield match


def _pattern(text: str) -> re.Pattern[str]:
    """Returns the pattern of `text`, in which regular expressions stand in `{{...}}`.

    Raises:
        re.error: A regular expression is invalid.
    """
    parts = _PATTERN_PART.split(text)
    literal, expressions = parts[::2], parts[1::2]
    pattern = re.escape(literal[0])
    for expression, following in zip(expressions, literal[1:], strict=True):
        pattern += f"(?:{expression}){re.escape(following)}"
    return re.compile(pattern)


def _target_line(place: str | None, line: int, stating: set[int]) -> int | None:
    """Returns the line that an expectation at `line` is about, or None for `@unknown`."""
    if place is None:
        return line
    if place == "unknown":
        return None
    if place not in ("above", "below"):
        return line + int(place)
    step = -1 if place == "above" else 1
    line += step
    while line in stating:
        line += step
    return line


def _with_notes(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yields each diagnostic and then its notes."""
    for diagnostic in diagnostics:
        yield diagnostic
        yield from _with_notes(diagnostic.notes)


def _line_of(diagnostic: Diagnostic) -> int | None:
    """Returns the line that a diagnostic begins at."""
    if diagnostic.source is None or diagnostic.span is None:
        return None
    return diagnostic.source.position(diagnostic.span.start)[0]


def _unexpected(diagnostic: Diagnostic) -> Diagnostic:
    """Returns the error for a diagnostic that no comment expects."""
    message = f"unexpected {diagnostic.severity.value}: {diagnostic.message}"
    return Diagnostic(Severity.ERROR, message, diagnostic.source, diagnostic.span)


def _unmet(expectation: _Expectation, source: Source) -> Diagnostic:
    """Returns the error for an expectation that nothing met, or not often enough."""
    times = f" {expectation.missing} more times" if expectation.missing > 1 else ""
    message = f'expected {expectation.severity.value} "{expectation.text}" was not produced{times}'
    return Diagnostic(Severity.ERROR, message, source, expectation.span)
