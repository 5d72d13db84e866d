"""Parts and elements of vectors against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

RIGHT = {
    "extract": in_function(
        "%a: vector<4x7x16xf32>, %s: vector<i32>, %c: vector<2x[4]xi8>, %i: index, %j: index",
        "%0 = vector.extract %a[3] : vector<7x16xf32> from vector<4x7x16xf32>\n"
        "%1 = vector.extract %a[2, 6, 15] : f32 from vector<4x7x16xf32>\n"
        "%2 = vector.extract %a[%i, 5, %j] {a} : f32 from vector<4x7x16xf32>\n"
        "%3 = vector.extract %a[2, %j] : vector<16xf32> from vector<4x7x16xf32>\n"
        "%4 = vector.extract %a[-1, %j] : vector<16xf32> from vector<4x7x16xf32>\n"
        "%5 = vector.extract %s[] : i32 from vector<i32>\n"
        "%6 = vector.extract %c[1] : vector<[4]xi8> from vector<2x[4]xi8>\n"
        "%7 = vector.extract %a[2, 6, 15] : vector<1xf32> from vector<4x7x16xf32>\n"
        "%8 = vector.extract %a[] : vector<4x7x16xf32> from vector<4x7x16xf32>",
    ),
    "insert": in_function(
        "%a: vector<4x7x16xf32>, %r: vector<16xf32>, %x: f32, %s: vector<i32>, %n: i32, "
        "%i: index, %j: index",
        "%0 = vector.insert %x, %a [3, 0, 1] : f32 into vector<4x7x16xf32>\n"
        "%1 = vector.insert %r, %0 [%i, 2] : vector<16xf32> into vector<4x7x16xf32>\n"
        "%2 = vector.insert %x, %1 [%i, -1, %j] {a} : f32 into vector<4x7x16xf32>\n"
        "%3 = vector.insert %n, %s [] : i32 into vector<i32>",
    ),
    "extract_strided_slice": in_function(
        "%a: vector<4x8x16xf32>, %b: vector<8x[4]xi32>",
        "%0 = vector.extract_strided_slice %a {offsets = [1, 2], sizes = [3, 4], strides = [1, 1]}"
        " : vector<4x8x16xf32> to vector<3x4x16xf32>\n"
        "%1 = vector.extract_strided_slice %b {a, offsets = [2, 0], sizes = [1, 4], "
        "strides = [1, 1]} : vector<8x[4]xi32> to vector<1x[4]xi32>\n"
        "%2 = vector.extract_strided_slice %a {offsets = [], sizes = [], strides = []}"
        " : vector<4x8x16xf32> to vector<4x8x16xf32>",
    ),
    "insert_strided_slice": in_function(
        "%p: vector<3x4xf32>, %a: vector<8x5x6xf32>, %q: vector<1x[4]xi32>, %b: vector<8x[4]xi32>",
        "%0 = vector.insert_strided_slice %p, %a {offsets = [7, 2, 1], strides = [1, 1]}"
        " : vector<3x4xf32> into vector<8x5x6xf32>\n"
        "%1 = vector.insert_strided_slice %q, %b {a, offsets = [7, 0], strides = [1, 1]}"
        " : vector<1x[4]xi32> into vector<8x[4]xi32>",
    ),
    "scalable parts": in_function(
        "%p: vector<4xf32>, %q: vector<[4]xf32>, %a: vector<[16]xf32>",
        "%0 = vector.scalable.insert %p, %a[8] : vector<4xf32> into vector<[16]xf32>\n"
        "%1 = vector.scalable.insert %q, %0[0] {a} : vector<[4]xf32> into vector<[16]xf32>\n"
        "%2 = vector.scalable.extract %1[12] : vector<4xf32> from vector<[16]xf32>\n"
        "%3 = vector.scalable.extract %1[4] {a} : vector<[4]xf32> from vector<[16]xf32>",
    ),
    "elements": in_function(
        "%x: f32, %y: f32",
        "%0 = vector.from_elements %x : vector<f32>\n"
        "%1 = vector.from_elements %x, %y {a} : vector<2xf32>\n"
        "%2 = vector.from_elements %x, %y, %y, %x, %x, %y : vector<3x1x2xf32>\n"
        "%3:2 = vector.to_elements %1 : vector<2xf32>\n"
        "%4 = vector.to_elements %0 {a} : vector<f32>\n"
        "%5:6 = vector.to_elements %2 : vector<3x1x2xf32>",
    ),
    "step and vscale": in_function(
        "",
        "%0 = vector.step : vector<12xindex>\n"
        "%1 = vector.step {a} : vector<[4]xindex>\n"
        "%2 = vector.vscale\n"
        "%3 = vector.vscale {a}",
    ),
}

WRONG = {
    "extract from too many positions": (
        in_function("%a: vector<4xf32>", "%0 = vector.extract %a[1, 2] : f32 from vector<4xf32>"),
        "expected at most 1 positions, got 2",
    ),
    "extract from outside": (
        in_function("%a: vector<4xf32>", "%0 = vector.extract %a[4] : f32 from vector<4xf32>"),
        "a position in a dimension 4 must be from 0 to 3, or -1 for poison, got 4",
    ),
    "extract of another type": (
        in_function(
            "%a: vector<4x8xf32>", "%0 = vector.extract %a[1] : vector<4xf32> from vector<4x8xf32>"
        ),
        "the result must be vector<8xf32>, but is vector<4xf32>",
    ),
    "extract of a vector without dimensions": (
        in_function(
            "%a: vector<4xf32>", "%0 = vector.extract %a[1] : vector<f32> from vector<4xf32>"
        ),
        "the result must be f32, got vector<f32>",
    ),
    "extract with too few operands": (
        in_function(
            "%a: vector<4xf32>",
            '%0 = "vector.extract"(%a) <{static_position = array<i64: -9223372036854775808>}> : '
            "(vector<4xf32>) -> f32",
        ),
        "expected 1 positions as operands, got 0",
    ),
    "insert to another rank": (
        in_function(
            "%x: f32, %a: vector<4x8xf32>",
            "%0 = vector.insert %x, %a [1] : f32 into vector<4x8xf32>",
        ),
        "what is inserted must be vector<8xf32>, but is f32",
    ),
    "insert outside": (
        in_function(
            "%x: f32, %a: vector<4xf32>", "%0 = vector.insert %x, %a [-2] : f32 into vector<4xf32>"
        ),
        "a position in a dimension 4 must be from 0 to 3, or -1 for poison, got -2",
    ),
    "insert of a vector without dimensions": (
        in_function(
            "%x: vector<f32>, %a: vector<4xf32>",
            "%0 = vector.insert %x, %a [1] : vector<f32> into vector<4xf32>",
        ),
        "what is inserted must be f32, got vector<f32>",
    ),
    "slice of other lengths": (
        in_function(
            "%a: vector<4x8xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [1], sizes = [1, 2], strides = [1]}"
            " : vector<4x8xf32> to vector<1x2xf32>",
        ),
        "offsets, sizes and strides must have the same length",
    ),
    "slice of too many dimensions": (
        in_function(
            "%a: vector<4xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [1, 0], sizes = [1, 2], "
            "strides = [1, 1]} : vector<4xf32> to vector<1x2xf32>",
        ),
        "vector<4xf32> has only 1 dimensions",
    ),
    "slice beyond a dimension": (
        in_function(
            "%a: vector<4xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [3], sizes = [2], strides = [1]}"
            " : vector<4xf32> to vector<2xf32>",
        ),
        "2 elements from 3 on are not inside of a dimension of 4",
    ),
    "slice with gaps": (
        in_function(
            "%a: vector<4xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [2]}"
            " : vector<4xf32> to vector<2xf32>",
        ),
        "strides must be 1, got [2]",
    ),
    "slice of a part of a scalable dimension": (
        in_function(
            "%a: vector<[4]xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]}"
            " : vector<[4]xf32> to vector<[2]xf32>",
        ),
        "a scalable dimension [4] can only be taken whole, got 2 elements from 0 on",
    ),
    "slice of another type": (
        in_function(
            "%a: vector<4xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]}"
            " : vector<4xf32> to vector<3xf32>",
        ),
        "the result must be vector<2xf32>, but is vector<3xf32>",
    ),
    "slice without sizes": (
        in_function(
            "%a: vector<4xf32>",
            "%0 = vector.extract_strided_slice %a {offsets = [0], strides = [1]}"
            " : vector<4xf32> to vector<2xf32>",
        ),
        "sizes",
    ),
    "inserted slice with too few offsets": (
        in_function(
            "%p: vector<2xf32>, %a: vector<4x4xf32>",
            "%0 = vector.insert_strided_slice %p, %a {offsets = [1], strides = [1]}"
            " : vector<2xf32> into vector<4x4xf32>",
        ),
        "expected 2 offsets, got 1",
    ),
    "inserted slice with too many strides": (
        in_function(
            "%p: vector<2xf32>, %a: vector<4x4xf32>",
            "%0 = vector.insert_strided_slice %p, %a {offsets = [1, 1], strides = [1, 1]}"
            " : vector<2xf32> into vector<4x4xf32>",
        ),
        "expected 1 strides, got 2",
    ),
    "inserted slice of too many dimensions": (
        in_function(
            "%p: vector<2x2xf32>, %a: vector<4xf32>",
            "%0 = vector.insert_strided_slice %p, %a {offsets = [1], strides = [1, 1]}"
            " : vector<2x2xf32> into vector<4xf32>",
        ),
        "the part may have at most 1 dimensions, got vector<2x2xf32>",
    ),
    "inserted slice beyond a leading dimension": (
        in_function(
            "%p: vector<2xf32>, %a: vector<4x4xf32>",
            "%0 = vector.insert_strided_slice %p, %a {offsets = [4, 1], strides = [1]}"
            " : vector<2xf32> into vector<4x4xf32>",
        ),
        "1 elements from 4 on are not inside of a dimension of 4",
    ),
    "inserted slice of other elements": (
        in_function(
            "%p: vector<2xi32>, %a: vector<4xf32>",
            "%0 = vector.insert_strided_slice %p, %a {offsets = [1], strides = [1]}"
            " : vector<2xi32> into vector<4xf32>",
        ),
        "the part must have elements of type f32, got vector<2xi32>",
    ),
    "inserted slice that is not scalable": (
        in_function(
            "%p: vector<4xf32>, %a: vector<[4]xf32>",
            "%0 = vector.insert_strided_slice %p, %a {offsets = [0], strides = [1]}"
            " : vector<4xf32> into vector<[4]xf32>",
        ),
        "a dimension 4 cannot be a part of [4]",
    ),
    "scalable part at an odd position": (
        in_function(
            "%p: vector<4xf32>, %a: vector<[16]xf32>",
            "%0 = vector.scalable.insert %p, %a[5] : vector<4xf32> into vector<[16]xf32>",
        ),
        "the position must be a multiple of the part's length 4, got 5",
    ),
    "scalable part from a fixed vector": (
        in_function(
            "%a: vector<16xf32>",
            "%0 = vector.scalable.extract %a[4] : vector<4xf32> from vector<16xf32>",
        ),
        "expected a vector with one scalable dimension, got vector<16xf32>",
    ),
    "scalable part of other elements": (
        in_function(
            "%a: vector<[16]xf32>",
            "%0 = vector.scalable.extract %a[4] : vector<4xi32> from vector<[16]xf32>",
        ),
        "the result must have elements of type f32, got vector<4xi32>",
    ),
    "too few elements": (
        in_function("%x: f32", "%0 = vector.from_elements %x, %x : vector<3xf32>"),
        "expected 3 elements, got 2",
    ),
    "elements of another type": (
        in_function(
            "%x: f32, %n: i32",
            '%0 = "vector.from_elements"(%x, %n) : (f32, i32) -> vector<2xf32>',
        ),
        "an element must be f32, but is i32",
    ),
    "elements of a scalable vector": (
        in_function("%x: f32", "%0 = vector.from_elements %x, %x : vector<[2]xf32>"),
        "expected a vector without scalable dimensions, got vector<[2]xf32>",
    ),
    "elements of no vector": (
        in_function("%x: f32", "%0 = vector.to_elements %x : f32"),
        "expected a vector type, got f32",
    ),
    "too many elements of a vector": (
        in_function("%a: vector<2xf32>", "%0:3 = vector.to_elements %a : vector<2xf32>"),
        "Operation has 2 results, but was given 3 to bind.",
    ),
    "step of integers": (
        in_function("", "%0 = vector.step : vector<4xi32>"),
        "expected a vector of index with one dimension, got vector<4xi32>",
    ),
    "step of two dimensions": (
        in_function("", "%0 = vector.step : vector<4x4xindex>"),
        "expected a vector of index with one dimension, got vector<4x4xindex>",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
