"""The text of assumptions, and what their verifier refuses."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, verified

PARAMETERS = "%i: index, %x: i8, %v: vector<4x16xi32>, %f: f32"

RIGHT = [
    "%r = core.assume %i at_least 0 : index",
    "%r = core.assume %x at_least -128 at_most 127 : i8",
    "%r = core.assume %i divisible_by 24 : index",
    "%r = core.assume %v equal [4, 1] : vector<4x16xi32>",
    (
        "%r = core.assume %v at_most 7 equal [2, 2] contiguous 8 along 1 divisible_by 8 "
        ": vector<4x16xi32>"
    ),
]

WRONG = [
    ("%r = core.assume %f at_least 0 : f32", "expected integers or pointers, got f32"),
    ("%r = core.assume %i : index", "expected at_least, at_most, equal, contiguous or divisible"),
    ("%r = core.assume %x at_most 128 : i8", "128 is no signed number of type i8"),
    ("%r = core.assume %i at_least 3 at_most 2 : index", "nothing is at least 3 and at most 2"),
    ("%r = core.assume %i divisible_by 0 : index", "expected a divisor of 1 or more, got 0"),
    ("%r = core.assume %i contiguous 2 along 0 : index", "index has no dimension 0"),
    (
        "%r = core.assume %v contiguous 32 along 1 : vector<4x16xi32>",
        "groups of sizes [32] do not fit into sizes [16]",
    ),
    (
        "%r = core.assume %v equal [2] : vector<4x16xi32>",
        "groups of sizes [2] do not fit into sizes [4, 16]",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
@pytest.mark.parametrize("level", ["tile", "subgroup"])
def test_round_trip(line: str, level: str) -> None:
    text, errors = verified(PARAMETERS, line, level)
    assert errors == []
    assert line in text


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)
