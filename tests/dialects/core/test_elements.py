"""The text of operations that choose or count elements of tiles, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, check_round_trip, verified

PARAMETERS = (
    "%v: vector<4x8xf32>, %p: vector<2x16xi32>, %q: vector<8x8xindex>, %n: vector<8xi32>, "
    "%mask: vector<8xi1>, %x: vector<4x8xi1>"
)

RIGHT = [
    "%r = core.gather %v[%p] axis 1 : vector<4x8xf32>, vector<2x16xi32> -> vector<2x16xf32>",
    "%r = core.gather %v[%q] axis 0 : vector<4x8xf32>, vector<8x8xindex> -> vector<8x8xf32>",
    "%r = core.histogram %n : vector<8xi32> -> vector<16xi32>",
    "%r = core.histogram %n, %mask : vector<8xi32>, vector<8xi1> -> vector<4xindex>",
]

WRONG = [
    (
        "%r = core.gather %v[%p] axis 2 : vector<4x8xf32>, vector<2x16xi32> -> vector<2x16xf32>",
        "expected an axis from 0 to 1, got 2",
    ),
    (
        "%r = core.gather %v[%p] axis 0 : vector<4x8xf32>, vector<2x16xi32> -> vector<2x16xf32>",
        (
            "expected positions of 2 dimensions, which are no larger than those of vector<4x8xf32> "
            "but along 0, got vector<2x16xi32>"
        ),
    ),
    (
        "%r = core.gather %v[%n] axis 0 : vector<4x8xf32>, vector<8xi32> -> vector<8xf32>",
        "expected positions of 2 dimensions",
    ),
    (
        "%r = core.gather %v[%p] axis 1 : vector<4x8xf32>, vector<2x16xi32> -> vector<2x16xf64>",
        "the result must be vector<2x16xf32>, but is vector<2x16xf64>",
    ),
    (
        "%r = core.gather %v[%v] axis 1 : vector<4x8xf32>, vector<4x8xf32> -> vector<4x8xf32>",
        "a vector of integers or indices",
    ),
    (
        "%r = core.histogram %n, %x : vector<8xi32>, vector<4x8xi1> -> vector<4xi32>",
        "the mask must be vector<8xi1>, but is vector<4x8xi1>",
    ),
    (
        "%r = core.histogram %n : vector<8xi32> -> vector<4x4xi32>",
        "expected a result with a dimension for the bins, got vector<4x4xi32>",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    check_round_trip(PARAMETERS, line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)


@pytest.mark.parametrize("level", ["subgroup", "lane", "block"])
@pytest.mark.parametrize("line", RIGHT[1:3])
def test_only_tiles_have_them(line: str, level: str) -> None:
    body = f"core.parallel {{ {line} }}" if level == "block" else line
    _, errors = verified(PARAMETERS, body, level)
    name = line.split()[2]
    assert f"{name} is an operation on tiles; the kernel is at level {level}" in errors
