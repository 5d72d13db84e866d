"""Masks, masked operations and printing of vectors against mlir-opt."""

from __future__ import annotations

import pytest

from tests.dialects.upstream_text import check_agreement, check_refusal, in_function

VALUES = "%t: vector<8xi1>, %v: vector<8xf32>, %x: f32"
MEMORY = "%m: memref<?xf32>, %i: index"
REDUCTION = "vector.reduction <add>, %v : vector<8xf32> into f32"
READ = "vector.transfer_read %m[%i], %x : memref<?xf32>, vector<8xf32>"

RIGHT = {
    "create_mask": in_function(
        "%i: index, %j: index",
        "%0 = vector.create_mask %i, %j : vector<4x8xi1>\n"
        "%1 = vector.create_mask %i {a} : vector<i1>\n"
        "%2 = vector.create_mask %j, %i : vector<4x[8]xi1>",
    ),
    "constant_mask": in_function(
        "",
        "%0 = vector.constant_mask [3, 2] : vector<4x8xi1>\n"
        "%1 = vector.constant_mask [1] {a} : vector<i1>\n"
        "%2 = vector.constant_mask [4, 8] : vector<4x[8]xi1>\n"
        "%3 = vector.constant_mask [0, 0] : vector<4x[8]xi1>",
    ),
    "mask of reductions": in_function(
        f"{VALUES}, %w: vector<4x8xf32>, %a: vector<8xf32>, %k: vector<4x8xi1>",
        f"%0 = vector.mask %t {{ {REDUCTION} }} : vector<8xi1> -> f32\n"
        "%1 = vector.mask %t { vector.reduction <add>, %v, %x : vector<8xf32> into f32 } {a} "
        ": vector<8xi1> -> f32\n"
        "%2 = vector.mask %k { vector.multi_reduction <mul>, %w, %a [0] : vector<4x8xf32> to "
        "vector<8xf32> } : vector<4x8xi1> -> vector<8xf32>",
    ),
    "mask with a yield": in_function(
        VALUES,
        f"%0 = vector.mask %t {{\n%1 = {REDUCTION}\nvector.yield %1 : f32\n}} "
        ": vector<8xi1> -> f32",
    ),
    "mask of nothing": in_function(
        VALUES,
        "vector.mask %t { } : vector<8xi1>\n"
        "%0 = vector.mask %t { vector.yield %v : vector<8xf32> } : vector<8xi1> -> vector<8xf32>",
    ),
    "mask of transfers": in_function(
        f"{VALUES}, {MEMORY}, %b: tensor<?xf32>",
        f"%0 = vector.mask %t {{ {READ} }} : vector<8xi1> -> vector<8xf32>\n"
        f"%1 = vector.mask %t, %v {{ {READ} }} : vector<8xi1> -> vector<8xf32>\n"
        "vector.mask %t { vector.transfer_write %v, %m[%i] : vector<8xf32>, memref<?xf32> } "
        ": vector<8xi1>\n"
        "%2 = vector.mask %t { vector.transfer_write %v, %b[%i] : vector<8xf32>, tensor<?xf32> } "
        ": vector<8xi1> -> tensor<?xf32>",
    ),
    "mask of products": in_function(
        "%a: vector<4xf32>, %b: vector<6xf32>, %k: vector<4x6xi1>, %c: vector<4x6xf32>, "
        "%l: vector<4x5xf32>, %r: vector<5x6xf32>, %s: vector<4x6x5xi1>",
        "%0 = vector.mask %k { vector.outerproduct %a, %b, %c : vector<4xf32>, vector<6xf32> } "
        ": vector<4x6xi1> -> vector<4x6xf32>\n"
        "%1 = vector.mask %s { vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, "
        "affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = "
        '["parallel", "parallel", "reduction"]} %l, %r, %c : vector<4x5xf32>, vector<5x6xf32> into '
        "vector<4x6xf32> } : vector<4x6x5xi1> -> vector<4x6xf32>",
    ),
    "mask of a gather": in_function(
        f"{VALUES}, {MEMORY}, %p: vector<8xi32>",
        "%0 = vector.mask %t { vector.gather %m[%i] [%p], %t, %v : memref<?xf32>, vector<8xi32>, "
        "vector<8xi1>, vector<8xf32> into vector<8xf32> } : vector<8xi1> -> vector<8xf32>",
    ),
    "print": in_function(
        "%v: vector<4xf32>, %i: index, %n: ui8, %s: vector<f32>",
        "vector.print %v : vector<4xf32>\n"
        "vector.print %v : vector<4xf32> punctuation <comma>\n"
        "vector.print %i : index punctuation <no_punctuation> {a}\n"
        "vector.print %n : ui8\n"
        "vector.print %s : vector<f32> punctuation <newline>\n"
        "vector.print punctuation <open>\n"
        'vector.print str "a \\22string\\22\\0A" {a}\n'
        "vector.print",
    ),
}

