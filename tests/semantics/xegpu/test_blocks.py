"""Block loads and stores against numpy's slices: whole vectors and the parts of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import DTYPES, LANES, load_block, random_array, undefined
from xtile.semantics.errors import ExecutionError


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


def padded(matrix: Any, row: int, column: int, rows: int, columns: int) -> Any:
    """A block of a matrix, with zeros for what lies outside."""
    block = np.zeros((rows, columns), matrix.dtype)
    for i in range(rows):
        for j in range(columns):
            if 0 <= row + i < matrix.shape[0] and 0 <= column + j < matrix.shape[1]:
                block[i, j] = matrix[row + i, column + j]
    return block


def descriptor(rows: int, columns: int, type: str, more: str = "") -> str:
    return f"!xegpu.tensor_desc<{rows}x{columns}x{type}{more}>"


@pytest.mark.parametrize("type", DTYPES)
def test_whole_blocks(type: str, rng: np.random.Generator) -> None:
    matrix = random_array(rng, (24, 40), type)
    loaded = load_block(matrix, descriptor(8, 16, type), "", (8, 16), type, "5, 11")
    for lane in range(LANES):
        np.testing.assert_array_equal(loaded[lane], matrix[5:13, 11:27])


@pytest.mark.parametrize("position", [(-3, -7), (20, 30), (-8, 0), (24, 0), (3, 40), (-20, 90)])
def test_what_lies_outside_is_zero(position: tuple[int, int], rng: np.random.Generator) -> None:
    matrix = random_array(rng, (24, 40), "f32")
    offsets = f"{position[0]}, {position[1]}"
    loaded = load_block(matrix, descriptor(8, 16, "f32"), "", (8, 16), "f32", offsets)
    np.testing.assert_array_equal(loaded[3], padded(matrix, *position, 8, 16))


@pytest.mark.parametrize("position", [(5, 11), (-3, -7), (20, 30), (-20, 90)])
def test_parts_of_lanes_are_columns(position: tuple[int, int], rng: np.random.Generator) -> None:
    matrix = random_array(rng, (24, 40), "f16")
    offsets = f"{position[0]}, {position[1]}"
    parts = load_block(matrix, descriptor(8, 16, "f16"), "", (8,), "f16", offsets)
    np.testing.assert_array_equal(parts, padded(matrix, *position, 8, 16).T)


def test_parts_of_bytes_are_pairs_of_columns(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (8, 32), "i8")
    parts = load_block(matrix, descriptor(8, 32, "i8"), "", (16,), "i8", "0, 0")
    for lane in range(LANES):
        np.testing.assert_array_equal(parts[lane].reshape(8, 2), matrix[:, 2 * lane : 2 * lane + 2])


def test_parts_of_a_narrow_block_are_of_two_rows(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (8, 8), "f32")
    parts = load_block(matrix, descriptor(8, 8, "f32"), "", (4,), "f32", "0, 0")
    for lane in range(LANES):
        np.testing.assert_array_equal(parts[lane], matrix[lane // 8 :: 2, lane % 8])


@pytest.mark.parametrize(("type", "pack"), [("f16", 2), ("bf16", 2), ("i8", 4)])
def test_packed_blocks(type: str, pack: int, rng: np.random.Generator) -> None:
    matrix = random_array(rng, (40, 40), type)
    shape = (32 // pack, 16, pack)
    loaded = load_block(matrix, descriptor(32, 16, type), "<{packed}>", shape, type, "3, 9")
    block = matrix[3:35, 9:25]
    for i, j, k in np.ndindex(*shape):
        assert loaded[0, i, j, k].tobytes() == block[i * pack + k, j].tobytes()


@pytest.mark.parametrize(("type", "pack"), [("f16", 2), ("i8", 4)])
def test_packed_parts_are_columns(type: str, pack: int, rng: np.random.Generator) -> None:
    rows = 8 * pack
    matrix = random_array(rng, (rows, 16), type)
    parts = load_block(matrix, descriptor(rows, 16, type), "<{packed}>", (rows,), type, "0, 0")
    np.testing.assert_array_equal(parts, matrix.T)


def test_transposed_blocks(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (16, 8), "f32")
    load = "<{transpose = array<i64: 1, 0>}>"
    type_ = descriptor(16, 8, "f32")
    loaded = load_block(matrix, type_, load, (8, 16), "f32", "0, 0")
    np.testing.assert_array_equal(loaded[0], matrix.T)
    parts = load_block(matrix, type_, load, (8,), "f32", "0, 0")
    np.testing.assert_array_equal(parts, matrix)


def test_several_blocks_in_a_row(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (12, 40), "f16")
    more = ", #xegpu.block_tdesc_attr<array_length = 2 : i64>"
    type_ = descriptor(8, 16, "f16", more)
    blocks = np.stack([padded(matrix, 2, 9, 8, 16), padded(matrix, 2, 25, 8, 16)])
    loaded = load_block(matrix, type_, "", (2, 8, 16), "f16", "2, 9")
    np.testing.assert_array_equal(loaded[5], blocks)
    parts = load_block(matrix, type_, "", (16,), "f16", "2, 9")
    np.testing.assert_array_equal(parts.reshape(LANES, 2, 8), blocks.transpose(2, 0, 1))


def test_blocks_of_one_dimension(rng: np.random.Generator) -> None:
    line = random_array(rng, (100,), "f32")
    loaded = load_block(line, "!xegpu.tensor_desc<32xf32>", "", (32,), "f32", "9")
    np.testing.assert_array_equal(loaded, np.broadcast_to(line[9:41], (LANES, 32)))
    parts = load_block(line, "!xegpu.tensor_desc<32xf32>", "", (2,), "f32", "9")
    np.testing.assert_array_equal(parts, line[9:41].reshape(2, LANES).T)


def test_a_block_of_one_dimension_outside_of_the_memory() -> None:
    line = np.zeros(100, np.float32)
    with pytest.raises(ExecutionError, match=r"element 100 lies outside of the memory"):
        load_block(line, "!xegpu.tensor_desc<32xf32>", "", (32,), "f32", "69")


def test_without_a_check_of_the_boundary(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (8, 16), "f32")
    type_ = descriptor(2, 8, "f32", ", #xegpu.block_tdesc_attr<boundary_check = false>")
    loaded = load_block(matrix, type_, "", (2, 8), "f32", "1, 12")
    line = matrix.reshape(-1)
    np.testing.assert_array_equal(loaded[0], np.stack([line[28:36], line[44:52]]))
    with pytest.raises(ExecutionError, match=r"element 131 lies outside of the memory"):
        load_block(matrix, type_, "", (2, 8), "f32", "6, 12")


@pytest.mark.parametrize("position", [(5, 11), (-3, -7), (20, 30), (-20, 90)])
@pytest.mark.parametrize("is_for_lane", [False, True])
def test_stores_leave_out_what_lies_outside(
    position: tuple[int, int], is_for_lane: bool, rng: np.random.Generator
) -> None:
    source = random_array(rng, (8, 16), "f32")
    target = undefined((24, 40), "f32")
    vector = "vector<8xf32>" if is_for_lane else "vector<8x16xf32>"
    type_ = descriptor(8, 16, "f32")
    text = kernel(
        "%a: memref<8x16xf32>, %b: memref<24x40xf32>",
        f"""%s = xegpu.create_nd_tdesc %a : memref<8x16xf32> -> {type_}
        %t = xegpu.create_nd_tdesc %b : memref<24x40xf32> -> {type_}
        %v = xegpu.load_nd %s[0, 0] : {type_} -> {vector}
        xegpu.store_nd %v, %t[{position[0]}, {position[1]}] : {vector}, {type_}""",
    )
    run(text, source, target, block=(LANES, 1, 1))
    expected = undefined((64, 200), "f32")
    expected[20 + position[0] : 28 + position[0], 20 + position[1] : 36 + position[1]] = source
    np.testing.assert_array_equal(target, expected[20:44, 20:60])


def test_addresses_with_a_shape_and_strides(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (24, 40), "f16")
    out = undefined((8, 16), "f16")
    type_ = descriptor(8, 16, "f16")
    text = kernel(
        "%a: memref<24x40xf16>, %b: memref<8x16xf16>, %h: index",
        f"""%p = memref.extract_aligned_pointer_as_index %a : memref<24x40xf16> -> index
        %q = arith.index_cast %p : index to i64
        %c84 = arith.constant 84 : i64
        %r = arith.addi %q, %c84 : i64
        %s = xegpu.create_nd_tdesc %r[1, 2], shape : [%h, 20], strides : [40, 1]
          : i64 -> {type_}
        %u = xegpu.update_nd_offset %s, [%h, 3] : {type_}
        %w = xegpu.update_nd_offset %u, [-4, 1] : {type_}
        %t = xegpu.create_nd_tdesc %b : memref<8x16xf16> -> {type_}
        %v = xegpu.load_nd %w : {type_} -> vector<8x16xf16>
        xegpu.store_nd %v, %t[0, 0] : vector<8x16xf16>, {type_}""",
    )
    run(text, matrix, out, np.int64(5), block=(LANES, 1, 1))
    region = matrix[1:6, 2:22]
    np.testing.assert_array_equal(out, padded(region, 2, 6, 8, 16))


def test_subgroups_have_blocks_of_their_own(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (32, 16), "f32")
    out = undefined((32, 16), "f32")
    type_ = descriptor(8, 16, "f32")
    text = kernel(
        "%a: memref<32x16xf32>, %b: memref<32x16xf32>",
        f"""%id = gpu.subgroup_id : index
        %c8 = arith.constant 8 : index
        %c24 = arith.constant 24 : index
        %from = arith.muli %id, %c8 : index
        %to = arith.subi %c24, %from : index
        %c2 = arith.constant 2 : index
        %is_active = arith.cmpi ne, %id, %c2 : index
        scf.if %is_active {{
          %s = xegpu.create_nd_tdesc %a[%from, 0] : memref<32x16xf32> -> {type_}
          %t = xegpu.create_nd_tdesc %b[%to, 0] : memref<32x16xf32> -> {type_}
          xegpu.prefetch_nd %s : {type_}
          %v = xegpu.load_nd %s : {type_} -> vector<8x16xf32>
          xegpu.store_nd %v, %t : vector<8x16xf32>, {type_}
        }}""",
    )
    run(text, matrix, out, block=(4 * LANES, 1, 1))
    expected = matrix.reshape(4, 8, 16)[::-1].copy()
    expected[1] = np.nan
    np.testing.assert_array_equal(out, expected.reshape(32, 16))


def test_a_prefetch_may_go_past_the_end(rng: np.random.Generator) -> None:
    """Kernels that fetch the next block ahead do so, and devices ignore it."""
    type_ = "!xegpu.tensor_desc<8x16xf32, #xegpu.block_tdesc_attr<boundary_check = false>>"
    matrix = random_array(rng, (8, 16), "f32")
    out = undefined((8, 16), "f32")
    text = kernel(
        "%a: memref<8x16xf32>, %b: memref<8x16xf32>",
        f"""%s = xegpu.create_nd_tdesc %a : memref<8x16xf32> -> {type_}
        %t = xegpu.create_nd_tdesc %b : memref<8x16xf32> -> {type_}
        xegpu.prefetch_nd %s[8, 0] : {type_}
        %v = xegpu.load_nd %s[0, 0] : {type_} -> vector<8x16xf32>
        xegpu.store_nd %v, %t[0, 0] : vector<8x16xf32>, {type_}""",
    )
    run(text, matrix, out, block=(LANES, 1, 1))
    np.testing.assert_array_equal(out, matrix)


def test_descriptors_that_a_branch_chooses(rng: np.random.Generator) -> None:
    first, second = (random_array(rng, (8, 16), "f32") for _ in range(2))
    out = undefined((32, 16), "f32")
    type_ = descriptor(8, 16, "f32")
    text = kernel(
        "%a: memref<8x16xf32>, %b: memref<8x16xf32>, %c: memref<32x16xf32>",
        f"""%id = gpu.subgroup_id : index
        %c1 = arith.constant 1 : index
        %c8 = arith.constant 8 : index
        %to = arith.muli %id, %c8 : index
        %is_odd = arith.andi %id, %c1 : index
        %k = arith.index_cast %is_odd : index to i1
        %s = scf.if %k -> ({type_}) {{
          %x = xegpu.create_nd_tdesc %a : memref<8x16xf32> -> {type_}
          scf.yield %x : {type_}
        }} else {{
          %y = xegpu.create_nd_tdesc %b : memref<8x16xf32> -> {type_}
          scf.yield %y : {type_}
        }}
        %t = xegpu.create_nd_tdesc %c : memref<32x16xf32> -> {type_}
        %v = xegpu.load_nd %s[0, 0] : {type_} -> vector<8xf32>
        xegpu.store_nd %v, %t[%to, 0] : vector<8xf32>, {type_}""",
    )
    run(text, first, second, out, block=(4 * LANES, 1, 1))
    np.testing.assert_array_equal(out, np.concatenate([second, first] * 2))


def test_a_part_that_is_no_lanes() -> None:
    message = r"a lane's vector has 4 elements, but in a subgroup of 16 lanes a lane has 8 of a"
    with pytest.raises(ExecutionError, match=message):
        load_block(np.zeros((8, 16), np.float32), descriptor(8, 16, "f32"), "", (4,), "f32", "0, 0")
