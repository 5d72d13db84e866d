"""Diagnostics as they are shown."""

from __future__ import annotations

import time

import pytest

from xtile.text.diagnostics import (
    MAXIMUM_LINE_LENGTH,
    MAXIMUM_MESSAGE_LENGTH,
    Diagnostic,
    DiagnosticError,
    Diagnostics,
    Severity,
    shorten,
)
from xtile.text.source import Source, Span

SOURCE = Source("file.ir", "func @f() {\n\n\n\n\n    gemm %a, %b\n}\n")


def shown(text: str, start: int, end: int, message: str = "message") -> list[str]:
    source = Source("file.ir", text)
    diagnostic = Diagnostic(Severity.ERROR, message, source, Span(start, end))
    return diagnostic.render().split("\n")


def test_the_span_is_underlined() -> None:
    start = SOURCE.text.index("%a")
    diagnostic = Diagnostic(Severity.ERROR, "message", SOURCE, Span(start, start + 6))
    assert diagnostic.render() == (
        "file.ir:6.10-15: error: message\n    gemm %a, %b\n         ~~~~~~"
    )


def test_one_column() -> None:
    assert shown("ab", 1, 2) == ["file.ir:1.2: error: message", "ab", " ~"]


def test_an_empty_span_marks_its_place() -> None:
    assert shown("ab", 2, 2) == ["file.ir:1.3: error: message", "ab", "  ~"]
    assert shown("", 0, 0) == ["file.ir:1.1: error: message", "", "~"]


def test_several_lines_are_underlined_to_the_end_of_the_first() -> None:
    assert shown("ab cd\nef gh\n", 3, 8) == ["file.ir:1.4-2.2: error: message", "ab cd", "   ~~"]


def test_a_span_that_begins_at_a_line_end() -> None:
    assert shown("ab\r\ncd", 2, 6) == ["file.ir:1.3-2.2: error: message", "ab", "  ~"]


def test_tabs_stay_so_that_the_underline_is_aligned() -> None:
    assert shown("\ta\tbc", 3, 5) == ["file.ir:1.4-5: error: message", "\ta\tbc", "\t \t~~"]
    assert shown("\ta\tbc", 1, 5)[2] == "\t~\t~~"
    assert shown("\t", 0, 1)[2] == "~"


def test_control_characters_do_not_reach_the_terminal() -> None:
    assert shown("a\x1b[1mb", 0, 1)[1] == "a\N{REPLACEMENT CHARACTER}[1mb"


def test_without_a_span_there_is_no_excerpt() -> None:
    diagnostic = Diagnostic(Severity.WARNING, "message", SOURCE, None)
    assert diagnostic.render() == "file.ir: warning: message"
    assert Diagnostic(Severity.ERROR, "message", None, None).render() == "error: message"


def test_notes_follow() -> None:
    note = Diagnostic(Severity.NOTE, "first defined here", SOURCE, Span(0, 4))
    diagnostic = Diagnostic(Severity.ERROR, "message", SOURCE, Span(5, 7), (note,))
    assert diagnostic.render() == (
        "file.ir:1.6-7: error: message\n"
        "func @f() {\n"
        "     ~~\n"
        "file.ir:1.1-4: note: first defined here\n"
        "func @f() {\n"
        "~~~~"
    )


def test_colors() -> None:
    diagnostic = Diagnostic(Severity.ERROR, "message", Source("f", "ab"), Span(0, 1))
    assert diagnostic.render(colored=True) == (
        "\x1b[1mf:1.1: \x1b[0m\x1b[1;31merror: \x1b[0m\x1b[1mmessage\x1b[0m\nab\n\x1b[1;32m~\x1b[0m"
    )


def test_a_long_line_is_a_window_around_the_span() -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(1000))
    header, line, underline = shown(text, 500, 510)
    assert header == "file.ir:1.501-510: error: message"
    assert line == f"...{text[460 : 460 + MAXIMUM_LINE_LENGTH]}..."
    assert line[underline.index("~") : len(underline)] == text[500:510]
    assert shown(text, 0, 3)[1] == f"{text[:MAXIMUM_LINE_LENGTH]}..."
    assert shown(text, 998, 1000)[1] == f"...{text[958:]}"
    assert shown(text, 100, 900)[2] == " " * 43 + "~" * (MAXIMUM_LINE_LENGTH - 40)


def test_a_huge_line_costs_no_more_than_a_window() -> None:
    source = Source("file.ir", "x" * 100_000_000)
    source.position(0)
    start = time.process_time()
    for offset in range(0, 100_000_000, 1_000_000):
        Diagnostic(Severity.ERROR, "message", source, Span(offset, 100_000_000)).render()
    assert time.process_time() - start < 1.0


def test_a_long_message_is_cut() -> None:
    header = shown("ab", 0, 1, "x" * 10_000)[0]
    assert header == "file.ir:1.1: error: " + "x" * (MAXIMUM_MESSAGE_LENGTH - 3) + "..."


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [("abc", 3, "abc"), ("abcdef", 5, "ab..."), ("abcdef", 2, "...")],
)
def test_shorten(text: str, limit: int, expected: str) -> None:
    assert shorten(text, limit) == expected


def test_diagnostics_come_in_source_order_without_duplicates() -> None:
    diagnostics = Diagnostics()
    diagnostics.error(SOURCE, None, "about the file")
    diagnostics.error(SOURCE, Span(5, 6), "second")
    diagnostics.warning(SOURCE, Span(0, 1), "first")
    diagnostics.error(SOURCE, Span(5, 6), "third, at the same place")
    diagnostics.error(SOURCE, Span(5, 6), "second")
    assert [d.message for d in diagnostics] == [
        "first",
        "second",
        "third, at the same place",
        "about the file",
    ]
    assert [d.message for d in diagnostics.errors] == [
        "second",
        "third, at the same place",
        "about the file",
    ]
    assert len(diagnostics) == 4


def test_sources_keep_their_order() -> None:
    diagnostics = Diagnostics()
    second = Source("a.ir", "x")
    diagnostics.note(SOURCE, Span(3, 4), "first")
    diagnostics.note(second, Span(0, 1), "second")
    assert diagnostics.render() == (
        "file.ir:1.4: note: first\nfunc @f() {\n   ~\na.ir:1.1: note: second\nx\n~"
    )


def test_too_many_errors() -> None:
    diagnostics = Diagnostics(limit=2)
    for offset in range(5):
        assert diagnostics.is_full == (offset >= 2)
        diagnostics.error(SOURCE, Span(offset, offset + 1), "message")
        diagnostics.error(SOURCE, Span(0, 1), "message")
    diagnostics.warning(SOURCE, Span(0, 1), "a warning")
    assert [d.message for d in diagnostics] == [
        "message",
        "a warning",
        "message",
        "too many errors; 3 more are not shown",
    ]
    assert diagnostics.render().endswith("file.ir: note: too many errors; 3 more are not shown")


def test_errors_are_raised_together() -> None:
    diagnostics = Diagnostics()
    diagnostics.warning(SOURCE, Span(0, 1), "a warning")
    diagnostics.raise_if_errors()
    assert not diagnostics.has_errors
    diagnostics.error(SOURCE, Span(5, 7), "an error")
    with pytest.raises(DiagnosticError) as error:
        diagnostics.raise_if_errors()
    assert [d.message for d in error.value.diagnostics] == ["a warning", "an error"]
    assert str(error.value) == diagnostics.render()
