"""Matrices in shared local memory against numpy: each layout, for subgroups and for lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import LANES, random_array, undefined
from xtile.semantics.errors import ExecutionError


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


def in_memory(matrix: Any, block: tuple[int, int], is_column_major: bool) -> Any:
    """The elements in the order in which a layout has them."""
    rows, columns = matrix.shape
    blocks = matrix.reshape(rows // block[0], block[0], columns // block[1], block[1])
    order = (2, 0, 3, 1) if is_column_major else (0, 2, 1, 3)
    return blocks.transpose(order).reshape(-1)


LAYOUTS: dict[str, tuple[str, tuple[int, int], bool]] = {
    "row-major": ("", (32, 64), False),
    "strided": (", #xegpu.mem_layout<stride = [64, 1]>", (32, 64), False),
    "column-major": (", #xegpu.mem_layout<stride = [1, 32]>", (32, 64), True),
    "blocked": (", #xegpu.mem_layout<block = [16, 16]>", (16, 16), False),
    "blocked in columns": (
        ", #xegpu.mem_layout<stride = [1, 32], block = [8, 16]>",
        (8, 16),
        True,
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts(layout: str, rng: np.random.Generator) -> None:
    """Rows of a matrix are stored by subgroups, and its memory is read as bytes."""
    text_of_layout, block, is_column_major = LAYOUTS[layout]
    matrix = random_array(rng, (32, 64), "f16")
    raw, copied = undefined((4096,), "i8"), undefined((32, 64), "f16")
    type_ = f"!xegpu.mem_desc<32x64xf16{text_of_layout}>"
    text = kernel(
        "%a: memref<32x64xf16>, %raw: memref<4096xi8>, %copied: memref<32x64xf16>",
        f"""%c0 = arith.constant 0 : index
        %c8 = arith.constant 8 : index
        %m = memref.alloca() : memref<4096xi8, 3>
        %d = xegpu.create_mem_desc %m : memref<4096xi8, 3> -> {type_}
        %id = gpu.subgroup_id : index
        %i = arith.muli %id, %c8 : index
        %s = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<8x64xf16>
        %t = xegpu.create_nd_tdesc %copied : memref<32x64xf16> -> !xegpu.tensor_desc<8x64xf16>
        %v = xegpu.load_nd %s[%i, 0] : !xegpu.tensor_desc<8x64xf16> -> vector<8x64xf16>
        xegpu.store_matrix %v, %d[%i, 0] : vector<8x64xf16>, {type_}, index
        gpu.barrier
        %w = xegpu.load_matrix %d[%i, %c0] : {type_}, index, index -> vector<8x64xf16>
        xegpu.store_nd %w, %t[%i, 0] : vector<8x64xf16>, !xegpu.tensor_desc<8x64xf16>
        memref.copy %m, %raw : memref<4096xi8, 3> to memref<4096xi8>""",
    )
    run(text, matrix, raw, copied, block=(4 * LANES, 1, 1))
    np.testing.assert_array_equal(copied, matrix)
    np.testing.assert_array_equal(raw.view(np.float16), in_memory(matrix, block, is_column_major))


def read_by_lanes(matrix: Any, layout: str, load: str, vector: str, count: int) -> Any:
    """What each lane loads, an array (lanes, elements)."""
    type_ = f"!xegpu.mem_desc<32x64xf32{layout}>"
    text = kernel(
        "%a: memref<2048xf32>, %out: memref<?xf32>",
        f"""%lane = gpu.lane_id
        %m = memref.alloca() : memref<2048xf32, 3>
        memref.copy %a, %m : memref<2048xf32> to memref<2048xf32, 3>
        %d = xegpu.create_mem_desc %m : memref<2048xf32, 3> -> {type_}
        %v = xegpu.load_matrix {load} : {type_}, index -> {vector}
        %c = arith.constant {count} : index
        %o = arith.muli %lane, %c : index
        %k = arith.constant true
        xegpu.store %v, %out[%o], %k <{{chunk_size = {count} : i64}}>
          : {vector}, memref<?xf32>, index, i1""",
    )
    out = undefined((LANES * count,), "f32")
    run(text, matrix.reshape(-1), out, block=(LANES, 1, 1))
    return out.reshape(LANES, count)


def test_one_element_for_each_lane(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (32, 64), "f32")
    out = read_by_lanes(matrix, "", "%d[5, %lane]", "f32", 1)
    np.testing.assert_array_equal(out[:, 0], matrix[5, :LANES])


def test_elements_of_a_lane_follow_each_other_in_memory(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (32, 64), "f32")
    out = read_by_lanes(matrix, "", "%d[%lane, 8]", "vector<4xf32>", 4)
    np.testing.assert_array_equal(out, matrix[:LANES, 8:12])
    layout = ", #xegpu.mem_layout<stride = [1, 32]>"
    out = read_by_lanes(matrix, layout, "%d[4, %lane]", "vector<4xf32>", 4)
    columns = matrix.reshape(64, 32)
    np.testing.assert_array_equal(out, columns[:LANES, 4:8])


def test_block_access_of_lanes(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (32, 64), "f32")
    load = "%d[%c, 16] <{subgroup_block_io}>"
    type_ = "!xegpu.mem_desc<32x64xf32, #xegpu.mem_layout<block = [16, 16]>>"
    text = kernel(
        "%a: memref<2048xf32>, %b: memref<2048xf32>",
        f"""%m = memref.alloca() : memref<2048xf32, 3>
        %n = memref.alloca() : memref<2048xf32, 3>
        memref.copy %a, %m : memref<2048xf32> to memref<2048xf32, 3>
        memref.copy %b, %n : memref<2048xf32> to memref<2048xf32, 3>
        %d = xegpu.create_mem_desc %m : memref<2048xf32, 3> -> {type_}
        %e = xegpu.create_mem_desc %n : memref<2048xf32, 3> -> {type_}
        %c = arith.constant 16 : index
        %v = xegpu.load_matrix {load} : {type_}, index -> vector<8xf32>
        xegpu.store_matrix %v, %e[0, 48] <{{subgroup_block_io}}> : vector<8xf32>, {type_}
        memref.copy %n, %b : memref<2048xf32, 3> to memref<2048xf32>""",
    )
    out = np.zeros(2048, np.float32)
    run(text, in_memory(matrix, (16, 16), False), out, block=(LANES, 1, 1))
    expected = np.zeros((32, 64), np.float32)
    expected[:8, 48:] = matrix[16:24, 16:32]
    np.testing.assert_array_equal(out, in_memory(expected, (16, 16), False))


def test_a_part_outside_of_the_memory() -> None:
    type_ = "!xegpu.mem_desc<32x64xf32>"
    text = kernel(
        "%i: index",
        f"""%m = memref.alloca() : memref<2048xf32, 3>
        %d = xegpu.create_mem_desc %m : memref<2048xf32, 3> -> {type_}
        %v = arith.constant dense<0.0> : vector<8x16xf32>
        xegpu.store_matrix %v, %d[%i, 0] : vector<8x16xf32>, {type_}, index""",
    )
    with pytest.raises(ExecutionError, match=r"lies outside of the memory of %m"):
        run(text, np.int64(25), block=(LANES, 1, 1))
