"""The text of pointers and of views of what they point to, and what is refused."""

from __future__ import annotations

import pytest

from tests.dialects.core.core_text import joined, verified

PARAMETERS = (
    "%p: !core.ptr<f32>, %v: vector<8x!core.ptr<f32>>, %t: vector<2x4x!core.ptr<f32>>, %n: i32, "
    "%w: vector<8xi32>, %k: vector<8xi1>, %x: vector<8xf32>, %i: index, %c: i1, %a: i64, "
    "%b: vector<8xi64>, %q: !core.ptr<!core.ptr<f16>>, %f: f32, "
    "%l: !core.ptr<f32, #gpu.address_space<workgroup>>"
)

RIGHT = [
    "%r = core.pointer_add %p, %n : !core.ptr<f32>, i32",
    "%r = core.pointer_add %p, %i : !core.ptr<f32>, index",
    "%r = core.pointer_add %v, %w : vector<8x!core.ptr<f32>>, vector<8xi32>",
    "%r = core.pointer_cast %p : !core.ptr<f32> -> !core.ptr<i8>",
    "%r = core.pointer_cast %v : vector<8x!core.ptr<f32>> -> vector<8x!core.ptr<!core.ptr<i1>>>",
    (
        "%r = core.pointer_cast %l : !core.ptr<f32, #gpu.address_space<workgroup>> "
        "-> !core.ptr<i32, #gpu.address_space<workgroup>>"
    ),
    "%r = core.pointer_to_integer %v : vector<8x!core.ptr<f32>> -> vector<8xi64>",
    "%r = core.integer_to_pointer %a : i64 -> !core.ptr<f8E4M3FN>",
    "%r = core.gather_load %v : vector<8x!core.ptr<f32>> -> vector<8xf32>",
    (
        "%r = core.gather_load %v, %k, %x : vector<8x!core.ptr<f32>>, vector<8xi1>, "
        "vector<8xf32> -> vector<8xf32>"
    ),
    "%r = core.gather_load %p, %c, %f : !core.ptr<f32>, i1, f32 -> f32",
    "%r = core.gather_load acquire device %p : !core.ptr<f32> -> f32",
    "%r = core.gather_load %q : !core.ptr<!core.ptr<f16>> -> !core.ptr<f16>",
    "core.scatter_store %x, %v, %k : vector<8xf32>, vector<8x!core.ptr<f32>>, vector<8xi1>",
    "core.scatter_store release system %f, %p : f32, !core.ptr<f32>",
    (
        "%r = core.atomic_rmw addf relaxed device %x, %v, %k : vector<8xf32>, "
        "vector<8x!core.ptr<f32>>, vector<8xi1>"
    ),
    ("%r = core.atomic_compare_and_swap acq_rel block %f, %f, %p : f32, !core.ptr<f32>"),
    "%r = core.assume %v contiguous 8 along 0 divisible_by 16 : vector<8x!core.ptr<f32>>",
    (
        "%r = core.view %p to offset: [0], sizes: [*, %i], strides: [%i, 1] : !core.ptr<f32> to "
        "memref<?x?xf32, strided<[?, 1]>>"
    ),
    (
        "%r = core.view %p to offset: [%i], sizes: [4, 8], strides: [-8, 1] : !core.ptr<f32> to "
        "memref<4x8xf32, strided<[-8, 1], offset: ?>>"
    ),
    "%r = core.view %p to offset: [0], sizes: [], strides: [] : !core.ptr<f32> to memref<f32>",
    (
        "%r = core.view %l to offset: [0], sizes: [4], strides: [1] : "
        "!core.ptr<f32, #gpu.address_space<workgroup>> to "
        "memref<4xf32, #gpu.address_space<workgroup>>"
    ),
    "%r = arith.select %k, %v, %v : vector<8xi1>, vector<8x!core.ptr<f32>>",
    "%r = arith.select %c, %p, %p : !core.ptr<f32>",
    "%r = vector.broadcast %p : !core.ptr<f32> to vector<8x!core.ptr<f32>>",
    "%r = vector.shape_cast %v : vector<8x!core.ptr<f32>> to vector<2x4x!core.ptr<f32>>",
    "%r = vector.transpose %t, [1, 0] : vector<2x4x!core.ptr<f32>> to vector<4x2x!core.ptr<f32>>",
]

