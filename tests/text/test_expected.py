"""Expectations in comments, as MLIR's --verify-diagnostics has them."""

from __future__ import annotations

import pytest

from xtile.text.diagnostics import Diagnostic, Severity
from xtile.text.expected import check_expectations
from xtile.text.source import Source, Span


def check(text: str, *reported: tuple[str, int | None, str], comment: str = "//") -> list[str]:
    """Reports messages at lines of `text` and returns what does not fit."""
    source = Source("t", text)
    diagnostics = [
        Diagnostic(
            Severity(severity), message, source, None if line is None else _line(source, line)
        )
        for severity, line, message in reported
    ]
    return [d.render().split("\n")[0] for d in check_expectations(source, diagnostics, comment)]


def _line(source: Source, line: int) -> Span:
    return source.line_range(line)


def test_the_message_contains_the_expected_text() -> None:
    text = "op // expected-error {{no operand}}"
    assert check(text, ("error", 1, "'op' has no operand here")) == []


@pytest.mark.parametrize(
    ("position", "line"), [("", 2), ("@+1", 3), ("@-1", 1), ("@above", 1), ("@below", 3)]
)
def test_places(position: str, line: int) -> None:
    text = f"one\n// expected-warning{position} {{{{message}}}}\nthree"
    assert check(text, ("warning", line, "message")) == []
    wrong = 1 if line != 1 else 3
    assert check(text, ("warning", wrong, "message")) == [
        f"t:{wrong}.1-{len(text.splitlines()[wrong - 1])}: error: unexpected warning: message",
        f't:2.4-{len(text.splitlines()[1])}: error: expected warning "message" was not produced',
    ]


def test_below_and_above_pass_over_other_expectations() -> None:
    text = (
        "first\n"
        "// expected-error@below {{b}}\n"
        "// expected-error@above {{a}}\n"
        "// expected-note@below {{c}}\n"
        "last"
    )
    reported = [("error", 1, "a"), ("error", 5, "b"), ("note", 5, "c")]
    assert check(text, *reported) == []


def test_several_on_one_line() -> None:
    text = "x // expected-error {{a}} expected-error {{b}}"
    assert check(text, ("error", 1, "b"), ("error", 1, "a")) == []
    assert check(text, ("error", 1, "b")) == [
        't:1.6-25: error: expected error "a" was not produced'
    ]


def test_severity_counts() -> None:
    text = "x // expected-error {{a}}"
    assert check(text, ("warning", 1, "a")) == [
        "t:1.1-25: error: unexpected warning: a",
        't:1.6-25: error: expected error "a" was not produced',
    ]


def test_repeated() -> None:
    text = "x // expected-error 2 {{a}}\ny // expected-error@-1 3 {{b}}"
    reported = [("error", 1, "a")] * 2 + [("error", 1, "b")] * 3
    assert check(text, *reported) == []
    assert check(text, *reported[:-2]) == [
        't:2.6-30: error: expected error "b" was not produced 2 more times'
    ]
    assert check(text, *reported, ("error", 1, "a")) == ["t:1.1-27: error: unexpected error: a"]


def test_regular_expressions() -> None:
    text = "x // expected-error-re {{found {{[0-9]+}} (of 2) operands}}"
    assert check(text, ("error", 1, "found 17 (of 2) operands")) == []
    assert len(check(text, ("error", 1, "found no (of 2) operands"))) == 2
    assert check("x // expected-error-re {{a {{(}} b}}") == [
        "t:1.6-36: error: invalid regular expression: missing ), unterminated subpattern"
    ]


def test_text_is_not_a_regular_expression_without_re() -> None:
    assert check("x // expected-error {{a.c {b} [}}", ("error", 1, "a.c {b} [")) == []
    assert len(check("x // expected-error {{a.c}}", ("error", 1, "abc"))) == 2


def test_without_a_place() -> None:
    text = "// expected-error@unknown {{a}}"
    assert check(text, ("error", None, "a")) == []
    assert check("", ("error", None, "a")) == ["t: error: unexpected error: a"]


