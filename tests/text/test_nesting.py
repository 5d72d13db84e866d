"""Deep nesting is found, and only that."""

from __future__ import annotations

import time

import pytest

from xtile.text.nesting import find_deep_nesting
from xtile.text.source import Span


@pytest.mark.parametrize("brackets", ["()", "[]", "{}", "<>"])
@pytest.mark.parametrize("limit", [3, 50])
def test_the_first_bracket_that_is_too_deep(brackets: str, limit: int) -> None:
    opening, closing = brackets
    assert find_deep_nesting(opening * limit + closing * limit, limit, "//") is None
    for text in (opening * (limit + 1), opening * (limit + 1) + closing * (limit + 1)):
        assert find_deep_nesting(text, limit, "//") == Span(limit, limit + 1)


def test_strings_comments_and_arrows_do_not_count() -> None:
    text = '"(((" // (((\n(-> ((-> ->->->'
    assert find_deep_nesting(text, 3, "//") is None
    assert find_deep_nesting(text, 2, "//") == Span(text.rindex("("), text.rindex("(") + 1)
    assert find_deep_nesting("; (((", 2, ";") is None
    assert find_deep_nesting("; (((", 2, "//") == Span(4, 5)


def test_brackets_need_not_match() -> None:
    assert find_deep_nesting(")" * 100 + "((", 3, "//") is None
    assert find_deep_nesting("([)}]<" * 100, 3, "//") is None


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["(" * 20_000_000, "(" * 10_000_000 + ")" * 10_000_000, "()" * 10_000_000]
)
def test_a_huge_text_takes_no_longer_than_reading_it(text: str) -> None:
    start = time.process_time()
    found = find_deep_nesting(text, 256, "//")
    assert time.process_time() - start < 5.0
    assert (found is None) == text.startswith("()")
