"""The text of packing, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, check_round_trip, verified

PARAMETERS = (
    "%b: vector<8x16xi8>, %f: vector<8x32xf4E2M1FN>, %n: vector<6x4xi4>, %t: vector<16xi1>, "
    "%x: vector<8x32xf8E5M2>, %w: vector<8x15xi4>"
)

RIGHT = [
    "%r = core.unpack %b axis 1 : vector<8x16xi8> -> vector<8x32xf4E2M1FN>",
    "%r = core.unpack %b axis 0 : vector<8x16xi8> -> vector<16x16xi4>",
    "%r = core.unpack %b axis 0 : vector<8x16xi8> -> vector<64x16xi1>",
    "%r = core.pack %f axis 1 : vector<8x32xf4E2M1FN> -> vector<8x16xi8>",
    "%r = core.pack %n axis 0 : vector<6x4xi4> -> vector<3x4xi8>",
    "%r = core.pack %t axis 0 : vector<16xi1> -> vector<2xi8>",
]

WRONG = [
    (
        "%r = core.unpack %b axis 0 : vector<8x16xi8> -> vector<8x32xf4E2M1FN>",
        "the operand must be vector<4x32xi8>, but is vector<8x16xi8>",
    ),
    (
        "%r = core.unpack %b axis 2 : vector<8x16xi8> -> vector<8x32xf4E2M1FN>",
        "expected an axis from 0 to 1, got 2",
    ),
    (
        "%r = core.unpack %b axis 1 : vector<8x16xi8> -> vector<8x16xf8E5M2>",
        "a vector of elements of 1, 2 or 4 bits",
    ),
    (
        "%r = core.pack %x axis 1 : vector<8x32xf8E5M2> -> vector<8x32xi8>",
        "a vector of elements of 1, 2 or 4 bits",
    ),
    (
        "%r = core.pack %f axis 1 : vector<8x32xf4E2M1FN> -> vector<8x16xi16>",
        "a vector of i8",
    ),
    (
        "%r = core.pack %f axis 1 : vector<8x32xf4E2M1FN> -> vector<8x32xi8>",
        "the result must be vector<8x16xi8>, but is vector<8x32xi8>",
    ),
    (
        "%r = core.pack %w axis 1 : vector<8x15xi4> -> vector<8x8xi8>",
        ("expected whole bytes, but vector<8x15xi4> has 15 elements along 1, no multiple of 2"),
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    check_round_trip(PARAMETERS, line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_refused(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)


@pytest.mark.parametrize("level", ["subgroup", "lane"])
def test_only_of_tiles(level: str) -> None:
    _, errors = verified(PARAMETERS, RIGHT[-1], level)
    assert errors != []


SATURATE = {
    "%r = arith.truncf %x {core.saturate} : vector<8x4xf32> to vector<8x4xf8E4M3FN>": None,
    "%r = arith.truncf %x {core.saturate} : vector<8x4xf32> to vector<8x4xf16>": (
        "core.saturate is a unit attribute of casts to nearest of types with 4, 6 and 8 bits"
    ),
    "%r = arith.truncf %x upward {core.saturate} : vector<8x4xf32> to vector<8x4xf8E5M2>": (
        "core.saturate is a unit attribute of casts to nearest"
    ),
    "%r = arith.addf %x, %x {core.saturate} : vector<8x4xf32>": (
        "arith.addf has no core.saturate; only arith.truncf have"
    ),
    '%r = arith.truncf %x {core.rounding = "upward"} : vector<8x4xf32> to vector<8x4xf16>': (
        "arith.truncf has no core.rounding"
    ),
}


@pytest.mark.parametrize("line", SATURATE)
def test_saturation(line: str) -> None:
    text, errors = verified("%x: vector<8x4xf32>", line)
    message = SATURATE[line]
    if message is None:
        assert errors == []
        assert line in text
    else:
        assert any(message in error for error in errors), errors