WRONG = [
    (
        "%r = core.pointer_add %v, %n : vector<8x!core.ptr<f32>>, i32",
        "the offset must be vector<8xi32>, but is i32",
    ),
    ("%r = core.pointer_add %p, %f : !core.ptr<f32>, f32", "an integer or index, or a vector"),
    ("%r = core.pointer_add %i, %i : index, index", "a pointer, or a vector of pointers"),
    (
        "%r = core.pointer_cast %p : !core.ptr<f32> -> vector<1x!core.ptr<i8>>",
        "the result must be !core.ptr<i8>, but is vector<1x!core.ptr<i8>>",
    ),
    (
        (
            "%r = core.pointer_cast %l : !core.ptr<f32, #gpu.address_space<workgroup>> "
            "-> !core.ptr<f32>"
        ),
        "the result must be !core.ptr<f32, #gpu.address_space<workgroup>>, but is !core.ptr<f32>",
    ),
    (
        "%r = core.pointer_to_integer %p : !core.ptr<f32> -> i32",
        "the result must be i64, but is i32",
    ),
    (
        "%r = core.integer_to_pointer %n : i32 -> !core.ptr<f32>",
        "the address must be i64, but is i32",
    ),
    (
        "%r = core.integer_to_pointer %a : i64 -> !core.ptr<i4>",
        "there is no pointer to i4; expected an i1, a number of 8, 16, 32 or 64 bits",
    ),
    (
        "%r = core.integer_to_pointer %a : i64 -> !core.ptr<memref<4xf32>>",
        "there is no pointer to memref<4xf32>",
    ),
    (
        "%r = core.gather_load %v : vector<8x!core.ptr<f32>> -> vector<4xf32>",
        "what is accessed must be vector<8xf32>, but is vector<4xf32>",
    ),
    (
        "%r = core.gather_load %p[%i] : !core.ptr<f32>[index] -> f32",
        "expected no indices for !core.ptr<f32>, got 1",
    ),
    (
        "%r = core.gather_load %v, %c : vector<8x!core.ptr<f32>>, i1 -> vector<8xf32>",
        "the mask must be vector<8xi1>, but is i1",
    ),
    (
        "%r = core.gather_load release device %p : !core.ptr<f32> -> f32",
        "core.gather_load is relaxed or acquire, got release",
    ),
    (
        "core.scatter_store acquire device %f, %p : f32, !core.ptr<f32>",
        "core.scatter_store is relaxed or release, got acquire",
    ),
    (
        (
            '%r = "core.gather_load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, '
            "order = #core<memory_order relaxed>}> : (!core.ptr<f32>) -> f32"
        ),
        "expected both an order and a scope, or neither",
    ),
    (
        "%r = core.atomic_rmw addi relaxed device %f, %p : f32, !core.ptr<f32>",
        "addi is for integers, got f32",
    ),
    (
        (
            "%s = core.gather_load %q : !core.ptr<!core.ptr<f16>> -> !core.ptr<f16>\n"
            "%r = core.atomic_rmw assign relaxed device %s, %q : !core.ptr<f16>, "
            "!core.ptr<!core.ptr<f16>>"
        ),
        "pointers are updated as integers",
    ),
    ("%r = core.assume %p at_least 0 : !core.ptr<f32>", "pointers have no bounds"),
    (
        (
            "%r = core.view %p to offset: [0], sizes: [4], strides: [1] : !core.ptr<f32> to "
            "memref<4xi32>"
        ),
        "the memref's element must be f32, but is i32",
    ),
    (
        (
            "%r = core.view %p to offset: [0], sizes: [*], strides: [1] : !core.ptr<f32> to "
            "memref<4xf32>"
        ),
        "expected a result of the sizes ?, got memref<4xf32>",
    ),
    (
        (
            "%r = core.view %p to offset: [0], sizes: [4], strides: [%i] : !core.ptr<f32> to "
            "memref<4xf32>"
        ),
        "expected a result of the strides ?, got memref<4xf32>",
    ),
    (
        (
            "%r = core.view %p to offset: [%i], sizes: [4], strides: [1] : !core.ptr<f32> to "
            "memref<4xf32>"
        ),
        "expected a result of the offset ?, got memref<4xf32>",
    ),
    (
        (
            "%r = core.view %l to offset: [0], sizes: [4], strides: [1] : "
            "!core.ptr<f32, #gpu.address_space<workgroup>> to memref<4xf32>"
        ),
        "expected the memory of !core.ptr<f32, #gpu.address_space<workgroup>>",
    ),
]


@pytest.mark.parametrize("line", RIGHT)
def test_round_trip(line: str) -> None:
    text, errors = verified(PARAMETERS, line)
    assert errors == []
    assert joined(line) in text


@pytest.mark.parametrize(("line", "message"), WRONG)
def test_errors(line: str, message: str) -> None:
    _, (error, *_) = verified(PARAMETERS, line)
    assert message in error


SCALARS = "%p: !core.ptr<f32>, %n: i32, %a: i64, %i: index"

OF_ALL_LEVELS = [
    RIGHT[0],
    RIGHT[3],
    "%r = core.pointer_to_integer %p : !core.ptr<f32> -> i64",
    RIGHT[7],
    RIGHT[18],
]


@pytest.mark.parametrize("level", ["block", "subgroup", "lane", "tile"])
@pytest.mark.parametrize("line", OF_ALL_LEVELS)
def test_all_levels_have_pointers(line: str, level: str) -> None:
    text, errors = verified(SCALARS, line, level)
    assert errors == []
    assert joined(line) in text


@pytest.mark.parametrize("level", ["block", "subgroup", "lane"])
def test_only_tiles_have_vectors_of_pointers(level: str) -> None:
    line = "%r = vector.broadcast %p : !core.ptr<f32> to vector<8x!core.ptr<f32>>"
    _, errors = verified(SCALARS, line, level)
    message = "vector.broadcast has a vector of pointers, which is a tile; the kernel is at level"
    assert any(message in error for error in errors)
    _, (error,) = verified(SCALARS, "%r = core.gather_load %p : !core.ptr<f32> -> f32", level)
    assert "core.gather_load is an operation on tiles" in error
