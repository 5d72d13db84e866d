"""Shapes and shuffles of vectors against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

RIGHT = {
    "shape_cast": in_function(
        "%a: vector<4x6xf32>, %s: vector<f16>, %c: vector<[2]x3x[4]xi8>",
        "%0 = vector.shape_cast %a : vector<4x6xf32> to vector<3x8xf32>\n"
        "%1 = vector.shape_cast %s {a} : vector<f16> to vector<1x1xf16>\n"
        "%2 = vector.shape_cast %c : vector<[2]x3x[4]xi8> to vector<3x[1]x[8]xi8>",
    ),
    "transpose": in_function(
        "%a: vector<2x3x5xf32>, %s: vector<i32>, %c: vector<4x[8]xbf16>",
        "%0 = vector.transpose %a, [2, 0, 1] : vector<2x3x5xf32> to vector<5x2x3xf32>\n"
        "%1 = vector.transpose %s, [] {a = 1 : i32} : vector<i32> to vector<i32>\n"
        "%2 = vector.transpose %c, [1, 0] : vector<4x[8]xbf16> to vector<[8]x4xbf16>",
    ),
    "bitcast": in_function(
        "%a: vector<5x3xf32>, %b: vector<[8]xi8>, %c: vector<f64>, %d: vector<4xindex>",
        "%0 = vector.bitcast %a : vector<5x3xf32> to vector<5x6xi16>\n"
        "%1 = vector.bitcast %b {a} : vector<[8]xi8> to vector<[2]xf32>\n"
        "%2 = vector.bitcast %c : vector<f64> to vector<i64>\n"
        "%3 = vector.bitcast %d : vector<4xindex> to vector<8xi32>",
    ),
    "broadcast": in_function(
        "%a: f32, %b: vector<8xf32>, %c: vector<4x1xf32>, %d: vector<i64>, %e: index",
        "%0 = vector.broadcast %a : f32 to vector<3x5xf32>\n"
        "%1 = vector.broadcast %b : vector<8xf32> to vector<2x8xf32>\n"
        "%2 = vector.broadcast %c {a} : vector<4x1xf32> to vector<2x4x8xf32>\n"
        "%3 = vector.broadcast %d : vector<i64> to vector<6xi64>\n"
        "%4 = vector.broadcast %c : vector<4x1xf32> to vector<4x[8]xf32>\n"
        "%5 = vector.broadcast %a : f32 to vector<f32>\n"
        "%6 = vector.broadcast %e : index to vector<16xindex>",
    ),
    "shuffle": in_function(
        "%a: vector<3xf32>, %b: vector<2xf32>, %c: vector<2x4xi8>, %d: vector<1x4xi8>, "
        "%e: vector<f16>",
        "%0 = vector.shuffle %a, %b [4, 0, -1, 2] : vector<3xf32>, vector<2xf32>\n"
        "%1 = vector.shuffle %c, %d [2, 1] {a} : vector<2x4xi8>, vector<1x4xi8>\n"
        "%2 = vector.shuffle %e, %e [1, 0] : vector<f16>, vector<f16>\n"
        "vector.print %0 : vector<4xf32>\n"
        "vector.print %1 : vector<2x4xi8>\n"
        "vector.print %2 : vector<2xf16>",
    ),
    "interleave": in_function(
        "%a: vector<3x5xi32>, %b: vector<[4]xf16>, %s: vector<f64>",
        "%0 = vector.interleave %a, %a : vector<3x5xi32> -> vector<3x10xi32>\n"
        "%1 = vector.interleave %b, %b {a} : vector<[4]xf16> -> vector<[8]xf16>\n"
        "%2 = vector.interleave %s, %s : vector<f64> -> vector<2xf64>",
    ),
    "deinterleave": in_function(
        "%a: vector<3x6xi32>, %b: vector<2x[4]xf16>",
        "%0, %1 = vector.deinterleave %a : vector<3x6xi32> -> vector<3x3xi32>\n"
        "%2, %3 = vector.deinterleave %b {a} : vector<2x[4]xf16> -> vector<2x[2]xf16>\n"
        "vector.print %1 : vector<3x3xi32>",
    ),
}

WRONG = {
    "shape_cast to other elements": (
        in_function(
            "%a: vector<4xf32>", "%0 = vector.shape_cast %a : vector<4xf32> to vector<2x2xi32>"
        ),
        "the result must have elements of type f32, got vector<2x2xi32>",
    ),
    "shape_cast to more elements": (
        in_function(
            "%a: vector<4xf32>", "%0 = vector.shape_cast %a : vector<4xf32> to vector<2x3xf32>"
        ),
        "the result must have 4 elements too, but has 6",
    ),
    "shape_cast to fewer scalable dimensions": (
        in_function(
            "%a: vector<[4]xf32>", "%0 = vector.shape_cast %a : vector<[4]xf32> to vector<2x2xf32>"
        ),
        "the result must have 1 scalable dimensions too",
    ),
    "shape_cast of a scalar": (
        in_function("%a: f32", "%0 = vector.shape_cast %a : f32 to vector<1xf32>"),
        "expected a vector, got f32",
    ),
    "transpose by no permutation": (
        in_function(
            "%a: vector<2x3xf32>",
            "%0 = vector.transpose %a, [1, 1] : vector<2x3xf32> to vector<3x3xf32>",
        ),
        "the permutation must name each of the 2 dimensions once, got [1, 1]",
    ),
    "transpose to another shape": (
        in_function(
            "%a: vector<2x3xf32>",
            "%0 = vector.transpose %a, [1, 0] : vector<2x3xf32> to vector<2x3xf32>",
        ),
        "the result must be vector<3x2xf32>, but is vector<2x3xf32>",
    ),
    "transpose to other elements": (
        in_function(
            "%a: vector<2x3xf32>",
            "%0 = vector.transpose %a, [1, 0] : vector<2x3xf32> to vector<3x2xi32>",
        ),
        "the result must have elements of type f32, got vector<3x2xi32>",
    ),
    "bitcast to another rank": (
        in_function(
            "%a: vector<4xf32>", "%0 = vector.bitcast %a : vector<4xf32> to vector<2x2xi32>"
        ),
        "the result must have 1 dimensions too, got vector<2x2xi32>",
    ),
    "bitcast of leading dimensions": (
        in_function(
            "%a: vector<4x2xf32>", "%0 = vector.bitcast %a : vector<4x2xf32> to vector<2x4xf32>"
        ),
        "all dimensions but the last must stay the same, got vector<4x2xf32> and vector<2x4xf32>",
    ),
    "bitcast to more bits": (
        in_function("%a: vector<4xf32>", "%0 = vector.bitcast %a : vector<4xf32> to vector<4xi64>"),
        "a row has 128 bits, but a row of the result 256",
    ),
    "broadcast to fewer dimensions": (
        in_function(
            "%a: vector<2x4xf32>", "%0 = vector.broadcast %a : vector<2x4xf32> to vector<4xf32>"
        ),
        "the source may have at most 1 dimensions as the result has, got vector<2x4xf32>",
    ),
    "broadcast of a dimension that is not 1": (
        in_function(
            "%a: vector<2x4xf32>", "%0 = vector.broadcast %a : vector<2x4xf32> to vector<4x4xf32>"
        ),
        "a dimension 2 cannot be repeated to 4; only 1 can",
    ),
    "broadcast of a scalable dimension": (
        in_function(
            "%a: vector<[1]xf32>", "%0 = vector.broadcast %a : vector<[1]xf32> to vector<[4]xf32>"
        ),
        "a dimension [1] cannot be repeated to [4]; only 1 can",
    ),
    "broadcast to other elements": (
        in_function("%a: f32", "%0 = vector.broadcast %a : f32 to vector<4xi32>"),
        "the source must have elements of type i32, got f32",
    ),
    "shuffle of different ranks": (
        in_function(
            "%a: vector<2xf32>, %b: vector<2x2xf32>",
            "%0 = vector.shuffle %a, %b [0] : vector<2xf32>, vector<2x2xf32>",
        ),
        "expected vectors that differ in the first dimension only",
    ),
    "shuffle of different rows": (
        in_function(
            "%a: vector<2x3xf32>, %b: vector<2x2xf32>",
            "%0 = vector.shuffle %a, %b [0] : vector<2x3xf32>, vector<2x2xf32>",
        ),
        "expected vectors that differ in the first dimension only",
    ),
    "shuffle beyond the rows": (
        in_function(
            "%a: vector<2xf32>, %b: vector<3xf32>",
            "%0 = vector.shuffle %a, %b [0, 5] : vector<2xf32>, vector<3xf32>",
        ),
        "a position of the mask must be from 0 to 4, or -1 for poison, got 5",
    ),
    "shuffle without positions": (
        in_function(
            "%a: vector<2x4xf32>",
            "%0 = vector.shuffle %a, %a [] : vector<2x4xf32>, vector<2x4xf32>",
        ),
        "the mask must have at least one position",
    ),
    "shuffle to another length": (
        in_function(
            "%a: vector<2xf32>",
            '%0 = "vector.shuffle"(%a, %a) <{mask = array<i64: 0, 1>}> : '
            "(vector<2xf32>, vector<2xf32>) -> vector<3xf32>",
        ),
        "the result must have 2 rows as the mask has positions, got vector<3xf32>",
    ),
    "shuffle of scalable vectors": (
        in_function(
            "%a: vector<[2]xf32>",
            "%0 = vector.shuffle %a, %a [0, 1] : vector<[2]xf32>, vector<[2]xf32>",
        ),
        "scalable vectors cannot be shuffled, got vector<[2]xf32>",
    ),
    "interleave to the same length": (
        in_function(
            "%a: vector<4xf32>", "%0 = vector.interleave %a, %a : vector<4xf32> -> vector<4xf32>"
        ),
        "the result must be vector<8xf32>, but is vector<4xf32>",
    ),
    "deinterleave of an odd length": (
        in_function(
            "%a: vector<5xf32>", "%0, %1 = vector.deinterleave %a : vector<5xf32> -> vector<2xf32>"
        ),
        "the last dimension must have an even number of elements, got vector<5xf32>",
    ),
    "deinterleave to another length": (
        in_function(
            "%a: vector<8xf32>", "%0, %1 = vector.deinterleave %a : vector<8xf32> -> vector<2xf32>"
        ),
        "a result must be vector<4xf32>, but is vector<2xf32>",
    ),
    "deinterleave of no dimensions": (
        in_function(
            "%a: vector<f32>", "%0, %1 = vector.deinterleave %a : vector<f32> -> vector<1xf32>"
        ),
        "expected a vector with dimensions, got vector<f32>",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
