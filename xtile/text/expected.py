"""Checks diagnostics against the expectations that a test file states in comments.

The comments are those of MLIR's `--verify-diagnostics`:

    // expected-error@+1 {{what the message contains}}
    // expected-warning {{on this line}} expected-note@-2 {{two lines above}}
    // expected-error@below {{on the next line that states no expectation}}
    // expected-error-re {{found {{[0-9]+}} operands}}
    // expected-error@+1 2 {{twice}}
    // expected-error@unknown {{without a location}}

In the tensor language's own text a comment begins with `;`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.source import Source, Span

_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|note)(?P<regex>-re)?"
    r"[ \t]*(?:@(?P<position>[+-]\d+|above|below|unknown))?"
    r"[ \t]*(?P<count>\d+)?"
    r"[ \t]*\{\{(?P<text>(?:[^{}\n]|\{\{[^\n]*?\}\}|\{(?!\{)|\}(?!\}))*)\}\}"
)
_WORDS = tuple(
    f"expected-{severity.value}{suffix}" for severity in Severity for suffix in ("", "-re")
)
# A word, or two, with which somebody could have meant an expectation, and whether its place or
# text follows. It takes no characters, so that the second of three words is looked at, too.
_LOOKALIKE = re.compile(
    r"(?<![A-Za-z])(?=(?P<word>[A-Za-z]++[-_ ][A-Za-z]++(?:[-_]re)?+)(?![\w-])"
    r"(?P<goes_on>[ \t]*(?:\d+[ \t]*)?[@{])?)"
)
_POSITION = re.compile(r"[ \t]*@(?P<position>[^\s{]*)")
_KNOWN_POSITION = re.compile(r"[+-]\d+|above|below|unknown")
_COUNT = re.compile(r"[ \t]*\d*[ \t]*")
_PATTERN_PART = re.compile(r"\{\{(.*?)\}\}")


@dataclass(slots=True)
class _Expectation:
    """One expected diagnostic; `line` is None where it has no location."""

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
    problems += _malformed(source, comment)
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


def expected_error_lines(source: Source, comment: str) -> list[int | None]:
    """Returns the line of every error that the comments of `source` expect; None has no location.

    Args:
        source: The text with the expectations.
        comment: What begins a comment, `//` or `;`.
    """
    return [
        expectation.line
        for expectation in _expectations(source, comment, [])
        if expectation.severity is Severity.ERROR
    ]


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
                line=_target_line(match.group("position"), line, stating),
                missing=int(match.group("count") or 1),
                span=span,
            )
        )
    return found


def _matches(source: Source, comment: str) -> Iterator[re.Match[str]]:
    """Yields each expectation that stands in a comment."""
    for match in _EXPECTATION.finditer(source.text):
        if comment in _line_before(source.text, match.start()):
            yield match


def _line_before(text: str, position: int) -> str:
    """The part of a line before a location."""
    return text[text.rfind("\n", 0, position) + 1 : position]


def _malformed(source: Source, comment: str) -> Iterator[Diagnostic]:
    """Yields an error for each part of a comment that is meant as an expectation, but is none."""

    def without_text(match: re.Match[str]) -> str:
        """After an expectation another may follow, as at the beginning of a comment."""
        is_stated = comment in _line_before(source.text, match.start())
        return comment.ljust(len(match[0])) if is_stated else match[0]

    text = _EXPECTATION.sub(without_text, source.text)
    for match in _LOOKALIKE.finditer(text):
        if _is_meant(match, comment):
            end = text.find("\n", match.start())
            end = len(text) if end < 0 else end
            message = _what_is_wrong(match["word"], text[match.end("word") : end])
            yield Diagnostic(Severity.ERROR, message, source, Span(match.start(), end))


def _is_meant(lookalike: re.Match[str], comment: str) -> bool:
    """Whether a lookalike is meant as an expectation, and is no prose."""
    word, goes_on = lookalike["word"], lookalike["goes_on"] is not None
    if word not in _WORDS and not goes_on:
        return False
    before = _line_before(lookalike.string, lookalike.start())
    is_first = before.rstrip(" \t").endswith(comment)
    if word in _WORDS:
        return is_first or (goes_on and comment in before)
    return is_first and _similar(word) is not None


def _similar(word: str) -> str | None:
    """The word of an expectation that `word` could be a misspelling of."""
    return next(iter(get_close_matches(word.lower(), _WORDS, 1, 0.75)), None)


def _what_is_wrong(word: str, rest: str) -> str:
    """Says why a word and the `rest` of its line are no expectation."""
    if word not in _WORDS:
        return f"'{word}' states no expectation; did you mean '{_similar(word)}'?"
    position = _POSITION.match(rest)
    if position is not None and _KNOWN_POSITION.fullmatch(position["position"]) is None:
        return (
            f"'@{position['position']}' is no position; expected @+N, @-N, @above, @below or "
            f"@unknown after '{word}'"
        )
    count = _COUNT.match(rest, position.end() if position is not None else 0)
    if count is None or not rest.startswith("{{", count.end()):
        return f"the text that '{word}' expects must stand between '{{{{' and '}}}}'"
    return f"the text that '{word}' expects does not end; expected '}}}}' for each '{{{{'"


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


def _target_line(position: str | None, line: int, stating: set[int]) -> int | None:
    """Returns the line that an expectation at `line` is about, or None for `@unknown`."""
    if position is None:
        return line
    if position == "unknown":
        return None
    if position not in ("above", "below"):
        return line + int(position)
    step = -1 if position == "above" else 1
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
