"""The text of reductions and scans with a region, and what their verifier refuses."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, joined, verified

PARAMETERS = "%v: vector<4x8xf32>, %n: vector<4x8xi32>, %w: vector<8xf32>, %m: memref<f32>"

ADD = """{
^bb0(%a: f32, %b: f32):
  %c = arith.addf %a, %b : f32
  core.yield %c : f32
}"""

ARGMAX = """{
^bb0(%a: f32, %j: i32, %b: f32, %k: i32):
  %first = arith.cmpf oge, %a, %b : f32
  %x = arith.select %first, %a, %b : f32
  %y = arith.select %first, %j, %k : i32
  core.yield %x, %y : f32, i32
}"""

RIGHT = [
    f"%r = core.reduce %w axis 0 : vector<8xf32> -> f32 {ADD}",
    (
        f"%r = core.reduce %v axis 0 identities [0.000000e+00 : f32] "
        f": vector<4x8xf32> -> vector<8xf32> {ADD}"
    ),
    (
        f"%r, %i = core.reduce %v, %n axis 1 identities [0xFF800000 : f32, -1 : i32] "
        f": vector<4x8xf32>, vector<4x8xi32> -> vector<4xf32>, vector<4xi32> {ARGMAX}"
    ),
    f"%r = core.scan %v axis 1 : vector<4x8xf32> -> vector<4x8xf32> {ADD}",
    (
        f"%r = core.scan %w axis 0 identities [0.000000e+00 : f32] reverse "
        f": vector<8xf32> -> vector<8xf32> {ADD}"
    ),
]

WRONG = [
    (
        f"%r, %i = core.reduce %w, %n axis 0 : vector<8xf32>, vector<4x8xi32> -> f32, i32 {ARGMAX}",
        "expected one or more vectors of one shape",
    ),
    (
        f"%r = core.reduce %v axis 2 : vector<4x8xf32> -> vector<4xf32> {ADD}",
        "expected an axis from 0 to 1, got 2",
    ),
    (
        f"%r = core.reduce %v axis 1 : vector<4x8xf32> -> vector<8xf32> {ADD}",
        "expected results (vector<4xf32>)",
    ),
    (
        f"%r = core.scan %v axis 1 : vector<4x8xf32> -> vector<4xf32> {ADD}",
        "expected results (vector<4x8xf32>)",
    ),
    (
        f"%r = core.reduce %w axis 0 identities [0 : i32] : vector<8xf32> -> f32 {ADD}",
        "expected identities of types (f32)",
    ),
    (
        f"%r = core.reduce %w axis 0 identities [] : vector<8xf32> -> f32 {ADD}",
        "expected identities of types (f32)",
    ),
    (
        f"%r = core.reduce %w axis 0 : vector<8xf32> -> f32 {ARGMAX}",
        "expected a region of two tuples of elements, (f32, f32)",
    ),
    (
        (
            "%r = core.reduce %w axis 0 : vector<8xf32> -> f32 "
            "{ ^bb0(%a: f32, %b: f32): core.yield %a, %b : f32, f32 }"
        ),
        "expected core.yield with (f32)",
    ),
    (
        (
            "%r = core.reduce %w axis 0 : vector<8xf32> -> f32 { ^bb0(%a: f32, %b: f32): "
            "memref.store %a, %m[] : memref<f32>  core.yield %a : f32 }"
        ),
        "memref.store has effects, which the region of core.reduce may not have",
    ),
]


@pytest.mark.parametrize("level", ["tile", "subgroup"])
@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str, level: str) -> None:
    text, errors = verified(PARAMETERS, line, level)
    assert errors == []
    assert joined(line) in text


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)


def test_lanes_have_none() -> None:
    _, errors = verified(PARAMETERS, RIGHT[0], "lane")
    assert "core.reduce must be lowered first; the kernel is at level lane" in errors