def test_only_comments_count() -> None:
    assert check('"expected-error {{a}}"') == []
    assert check("; expected-error {{a}}") == []
    assert check("x ; expected-error {{a}}", ("error", 1, "a"), comment=";") == []


def test_notes_are_expected_too() -> None:
    source = Source("t", "x // expected-error {{a}}\ny")
    note = Diagnostic(Severity.NOTE, "see", source, Span(26, 27))
    error = Diagnostic(Severity.ERROR, "a", source, Span(0, 1), (note,))
    found = check_expectations(source, [error], "//")
    assert [d.render() for d in found] == ["t:2.1: error: unexpected note: see\ny\n~"]


def test_lines_are_those_of_the_whole_file() -> None:
    source = Source("t", "x // expected-error@+1 {{a}}\ny", first_line=10)
    error = Diagnostic(Severity.ERROR, "a", source, source.line_range(11))
    assert check_expectations(source, [error], "//") == []


BRACES = "the text that 'expected-error' expects must stand between '{{' and '}}'"
POSITION = "is no position; expected @+N, @-N, @above, @below or @unknown after 'expected-error'"
NO_END = "the text that 'expected-error' expects does not end; expected '}}' for each '{{'"


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("expected-error@+1 {{returns f32}", NO_END),
        ("expected-error@+1 {returns f32}}", BRACES),
        ("expected-error@+1 returns f32", BRACES),
        ("expected-error returns f32", BRACES),
        ("expected-error@+1 2 {a}", BRACES),
        ("expected-error", BRACES),
        ("expected-error@x {{a}}", f"'@x' {POSITION}"),
        ("expected-error@1 {{a}}", f"'@1' {POSITION}"),
        ("expected-error@ {{a}}", f"'@' {POSITION}"),
        (
            "expected-eror@+1 {{x}}",
            "'expected-eror' states no expectation; did you mean 'expected-error'?",
        ),
        (
            "Expected-Warning {{x}}",
            "'Expected-Warning' states no expectation; did you mean 'expected-warning'?",
        ),
        (
            "expect-note@below {{x}}",
            "'expect-note' states no expectation; did you mean 'expected-note'?",
        ),
        (
            "expected error 2 {{x}}",
            "'expected error' states no expectation; did you mean 'expected-error'?",
        ),
        (
            "expected-err-re {{x}}",
            "'expected-err-re' states no expectation; did you mean 'expected-error-re'?",
        ),
    ],
)
@pytest.mark.parametrize("before", ["; ", "op ;", "op ;; "])
def test_malformed_expectations_are_errors(before: str, comment: str, problem: str) -> None:
    position = f"t:2.{len(before) + 1}-{len(before) + len(comment)}"
    assert check(f"op\n{before}{comment}\nop", comment=";") == [f"{position}: error: {problem}"]


def test_a_malformed_expectation_after_another() -> None:
    text = "op // expected-error {{a}} expected-eror {{b}}"
    assert check(text, ("error", 1, "a")) == [
        "t:1.28-46: error: 'expected-eror' states no expectation; did you mean 'expected-error'?"
    ]
    text = "op // see expected-error@+1 {b}} expected-error {{a}}"
    assert check(text, ("error", 1, "a")) == [f"t:1.11-53: error: {BRACES}"]


@pytest.mark.parametrize(
    "text",
    [
        "; an expected-error is tested elsewhere",
        "; no expected-eror {{a}}",
        "; expected-errors come first",
        "; the map {a}",
        "expected-eror {{a}} ; expected at the start",
    ],
)
def test_prose_states_no_expectation(text: str) -> None:
    assert check(text, comment=";") == []


def test_an_expectation_in_another_expectations_text_is_text() -> None:
    assert (
        check("// expected-error {{expected-eror@1 {a}}}", ("error", 1, "expected-eror@1 {a}"))
        == []
    )
