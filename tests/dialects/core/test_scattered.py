"""The text of accesses to elements at indices of their own, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import check_error, check_round_trip, verified

PARAMETERS = (
    "%m: memref<?x?xf32>, %v: vector<4x8xf32>, %r: vector<4x1xi32>, %c: vector<1x8xindex>, "
    "%all: vector<4x8xi32>, %i: index, %mask: vector<4x8xi1>, %line: vector<8xi32>, %n: i32"
)

RIGHT = [
    (
        "%x = core.gather_load %m[%i, %all] : memref<?x?xf32>[index, vector<4x8xi32>] "
        "-> vector<4x8xf32>"
    ),
    (
        "%x = core.gather_load %m[%r, %c], %mask : memref<?x?xf32>[vector<4x1xi32>, "
        "vector<1x8xindex>], vector<4x8xi1> -> vector<4x8xf32>"
    ),
    (
        "%x = core.gather_load %m[%r, %c], %mask, %v : memref<?x?xf32>[vector<4x1xi32>, "
        "vector<1x8xindex>], vector<4x8xi1>, vector<4x8xf32> -> vector<4x8xf32>"
    ),
    (
        "core.scatter_store %v, %m[%i, %all] : vector<4x8xf32>, "
        "memref<?x?xf32>[index, vector<4x8xi32>]"
    ),
    (
        "core.scatter_store %v, %m[%all, %c], %mask : vector<4x8xf32>, "
        "memref<?x?xf32>[vector<4x8xi32>, vector<1x8xindex>], vector<4x8xi1>"
    ),
]

WRONG = [
    (
        "%x = core.gather_load %m[%all] : memref<?x?xf32>[vector<4x8xi32>] -> vector<4x8xf32>",
        "expected 2 indices for memref<?x?xf32>, got 1",
    ),
    (
        (
            "%x = core.gather_load %m[%i, %line] : memref<?x?xf32>[index, vector<8xi32>] "
            "-> vector<4x8xf32>"
        ),
        "expected indices with sizes [4, 8], or 1 in the place of some, got vector<8xi32>",
    ),
    (
        (
            "%x = core.gather_load %m[%i, %all] : memref<?x?xf32>[index, vector<4x8xi32>] "
            "-> vector<4x8xf64>"
        ),
        "what is accessed must be vector<4x8xf32>, but is vector<4x8xf64>",
    ),
    (
        (
            "%x = core.gather_load %m[%i, %all], %all : memref<?x?xf32>[index, vector<4x8xi32>], "
            "vector<4x8xi32> -> vector<4x8xf32>"
        ),
        "the mask must be vector<4x8xi1>, but is vector<4x8xi32>",
    ),
    (
        (
            "%x = core.gather_load %m[%i, %all], %mask, %all : memref<?x?xf32>[index, "
            "vector<4x8xi32>], vector<4x8xi1>, vector<4x8xi32> -> vector<4x8xf32>"
        ),
        "the padding must be vector<4x8xf32>, but is vector<4x8xi32>",
    ),
    (
        (
            '%x = "core.gather_load"(%m, %i, %all, %v) <{operandSegmentSizes = array<i32: 1, 2, 0, '
            "1>}> : (memref<?x?xf32>, index, vector<4x8xi32>, vector<4x8xf32>) -> vector<4x8xf32>"
        ),
        "expected a mask beside the padding",
    ),
    (
        "core.scatter_store %v, %m[%i, %n] : vector<4x8xf32>, memref<?x?xf32>[index, i32]",
        "an index, or a vector of integers or indices",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    check_round_trip(PARAMETERS, line)


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    check_error(PARAMETERS, line, message)


@pytest.mark.parametrize("level", ["subgroup", "lane"])
@pytest.mark.parametrize("line", [RIGHT[0], RIGHT[3]])
def test_only_tiles_have_them(line: str, level: str) -> None:
    _, errors = verified(PARAMETERS, line, level)
    assert any(f"is an operation on tiles; the kernel is at level {level}" in e for e in errors)
