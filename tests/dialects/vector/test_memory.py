"""Reads and writes of memory as vectors against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

MASKED = "%m: memref<?xf32>, %t: vector<8xi1>, %v: vector<8xf32>, %i: index"
STRIDED = "memref<8x8xf32, strided<[8, 2]>>"

RIGHT = {
    "load": in_function(
        f"%a: memref<16x32xf32>, %b: memref<9xvector<4xi8>>, %s: {STRIDED}, %i: index",
        "%0 = vector.load %a[%i, %i] : memref<16x32xf32>, vector<8xf32>\n"
        "%1 = vector.load %a[%i, %i] {a, nontemporal = true} : memref<16x32xf32>, vector<2x8xf32>\n"
        "%2 = vector.load %a[%i, %i] {alignment = 32 : i64} : memref<16x32xf32>, vector<f32>\n"
        "%3 = vector.load %b[%i] : memref<9xvector<4xi8>>, vector<4xi8>\n"
        f"%4 = vector.load %s[%i, %i] : {STRIDED}, vector<1xf32>\n"
        "%5 = vector.load %a[%i, %i] : memref<16x32xf32>, vector<[4]xf32>",
    ),
    "store": in_function(
        "%a: memref<16x32xf32>, %b: memref<9xvector<4xi8>>, %u: vector<4xi8>, "
        "%v: vector<2x8xf32>, %s: vector<f32>, %i: index",
        "vector.store %v, %a[%i, %i] : memref<16x32xf32>, vector<2x8xf32>\n"
        "vector.store %s, %a[%i, %i] {nontemporal = true} : memref<16x32xf32>, vector<f32>\n"
        "vector.store %v, %a[%i, %i] {a, alignment = 4 : i64, nontemporal = true} "
        ": memref<16x32xf32>, vector<2x8xf32>\n"
        "vector.store %u, %b[%i] : memref<9xvector<4xi8>>, vector<4xi8>",
    ),
    "maskedload": in_function(
        f"{MASKED}, %n: memref<?x?xi8>, %k: vector<2x4xi1>, %w: vector<2x4xi8>",
        "%0 = vector.maskedload %m[%i], %t, %v : memref<?xf32>, vector<8xi1>, vector<8xf32> "
        "into vector<8xf32>\n"
        "%1 = vector.maskedload %n[%i, %i], %k, %w {a, alignment = 8 : i64} : memref<?x?xi8>, "
        "vector<2x4xi1>, vector<2x4xi8> into vector<2x4xi8>",
    ),
    "maskedstore": in_function(
        f"{MASKED}, %n: memref<?x?xi8>, %k: vector<2x4xi1>, %w: vector<2x4xi8>",
        "vector.maskedstore %m[%i], %t, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>\n"
        "vector.maskedstore %n[%i, %i], %k, %w {a, alignment = 8 : i64} : memref<?x?xi8>, "
        "vector<2x4xi1>, vector<2x4xi8>",
    ),
    "expandload": in_function(
        MASKED,
        "%0 = vector.expandload %m[%i], %t, %v : memref<?xf32>, vector<8xi1>, vector<8xf32> "
        "into vector<8xf32>\n"
        "%1 = vector.expandload %m[%i], %t, %v {a, alignment = 8 : i64} : memref<?xf32>, "
        "vector<8xi1>, vector<8xf32> into vector<8xf32>",
    ),
    "compressstore": in_function(
        MASKED,
        "vector.compressstore %m[%i], %t, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>\n"
        "vector.compressstore %m[%i], %t, %v {a, alignment = 8 : i64} : memref<?xf32>, "
        "vector<8xi1>, vector<8xf32>",
    ),
    "gather": in_function(
        f"{MASKED}, %r: tensor<4x?xf32>, %p: vector<8xi32>, %q: vector<8xindex>",
        "%0 = vector.gather %m[%i] [%p], %t, %v : memref<?xf32>, vector<8xi32>, vector<8xi1>, "
        "vector<8xf32> into vector<8xf32>\n"
        "%1 = vector.gather %r[%i, %i] [%q], %t, %v {a, alignment = 4 : i64} : tensor<4x?xf32>, "
        "vector<8xindex>, vector<8xi1>, vector<8xf32> into vector<8xf32>",
    ),
    "scatter": in_function(
        f"{MASKED}, %r: tensor<4x?xf32>, %p: vector<8xi32>, %q: vector<8xindex>",
        "vector.scatter %m[%i] [%p], %t, %v : memref<?xf32>, vector<8xi32>, vector<8xi1>, "
        "vector<8xf32>\n"
        "%0 = vector.scatter %r[%i, %i] [%q], %t, %v {a, alignment = 4 : i64} : tensor<4x?xf32>, "
        "vector<8xindex>, vector<8xi1>, vector<8xf32> -> tensor<4x?xf32>",
    ),
    "type_cast": in_function(
        "%a: memref<5x4xf32>, %b: memref<2x3xvector<4xi8>, 3>, "
        "%c: memref<4x2xf32, strided<[2, 1]>>",
        "%0 = vector.type_cast %a : memref<5x4xf32> to memref<vector<5x4xf32>>\n"
        "%1 = vector.type_cast %b {a} : memref<2x3xvector<4xi8>, 3> to "
        "memref<vector<2x3x4xi8>, 3>\n"
        "%2 = vector.type_cast %c : memref<4x2xf32, strided<[2, 1]>> to memref<vector<4x2xf32>>",
    ),
}

WRONG = {
    "load with too few indices": (
        in_function(
            "%a: memref<4x8xf32>, %i: index",
            "%0 = vector.load %a[%i] : memref<4x8xf32>, vector<4xf32>",
        ),
        "expected 2 indices for memref<4x8xf32>, got 1",
    ),
    "load of other elements": (
        in_function(
            "%a: memref<8xf32>, %i: index", "%0 = vector.load %a[%i] : memref<8xf32>, vector<4xi32>"
        ),
        "the vector must have elements of type f32, got vector<4xi32>",
    ),
    "load of another vector in memory": (
        in_function(
            "%a: memref<8xvector<4xf32>>, %i: index",
            "%0 = vector.load %a[%i] : memref<8xvector<4xf32>>, vector<8xf32>",
        ),
        "the vector must be vector<4xf32>, but is vector<8xf32>",
    ),
    "load of too many dimensions": (
        in_function(
            "%a: memref<8xf32>, %i: index",
            "%0 = vector.load %a[%i] : memref<8xf32>, vector<2x4xf32>",
        ),
        "expected a vector of at most 1 dimensions, got vector<2x4xf32>",
    ),
    "load along a stride": (
        in_function(
            f"%s: {STRIDED}, %i: index", f"%0 = vector.load %s[%i, %i] : {STRIDED}, vector<4xf32>"
        ),
        f"the last dimension must have stride 1, got {STRIDED}",
    ),
    "load with a wrong alignment": (
        in_function(
            "%a: memref<8xf32>, %i: index",
            "%0 = vector.load %a[%i] {alignment = 12 : i64} : memref<8xf32>, vector<4xf32>",
        ),
        "the alignment must be a power of two, got 12",
    ),
    "load from a tensor": (
        in_function(
            "%a: tensor<8xf32>, %i: index",
            "%0 = vector.load %a[%i] : tensor<8xf32>, vector<4xf32>",
        ),
        "expected a memref of known rank, got tensor<8xf32>",
    ),
    "store of other elements": (
        in_function(
            "%a: memref<8xf32>, %v: vector<4xi32>, %i: index",
            "vector.store %v, %a[%i] : memref<8xf32>, vector<4xi32>",
        ),
        "the vector must have elements of type f32, got vector<4xi32>",
    ),
    "store with too many indices": (
        in_function(
            "%a: memref<8xf32>, %v: vector<4xf32>, %i: index",
            "vector.store %v, %a[%i, %i] : memref<8xf32>, vector<4xf32>",
        ),
        "expected 1 indices for memref<8xf32>, got 2",
    ),
    "maskedload with a short mask": (
        in_function(
            "%m: memref<?xf32>, %t: vector<4xi1>, %v: vector<8xf32>, %i: index",
            "%0 = vector.maskedload %m[%i], %t, %v : memref<?xf32>, vector<4xi1>, vector<8xf32> "
            "into vector<8xf32>",
        ),
        "the mask must have the shape [8], got vector<4xi1>",
    ),
    "maskedload with a mask of integers": (
        in_function(
            "%m: memref<?xf32>, %t: vector<8xi8>, %v: vector<8xf32>, %i: index",
            "%0 = vector.maskedload %m[%i], %t, %v : memref<?xf32>, vector<8xi8>, vector<8xf32> "
            "into vector<8xf32>",
        ),
        "expected a vector of i1 with dimensions, got vector<8xi8>",
    ),
    "maskedload that passes another vector through": (
        in_function(
            "%m: memref<?xf32>, %t: vector<8xi1>, %v: vector<4xf32>, %i: index",
            "%0 = vector.maskedload %m[%i], %t, %v : memref<?xf32>, vector<8xi1>, vector<4xf32> "
            "into vector<8xf32>",
        ),
        "what passes through must be vector<8xf32>, but is vector<4xf32>",
    ),
    "maskedstore of other elements": (
        in_function(
            "%m: memref<?xf32>, %t: vector<8xi1>, %v: vector<8xi32>, %i: index",
            "vector.maskedstore %m[%i], %t, %v : memref<?xf32>, vector<8xi1>, vector<8xi32>",
        ),
        "the vector's element type must be f32, but is i32",
    ),
    "maskedstore with a long mask": (
        in_function(
            "%m: memref<?xf32>, %t: vector<9xi1>, %v: vector<8xf32>, %i: index",
            "vector.maskedstore %m[%i], %t, %v : memref<?xf32>, vector<9xi1>, vector<8xf32>",
        ),
        "the mask must have the shape [8], got vector<9xi1>",
    ),
    "expandload with a scalable mask": (
        in_function(
            "%m: memref<?xf32>, %t: vector<[8]xi1>, %v: vector<[8]xf32>, %i: index",
            "%0 = vector.expandload %m[%i], %t, %v : memref<?xf32>, vector<[8]xi1>, "
            "vector<[8]xf32> into vector<[8]xf32>",
        ),
        "expected a vector of i1 with dimensions that are not scalable, got vector<[8]xi1>",
    ),
    "expandload with a short mask": (
        in_function(
            "%m: memref<?xf32>, %t: vector<4xi1>, %v: vector<8xf32>, %i: index",
            "%0 = vector.expandload %m[%i], %t, %v : memref<?xf32>, vector<4xi1>, vector<8xf32> "
            "into vector<8xf32>",
        ),
        "the mask must be as long as vector<8xf32>, got vector<4xi1>",
    ),
    "compressstore with too few indices": (
        in_function(
            "%m: memref<?x?xf32>, %t: vector<8xi1>, %v: vector<8xf32>, %i: index",
            "vector.compressstore %m[%i], %t, %v : memref<?x?xf32>, vector<8xi1>, vector<8xf32>",
        ),
        "expected 2 indices for memref<?x?xf32>, got 1",
    ),
    "gather at positions of another shape": (
        in_function(
            f"{MASKED}, %p: vector<4xi32>",
            "%0 = vector.gather %m[%i] [%p], %t, %v : memref<?xf32>, vector<4xi32>, vector<8xi1>, "
            "vector<8xf32> into vector<8xf32>",
        ),
        "the vector of positions must have the shape [8], got vector<4xi32>",
    ),
    "gather at positions that are floats": (
        in_function(
            MASKED,
            "%0 = vector.gather %m[%i] [%v], %t, %v : memref<?xf32>, vector<8xf32>, vector<8xi1>, "
            "vector<8xf32> into vector<8xf32>",
        ),
        "expected a vector of integers or index with dimensions, got vector<8xf32>",
    ),
    "gather without offsets": (
        in_function(
            f"{MASKED}, %p: vector<8xi32>",
            "%0 = vector.gather %m[] [%p], %t, %v : memref<?xf32>, vector<8xi32>, vector<8xi1>, "
            "vector<8xf32> into vector<8xf32>",
        ),
        "expected 1 indices for memref<?xf32>, got 0",
    ),
    "scatter of other elements": (
        in_function(
            f"{MASKED}, %p: vector<8xi32>, %n: memref<?xf16>",
            "vector.scatter %n[%i] [%p], %t, %v : memref<?xf16>, vector<8xi32>, vector<8xi1>, "
            "vector<8xf32>",
        ),
        "the vector's element type must be f16, but is f32",
    ),
    "scatter with a mask of another shape": (
        in_function(
            "%m: memref<?xf32>, %p: vector<8xi32>, %t: vector<2x4xi1>, %v: vector<8xf32>, "
            "%i: index",
            "vector.scatter %m[%i] [%p], %t, %v : memref<?xf32>, vector<8xi32>, vector<2x4xi1>, "
            "vector<8xf32>",
        ),
        "the mask must have the shape [8], got vector<2x4xi1>",
    ),
    "type_cast of unknown sizes": (
        in_function(
            "%a: memref<?xf32>", "%0 = vector.type_cast %a : memref<?xf32> to memref<vector<4xf32>>"
        ),
        "expected a memref of known sizes, got memref<?xf32>",
    ),
    "type_cast of strides": (
        in_function(
            f"%a: {STRIDED}", f"%0 = vector.type_cast %a : {STRIDED} to memref<vector<8x8xf32>>"
        ),
        "expected default layouts",
    ),
    "type_cast to another memory space": (
        in_function(
            "%a: memref<4xf32>",
            "%0 = vector.type_cast %a : memref<4xf32> to memref<vector<4xf32>, 3>",
        ),
        "expected equal memory spaces",
    ),
    "type_cast to other sizes": (
        in_function(
            "%a: memref<4xf32>", "%0 = vector.type_cast %a : memref<4xf32> to memref<vector<5xf32>>"
        ),
        "expected the same sizes and numbers in memrefs and vectors",
    ),
    "type_cast to other numbers": (
        in_function(
            "%a: memref<4xf32>", "%0 = vector.type_cast %a : memref<4xf32> to memref<vector<4xi32>>"
        ),
        "expected the same sizes and numbers in memrefs and vectors",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
