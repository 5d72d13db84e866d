"""The text of atomic updates of tiles, and what their verifier refuses."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, check_round_trip, verified

PARAMETERS = (
    "%m: memref<4x8xf32>, %n: memref<?xi32>, %v: vector<8xf32>, %p: vector<8xi32>, %i: index, "
    "%k: vector<8xi1>, %x: i32, %y: f32, %one: i1"
)

RIGHT = [
    (
        "%r = core.atomic_rmw addf relaxed device %v, %m[%i, %p], %k "
        ": vector<8xf32>, memref<4x8xf32>[index, vector<8xi32>], vector<8xi1>"
    ),
    (
        "%r = core.atomic_rmw assign release block %v, %m[%i, %p] "
        ": vector<8xf32>, memref<4x8xf32>[index, vector<8xi32>]"
    ),
    "%r = core.atomic_rmw minu acquire system %x, %n[%i], %one : i32, memref<?xi32>[index], i1",
    (
        "%r = core.atomic_compare_and_swap acq_rel device %p, %p, %n[%p], %k "
        ": vector<8xi32>, memref<?xi32>[vector<8xi32>], vector<8xi1>"
    ),
    "%r = core.atomic_compare_and_swap relaxed device %x, %x, %n[%i] : i32, memref<?xi32>[index]",
]

WRONG = [
    (
        "%r = core.atomic_rmw addf relaxed device %x, %n[%i] : i32, memref<?xi32>[index]",
        "addf is for floats, got i32",
    ),
    (
        (
            "%r = core.atomic_rmw addi relaxed device %v, %m[%i, %p] "
            ": vector<8xf32>, memref<4x8xf32>[index, vector<8xi32>]"
        ),
        "addi is for integers, got f32",
    ),
    (
        "%r = core.atomic_rmw plus relaxed device %x, %n[%i] : i32, memref<?xi32>[index]",
        "there is no atomic update 'plus'; expected one of addf, addi,",
    ),
    (
        "%r = core.atomic_rmw addi weak device %x, %n[%i] : i32, memref<?xi32>[index]",
        "relaxed",
    ),
    (
        "%r = core.atomic_rmw addi relaxed device %x, %n[] : i32, memref<?xi32>[]",
        "expected 1 indices for memref<?xi32>, got 0",
    ),
    (
        "%r = core.atomic_rmw addi relaxed device %x, %n[%p] : i32, memref<?xi32>[vector<8xi32>]",
        "expected indices with sizes [], or 1 in the place of some, got vector<8xi32>",
    ),
    (
        (
            "%r = core.atomic_rmw addi relaxed device %x, %n[%i], %k "
            ": i32, memref<?xi32>[index], vector<8xi1>"
        ),
        "the mask must be i1, but is vector<8xi1>",
    ),
    (
        (
            "%r = core.atomic_compare_and_swap relaxed device %y, %y, %n[%i] "
            ": f32, memref<?xi32>[index]"
        ),
        "what is accessed must be i32, but is f32",
    ),
    (
        (
            '%r = "core.atomic_compare_and_swap"(%y, %x, %n, %i) <{operandSegmentSizes = array<'
            "i32: 1, 1, 1, 1, 0>, order = #core<memory_order relaxed>, scope = #core<memory_scope "
            "device>}> : (f32, i32, memref<?xi32>, index) -> i32"
        ),
        "i32",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    check_round_trip(PARAMETERS, line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)


@pytest.mark.parametrize("level", ["subgroup", "lane"])
@pytest.mark.parametrize("line", RIGHT[2:4])
def test_only_tiles_have_them(line: str, level: str) -> None:
    _, errors = verified(PARAMETERS, line, level)
    assert any(f"is an operation on tiles; the kernel is at level {level}" in e for e in errors)
