"""Cooperative matrices on the reference device: against numpy's products."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from xtile.semantics.errors import ExecutionError

SIZE = 64
INPUTS: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "i8": np.int8}
SUMS = {"bf16": "f32", "f16": "f32", "i8": "i32"}


def random(element: str, *shape: int) -> Any:
    rng = fresh_generator()
    if element == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.standard_normal(shape).astype(INPUTS[element])


def packed_rows(matrix: Any) -> Any:
    """The words of an A: neighbours in a row."""
    return np.ascontiguousarray(matrix).view(np.int32)


def packed_columns(matrix: Any) -> Any:
    """The words of a B: neighbours in a column."""
    depth, columns = matrix.shape
    factors = 4 // matrix.itemsize
    grouped = matrix.reshape(depth // factors, factors, columns).swapaxes(1, 2)
    return np.ascontiguousarray(grouped).view(np.int32)[..., 0]


def product(element: str, is_a_packed: bool) -> str:
    """A kernel that multiplies 16 x K by K x 16 from row 2 and column 8 on, or what packs them."""
    depth, factors, sums = (64, 4, "i32") if element == "i8" else (32, 2, "f32")
    a_type = f"!core.cooperative_matrix<16x{depth}x{element}, matrix_a>"
    b_type = f"!core.cooperative_matrix<{depth}x16x{element}, matrix_b>"
    c_type = f"!core.cooperative_matrix<16x16x{sums}, accumulator>"
    a_memory = (
        f"memref<{SIZE}x{SIZE // factors}xi32>" if is_a_packed else f"memref<64x128x{element}>"
    )
    column = "%zero" if is_a_packed else "%eight"
    return kernel(
        f"%a: {a_memory}, %b: memref<{SIZE // factors}x{SIZE}xi32>, %c: memref<64x64x{sums}>",
        f"""
        %zero = arith.constant 0 : index
        %two = arith.constant 2 : index
        %eight = arith.constant 8 : index
        %x = core.cooperative_matrix_load {"packed" if is_a_packed else ""} %a[%two, {column}]
            : {a_memory} -> {a_type}
        %y = core.cooperative_matrix_load packed %b[%zero, %eight]
            : memref<{SIZE // factors}x{SIZE}xi32> -> {b_type}
        %z = core.cooperative_matrix_load %c[%eight, %two] : memref<64x64x{sums}> -> {c_type}
        %r = core.cooperative_matrix_multiply_add %x, %y, %z
            : {a_type}, {b_type}, {c_type} -> {c_type}
        core.cooperative_matrix_store %r, %c[%eight, %two] : {c_type}, memref<64x64x{sums}>
        """,
        attributes='core.level = "lane", known_block_size = array<i32: 1, 1, 1>',
    )


@pytest.mark.parametrize("is_a_packed", [False, True])
@pytest.mark.parametrize("element", INPUTS)
def test_product(element: str, is_a_packed: bool) -> None:
    depth = 64 if element == "i8" else 32
    wide: Any = np.int64 if element == "i8" else np.float64
    a, b = random(element, SIZE, SIZE if is_a_packed else 128), random(element, SIZE, SIZE)
    c = random("i8", SIZE, SIZE).astype(np.int32 if element == "i8" else np.float32)
    before = c.copy()
    first = 0 if is_a_packed else 8
    left = a[2:18, first : first + depth].astype(wide)
    right = b[:depth, 8:24].astype(wide)
    wanted = before.astype(wide)
    wanted[8:24, 2:18] += left @ right
    run(product(element, is_a_packed), packed_rows(a) if is_a_packed else a, packed_columns(b), c)
    # f32 adds up to 64 products, each of which it rounds; integers are exact.
    bound = np.zeros_like(wanted)
    bound[8:24, 2:18] = 70 * 2.0**-24 * (abs(left) @ abs(right) + abs(before[8:24, 2:18]))
    assert (abs(c - wanted) <= (0 if element == "i8" else bound)).all()


def test_memory_may_hold_bits() -> None:
    matrix = "!core.cooperative_matrix<4x8xbf16, matrix_a>"
    text = kernel(
        "%bits: memref<4x8xi16>, %out: memref<4x8xbf16>, %back: memref<4x8xi16>",
        f"""
        %zero = arith.constant 0 : index
        %m = core.cooperative_matrix_load %bits[%zero, %zero] : memref<4x8xi16> -> {matrix}
        core.cooperative_matrix_store %m, %out[%zero, %zero] : {matrix}, memref<4x8xbf16>
        core.cooperative_matrix_store %m, %back[%zero, %zero] : {matrix}, memref<4x8xi16>
        """,
        attributes="known_block_size = array<i32: 1, 1, 1>",
    )
    numbers = random("bf16", 4, 8)
    out = np.full((4, 8), np.nan, ml_dtypes.bfloat16)
    back = np.zeros((4, 8), np.int16)
    run(text, numbers.view(np.int16), out, back)
    assert (out == numbers).all()
    assert (back == numbers.view(np.int16)).all()


@pytest.mark.parametrize(("element", "factors"), [("bf16", 2), ("i8", 4)])
@pytest.mark.parametrize("use", ["matrix_a", "matrix_b"])
def test_packed_memory_may_hold_elements(use: str, element: str, factors: int) -> None:
    """The same bytes are the same matrix, whether they are words or what words consist of."""
    rows, columns = (3, 2 * factors) if use == "matrix_a" else (2 * factors, 3)
    matrix = f"!core.cooperative_matrix<{rows}x{columns}x{element}, {use}>"
    height, width = (rows, 2) if use == "matrix_a" else (2, columns)
    words = f"memref<{height}x{width}xi32>"
    elements = f"memref<{height}x{width * factors}x{element}>"
    output = f"memref<{rows}x{columns}x{element}>"
    text = kernel(
        f"%words: {words}, %elements: {elements}, %one: {output}, %other: {output}",
        f"""
        %c = arith.constant 0 : index
        %x = core.cooperative_matrix_load packed %words[%c, %c] : {words} -> {matrix}
        core.cooperative_matrix_store %x, %one[%c, %c] : {matrix}, {output}
        %y = core.cooperative_matrix_load packed %elements[%c, %c] : {elements} -> {matrix}
        core.cooperative_matrix_store %y, %other[%c, %c] : {matrix}, {output}
        """,
        attributes="known_block_size = array<i32: 1, 1, 1>",
    )
    numbers = random(element, rows, columns)
    packed = packed_rows(numbers) if use == "matrix_a" else packed_columns(numbers)
    one, other = np.zeros_like(numbers), np.zeros_like(numbers)
    run(text, packed, packed.view(numbers.dtype), one, other)
    assert (one == numbers).all()
    assert (other == numbers).all()


def filled(row: str) -> str:
    """A kernel that fills a block at 4 rows and columns for each number in `row` and subgroup."""
    matrix = "!core.cooperative_matrix<4x4xf32, accumulator>"
    return kernel(
        "%out: memref<8x8xf32>",
        f"""
        %lane = gpu.lane_id
        %subgroup = gpu.subgroup_id : index
        %four = arith.constant 4 : index
        %row = arith.divui {row}, %four : index
        %column = arith.muli %subgroup, %four : index
        %number = arith.index_cast %subgroup : index to i32
        %x = arith.sitofp %number : i32 to f32
        %m = core.cooperative_matrix_fill %x : f32 -> {matrix}
        core.cooperative_matrix_store %m, %out[%row, %column] : {matrix}, memref<8x8xf32>
        """,
        attributes="intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 32, 1, 1>",
    )


def test_each_subgroup_has_its_matrix() -> None:
    out = np.full((8, 8), np.nan, np.float32)
    run(filled("%subgroup"), out, block=(32, 1, 1))
    assert (out[:4, :4] == 0).all()
    assert (out[:4, 4:] == 1).all()
    assert np.isnan(out[4:]).all()


def test_lanes_that_differ_are_refused() -> None:
    with pytest.raises(ExecutionError, match="the work-items of a subgroup have different"):
        run(filled("%lane"), np.zeros((8, 8), np.float32), block=(32, 1, 1))