WRONG = {
    "create_mask with too few sizes": (
        in_function("%i: index", "%0 = vector.create_mask %i : vector<4x8xi1>"),
        "expected 2 sizes for vector<4x8xi1>, got 1",
    ),
    "create_mask without a size": (
        in_function("", "%0 = vector.create_mask : vector<i1>"),
        "expected 1 sizes for vector<i1>, got 0",
    ),
    "create_mask of integers": (
        in_function("%i: index", "%0 = vector.create_mask %i : vector<4xi8>"),
        "expected a vector of i1, got vector<4xi8>",
    ),
    "constant_mask with too many sizes": (
        in_function("", "%0 = vector.constant_mask [1, 2] : vector<4xi1>"),
        "expected 1 sizes for vector<4xi1>, got 2",
    ),
    "constant_mask beyond a dimension": (
        in_function("", "%0 = vector.constant_mask [5] : vector<4xi1>"),
        "a size for a dimension 4 must be from 0 to 4, got 5",
    ),
    "constant_mask that is not a truth value": (
        in_function("", "%0 = vector.constant_mask [2] : vector<i1>"),
        "a size for a dimension 1 must be from 0 to 1, got 2",
    ),
    "constant_mask of a part of a scalable dimension": (
        in_function("", "%0 = vector.constant_mask [2] : vector<[4]xi1>"),
        "a scalable dimension [4] is masked whole or not at all, got 2",
    ),
    "constant_mask of nothing and something": (
        in_function("", "%0 = vector.constant_mask [0, 2] : vector<4x4xi1>"),
        "if a size is 0, all must be 0, got [0, 2]",
    ),
    "mask of two operations": (
        in_function(
            VALUES,
            f"%0 = vector.mask %t {{\n%1 = {REDUCTION}\n%2 = {REDUCTION}\n"
            "vector.yield %1 : f32\n} : vector<8xi1> -> f32",
        ),
        "expected one operation to mask, got 2",
    ),
    "mask without a result": (
        in_function(VALUES, f"vector.mask %t {{ {REDUCTION} }} : vector<8xi1>"),
        "expected a vector.yield of 0 values, got 1",
    ),
    "mask of what cannot be masked": (
        in_function(
            VALUES,
            "%0 = vector.mask %t { arith.addf %v, %v : vector<8xf32> } "
            ": vector<8xi1> -> vector<8xf32>",
        ),
        "'arith.addf' cannot be masked",
    ),
    "mask that yields another value": (
        in_function(
            VALUES,
            f"%0 = vector.mask %t {{\n%1 = {REDUCTION}\nvector.yield %x : f32\n}} "
            ": vector<8xi1> -> f32",
        ),
        "the vector.yield must give the results of the masked operation",
    ),
    "mask with another type of result": (
        in_function(VALUES, f"%0 = vector.mask %t {{ {REDUCTION} }} : vector<8xi1> -> f16"),
        "the results must have the types of the masked operation's",
    ),
    "mask of another shape": (
        in_function(
            f"{VALUES}, %u: vector<4xi1>",
            f"%0 = vector.mask %u {{ {REDUCTION} }} : vector<4xi1> -> f32",
        ),
        "the mask must be vector<8xi1>, but is vector<4xi1>",
    ),
    "mask of integers": (
        in_function(VALUES, f"%0 = vector.mask %v {{ {REDUCTION} }} : vector<8xf32> -> f32"),
        "expected a vector of i1 with dimensions, got vector<8xf32>",
    ),
    "mask of a reduction that something passes through": (
        in_function(VALUES, f"%0 = vector.mask %t, %x {{ {REDUCTION} }} : vector<8xi1> -> f32"),
        "nothing can pass through 'vector.reduction'",
    ),
    "mask that passes through without a result": (
        in_function(
            f"{VALUES}, {MEMORY}",
            "vector.mask %t, %v { vector.transfer_write %v, %m[%i] : vector<8xf32>, "
            "memref<?xf32> } : vector<8xi1>",
        ),
        "what passes through needs a result: expected '-> type'",
    ),
    "mask without its yield": (
        in_function(
            VALUES,
            f'%0 = "vector.mask"(%t) ({{\n%1 = {REDUCTION}\n}}) : (vector<8xi1>) -> f32',
        ),
        "'vector.mask' has a block that ends with 'vector.reduction'",
    ),
    "print of a tensor": (
        in_function("%a: tensor<4xf32>", "vector.print %a : tensor<4xf32>"),
        "expected a vector, an integer, an index or a float, got tensor<4xf32>",
    ),
    "print of a value and a string": (
        in_function("%x: f32", 'vector.print %x : f32 str "x"'),
        "a string is printed alone, without a value or a punctuation",
    ),
    "print of a string with a comma": (
        in_function("", 'vector.print str "x" punctuation <comma>'),
        "a string is printed alone, without a value or a punctuation",
    ),
    "print with an unknown punctuation": (
        in_function("", "vector.print punctuation <colon>"),
        "Expected `no_punctuation`, `newline`, `comma`, `open`, or `close`",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_reads_and_prints_as_mlir_opt(name: str) -> None:
    check_agreement(RIGHT, name)


@pytest.mark.parametrize("name", WRONG)
def test_refuses_as_mlir_opt(name: str) -> None:
    check_refusal(WRONG, name)
