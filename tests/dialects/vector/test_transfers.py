"""Reads and writes of slices of memory against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

MEMORY = "%a: memref<?x?xf32>, %z: f32, %v: vector<4x8xf32>, %i: index"

RIGHT = {
    "transfer_read": in_function(
        "%a: memref<?x?xf32>, %b: tensor<16x?xf32>, %z: f32, %i: index",
        "%0 = vector.transfer_read %a[%i, %i], %z : memref<?x?xf32>, vector<4x8xf32>\n"
        "%1 = vector.transfer_read %a[%i, %i], %z {in_bounds = [true]} : memref<?x?xf32>, "
        "vector<8xf32>\n"
        "%2 = vector.transfer_read %a[%i, %i], %z {a, in_bounds = [true, false], "
        "permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<?x?xf32>, vector<4x8xf32>\n"
        "%3 = vector.transfer_read %b[%i, %i], %z {permutation_map = affine_map<(d0, d1) -> "
        "(0, d1)>} : tensor<16x?xf32>, vector<4x8xf32>\n"
        "%4 = vector.transfer_read %a[%i, %i], %z {in_bounds = [false, false]} : "
        "memref<?x?xf32>, vector<4x8xf32>",
    ),
    "masked transfer_read": in_function(
        "%a: memref<?x?xf32>, %z: f32, %i: index, %k: vector<4x8xi1>, %l: vector<8x4xi1>, "
        "%t: vector<8xi1>",
        "%0 = vector.transfer_read %a[%i, %i], %z, %k : memref<?x?xf32>, vector<4x8xf32>\n"
        "%1 = vector.transfer_read %a[%i, %i], %z, %l {permutation_map = affine_map<(d0, d1) -> "
        "(d1, d0)>} : memref<?x?xf32>, vector<4x8xf32>\n"
        "%2 = vector.transfer_read %a[%i, %i], %z, %t {permutation_map = affine_map<(d0, d1) -> "
        "(0, d0)>} : memref<?x?xf32>, vector<4x8xf32>",
    ),
    "transfer_write": in_function(
        "%a: memref<?x?xf32>, %b: tensor<16x?xf32>, %v: vector<4x8xf32>, %k: vector<4x8xi1>, "
        "%l: vector<8x4xi1>, %i: index",
        "vector.transfer_write %v, %a[%i, %i] : vector<4x8xf32>, memref<?x?xf32>\n"
        "vector.transfer_write %v, %a[%i, %i], %l {a, in_bounds = [true, true], permutation_map = "
        "affine_map<(d0, d1) -> (d1, d0)>} : vector<4x8xf32>, memref<?x?xf32>\n"
        "%0 = vector.transfer_write %v, %b[%i, %i], %k {in_bounds = [false, true]} "
        ": vector<4x8xf32>, tensor<16x?xf32>",
    ),
    "transfers without dimensions": in_function(
        "%a: memref<f32>, %b: memref<?xf32>, %s: vector<f32>, %v: vector<1xf32>, %z: f32, "
        "%t: vector<1xi1>, %i: index",
        "%0 = vector.transfer_read %a[], %z : memref<f32>, vector<f32>\n"
        "%1 = vector.transfer_read %a[], %z {permutation_map = affine_map<() -> (0)>} "
        ": memref<f32>, vector<1xf32>\n"
        "%2 = vector.transfer_read %b[%i], %z : memref<?xf32>, vector<f32>\n"
        "%3 = vector.transfer_read %a[], %z, %t : memref<f32>, vector<f32>\n"
        "vector.transfer_write %s, %a[] : vector<f32>, memref<f32>",
    ),
    "transfers of vectors in memory": in_function(
        "%a: memref<?x?xvector<4x3xf32>>, %p: vector<4x3xf32>, %v: vector<1x1x4x3xf32>, %i: index",
        "%0 = vector.transfer_read %a[%i, %i], %p {in_bounds = [true, true]} "
        ": memref<?x?xvector<4x3xf32>>, vector<1x1x4x3xf32>\n"
        "vector.transfer_write %v, %a[%i, %i] : vector<1x1x4x3xf32>, memref<?x?xvector<4x3xf32>>",
    ),
    "scalable transfers": in_function(
        "%a: memref<?x?xf32>, %z: f32, %i: index, %k: vector<[4]x8xi1>",
        "%0 = vector.transfer_read %a[%i, %i], %z, %k {permutation_map = affine_map<(d0, d1) -> "
        "(d1, d0)>} : memref<?x?xf32>, vector<8x[4]xf32>",
    ),
}

WRONG = {
    "read with too few indices": (
        in_function(
            MEMORY, "%0 = vector.transfer_read %a[%i], %z : memref<?x?xf32>, vector<4x8xf32>"
        ),
        "expected 2 indices for memref<?x?xf32>, got 1",
    ),
    "read of too many dimensions": (
        in_function(
            MEMORY, "%0 = vector.transfer_read %a[%i, %i], %z : memref<?x?xf32>, vector<2x4x8xf32>"
        ),
        "a permutation_map must say how vector<2x4x8xf32> lies in memref<?x?xf32>",
    ),
    "read of memory of unknown rank": (
        in_function(
            "%a: memref<*xf32>, %z: f32",
            "%0 = vector.transfer_read %a[], %z : memref<*xf32>, vector<8xf32>",
        ),
        "expected a memref or a tensor of known rank, got memref<*xf32>",
    ),
    "read of a scalar": (
        in_function(MEMORY, "%0 = vector.transfer_read %a[%i, %i], %z : memref<?x?xf32>, f32"),
        "expected a vector, got f32",
    ),
    "read with padding of another type": (
        in_function(
            MEMORY,
            '%0 = "vector.transfer_read"(%a, %i, %i, %i) <{in_bounds = [false], '
            "operandSegmentSizes = array<i32: 1, 2, 1, 0>, permutation_map = affine_map<(d0, d1) "
            "-> (d1)>}> : (memref<?x?xf32>, index, index, index) -> vector<8xf32>",
        ),
        "the padding must be f32, but is index",
    ),
    "read of rows that do not divide": (
        in_function(
            MEMORY, "%0 = vector.transfer_read %a[%i, %i], %z : memref<?x?xf32>, vector<3xf16>"
        ),
        "a row of vector<3xf16> has 48 bits, but must have a multiple of 32",
    ),
    "read by a map with too few results": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {permutation_map = affine_map<(d0, d1) -> "
            "(d1)>} : memref<?x?xf32>, vector<4x8xf32>",
        ),
        "expected 2 results of the map, got 1",
    ),
    "read by a map with too few dimensions": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {permutation_map = affine_map<(d0) -> "
            "(d0)>} : memref<?x?xf32>, vector<8xf32>",
        ),
        "expected 2 dimensions of the map, got 1",
    ),
    "read by a map with symbols": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {permutation_map = affine_map<(d0, d1)[s0] "
            "-> (d0)>} : memref<?x?xf32>, vector<8xf32>",
        ),
        "expected a map without symbols",
    ),
    "read by a map with a sum": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {permutation_map = affine_map<(d0, d1) -> "
            "(d0 + d1)>} : memref<?x?xf32>, vector<8xf32>",
        ),
        "the results of the map must be dimensions or 0, got (d0 + d1)",
    ),
    "read by a map with a constant": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {permutation_map = affine_map<(d0, d1) -> "
            "(1, d1)>} : memref<?x?xf32>, vector<4x8xf32>",
        ),
        "the results of the map must be dimensions or 0, got 1",
    ),
    "read by a map that repeats a dimension": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {permutation_map = affine_map<(d0, d1) -> "
            "(d0, d0)>} : memref<?x?xf32>, vector<4x8xf32>",
        ),
        "the map uses d0 more than once",
    ),
    "read with too few bounds": (
        in_function(
            MEMORY,
            "%0 = vector.transfer_read %a[%i, %i], %z {in_bounds = [true]} : memref<?x?xf32>, "
            "vector<4x8xf32>",
        ),
        "expected 2 entries of in_bounds, got 1",
    ),
    "read with a mask of another shape": (
        in_function(
            f"{MEMORY}, %k: vector<4x8xi1>",
            '%0 = "vector.transfer_read"(%a, %i, %i, %z, %k) <{in_bounds = [false, false], '
            "operandSegmentSizes = array<i32: 1, 2, 1, 1>, permutation_map = affine_map<(d0, d1) "
            "-> (d1, d0)>}> : (memref<?x?xf32>, index, index, f32, vector<4x8xi1>) -> "
            "vector<4x8xf32>",
        ),
        "the mask must be vector<8x4xi1>, but is vector<4x8xi1>",
    ),
    "masked read of vectors": (
        in_function(
            "%a: memref<?xvector<4xf32>>, %z: vector<4xf32>, %k: vector<2x4xi1>, %i: index",
            '%0 = "vector.transfer_read"(%a, %i, %z, %k) <{in_bounds = [false], '
            "operandSegmentSizes = array<i32: 1, 1, 1, 1>, permutation_map = affine_map<(d0) "
            "-> (d0)>}> : (memref<?xvector<4xf32>>, index, vector<4xf32>, vector<2x4xi1>) -> "
            "vector<2x4xf32>",
        ),
        "a transfer of vectors has no mask",
    ),
    "write that repeats elements": (
        in_function(
            MEMORY,
            "vector.transfer_write %v, %a[%i, %i] {permutation_map = affine_map<(d0, d1) -> "
            "(d1, 0)>} : vector<4x8xf32>, memref<?x?xf32>",
        ),
        "a write cannot repeat elements: no constants in its map",
    ),
    "write with too many indices": (
        in_function(
            MEMORY,
            "vector.transfer_write %v, %a[%i, %i, %i] : vector<4x8xf32>, memref<?x?xf32>",
        ),
        "expected 2 indices for memref<?x?xf32>, got 3",
    ),
    "write to a tensor without a result": (
        in_function(
            "%t: tensor<?xf32>, %v: vector<8xf32>, %i: index",
            '"vector.transfer_write"(%v, %t, %i) <{in_bounds = [false], operandSegmentSizes = '
            "array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : "
            "(vector<8xf32>, tensor<?xf32>, index) -> ()",
        ),
        "a write to a tensor has a result of type tensor<?xf32>",
    ),
    "write to a tensor with another result": (
        in_function(
            "%t: tensor<?xf32>, %v: vector<8xf32>, %i: index",
            '%0 = "vector.transfer_write"(%v, %t, %i) <{in_bounds = [false], operandSegmentSizes '
            "= array<i32: 1, 1, 1, 0>, permutation_map = affine_map<(d0) -> (d0)>}> : "
            "(vector<8xf32>, tensor<?xf32>, index) -> tensor<8xf32>",
        ),
        "the result must be tensor<?xf32>, but is tensor<8xf32>",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
