"""What only the RFC's form says: other splits of blocks, transposed chunks and fragments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import LANES, load_block, random_array, undefined


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


@pytest.mark.parametrize(("type", "pack"), [("f16", 2), ("i8", 4)])
def test_a_split_of_the_columns(type: str, pack: int, rng: np.random.Generator) -> None:
    matrix = random_array(rng, (8, 32), type)
    shape = (8, 32 // pack, pack)
    loaded = load_block(
        matrix,
        f"!xegpu.tensor_desc<8x32x{type}>",
        "{vnni_axis = 1 : i32}",
        shape,
        type,
        "0, 0",
    )
    np.testing.assert_array_equal(loaded[0], matrix.reshape(shape))


@pytest.mark.parametrize("shape", [(8, 64), (8, 32, 2)])
def test_a_transpose_of_pairs(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    matrix = random_array(rng, (32, 16), "f16")
    load = "<{transpose = array<i64: 1, 0>}> {transpose_bit_width = 32 : i32}"
    loaded = load_block(matrix, "!xegpu.tensor_desc<32x16xf16>", load, shape, "f16", "0, 0")
    pairs = np.ascontiguousarray(matrix).view(np.int32)
    expected = np.ascontiguousarray(pairs.T).view(np.float16)
    np.testing.assert_array_equal(loaded[0].reshape(8, 64), expected)


def layout(lanes: tuple[int, int], data: tuple[int, int]) -> str:
    return f"#xegpu.layout<lane_layout = {list(lanes)}, lane_data = {list(data)}>"


def fragment(matrix: Any, lane: int, lanes: tuple[int, int], data: tuple[int, int]) -> Any:
    """What a lane owns of a matrix, element by element."""
    rows, columns = matrix.shape[0] // lanes[0], matrix.shape[1] // lanes[1]
    out = np.zeros((rows, columns), matrix.dtype)
    for i, j in np.ndindex(rows, columns):
        row = (i // data[0] * lanes[0] + lane // lanes[1]) * data[0] + i % data[0]
        column = (j // data[1] * lanes[1] + lane % lanes[1]) * data[1] + j % data[1]
        out[i, j] = matrix[row, column]
    return out


@pytest.mark.parametrize(
    ("lanes", "data"), [((2, 8), (1, 2)), ((1, 16), (1, 1)), ((4, 4), (2, 1)), ((16, 1), (1, 4))]
)
def test_fragments(lanes: tuple[int, int], data: tuple[int, int], rng: np.random.Generator) -> None:
    matrix = random_array(rng, (32, 16), "f32")
    type_ = f"!xegpu.tensor_desc<32x16xf32, {layout(lanes, data)}>"
    shape = (32 // lanes[0], 16 // lanes[1])
    loaded = load_block(matrix, type_, '{mode = "simt"}', shape, "f32", "0, 0")
    for lane in range(LANES):
        np.testing.assert_array_equal(loaded[lane], fragment(matrix, lane, lanes, data))


def test_packed_fragments(rng: np.random.Generator) -> None:
    matrix = random_array(rng, (16, 16), "f16")
    type_ = f"!xegpu.tensor_desc<16x16xf16, {layout((1, 16), (2, 1))}>"
    load = '<{packed}> {mode = "simt"}'
    loaded = load_block(matrix, type_, load, (8, 1, 2), "f16", "0, 0")
    np.testing.assert_array_equal(loaded.reshape(LANES, 16), matrix.T)


def test_a_product_of_fragments(rng: np.random.Generator) -> None:
    a, b = random_array(rng, (8, 16), "f16"), random_array(rng, (16, 16), "f16")
    c = undefined((8, 16), "f32")
    ta = f"!xegpu.tensor_desc<8x16xf16, {layout((2, 8), (1, 2))}>"
    tb = f"!xegpu.tensor_desc<16x16xf16, {layout((1, 16), (2, 1))}>"
    tc = f"!xegpu.tensor_desc<8x16xf32, {layout((1, 16), (1, 1))}>"
    text = kernel(
        "%a: memref<8x16xf16>, %b: memref<16x16xf16>, %c: memref<8x16xf32>",
        f"""%s = xegpu.create_nd_tdesc %a[0, 0] : memref<8x16xf16> -> {ta}
        %t = xegpu.create_nd_tdesc %b[0, 0] : memref<16x16xf16> -> {tb}
        %u = xegpu.create_nd_tdesc %c[0, 0] : memref<8x16xf32> -> {tc}
        %v = xegpu.load_nd %s {{mode = "simt"}} : {ta} -> vector<4x2xf16>
        %w = xegpu.load_nd %t <{{packed}}> {{mode = "simt"}} : {tb} -> vector<8x1x2xf16>
        %d = xegpu.dpas %v, %w {{mode = "simt"}}
          : vector<4x2xf16>, vector<8x1x2xf16> -> vector<8x1xf32>
        xegpu.store_nd %d, %u {{mode = "simt"}} : vector<8x1xf32>, {tc}""",
    )
    run(text, a, b, c, block=(LANES, 1, 1))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, exact, rtol=0, atol=16 * 2.0**-24 * 100)


def test_a_product_with_both_factors_split(rng: np.random.Generator) -> None:
    a, b = random_array(rng, (8, 16), "f16"), random_array(rng, (16, 16), "f16")
    c = undefined((8, 16), "f32")
    text = kernel(
        "%a: memref<8x16xf16>, %b: memref<16x16xf16>, %c: memref<8x16xf32>",
        """%s = xegpu.create_nd_tdesc %a[0, 0] : memref<8x16xf16> -> !xegpu.tensor_desc<8x16xf16>
        %t = xegpu.create_nd_tdesc %b[0, 0] : memref<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
        %u = xegpu.create_nd_tdesc %c[0, 0] : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
        %v = xegpu.load_nd %s {vnni_axis = 1 : i32}
          : !xegpu.tensor_desc<8x16xf16> -> vector<8x8x2xf16>
        %w = xegpu.load_nd %t <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
        %d = xegpu.dpas %v, %w {mode = "vc"}
          : vector<8x8x2xf16>, vector<8x16x2xf16> -> vector<8x16xf32>
        xegpu.store_nd %d, %u : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>""",
    )
    run(text, a, b, c, block=(LANES, 1, 1))
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, exact, rtol=0, atol=16 * 2.0**-24 * 100)


@pytest.mark.parametrize("mask", ["16xi1", "16x8xi1"])
def test_transposed_chunks(mask: str, rng: np.random.Generator) -> None:
    source, target = random_array(rng, (256,), "f32"), undefined((256,), "f32")
    offsets = rng.permutation(32)[:16] * 8
    points = "!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8 : i64>>"
    transpose = "{transpose = array<i64: 1, 0>}"
    out = undefined((8, 16), "f32")
    text = kernel(
        "%a: memref<256xf32>, %b: memref<256xf32>, %c: memref<8x16xf32>",
        f"""%o = arith.constant dense<{offsets.tolist()}> : vector<16xindex>
        %k = arith.constant dense<true> : vector<{mask}>
        %s = xegpu.create_tdesc %a, %o : memref<256xf32>, vector<16xindex> -> {points}
        %t = xegpu.create_tdesc %b, %o : memref<256xf32>, vector<16xindex> -> {points}
        %u = xegpu.create_nd_tdesc %c : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
        %v = xegpu.load %s, %k {transpose} : {points}, vector<{mask}> -> vector<8x16xf32>
        xegpu.store_nd %v, %u[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
        xegpu.store %v, %t, %k {transpose} : vector<8x16xf32>, {points}, vector<{mask}>""",
    )
    run(text, source, target, out, block=(LANES, 1, 1))
    chunks = offsets[:, np.newaxis] + np.arange(8)
    np.testing.assert_array_equal(out, source[chunks].T)
    expected = undefined((256,), "f32")
    expected[chunks] = source[chunks]
    np.testing.assert_array_equal(target, expected)


def test_chunks_of_work_items(rng: np.random.Generator) -> None:
    source, out = random_array(rng, (256,), "f32"), undefined((256,), "f32")
    offsets = rng.permutation(32)[:16] * 8
    points = (
        "!xegpu.tensor_desc<16x8xf32, #xegpu.scatter_tdesc_attr<chunk_size = 8 : i64>, "
        f"{layout((16, 1), (1, 8))}>"
    )
    text = kernel(
        "%a: memref<256xf32>, %b: memref<256xf32>",
        f"""%o = arith.constant dense<{offsets.tolist()}> : vector<16xindex>
        %k = arith.constant dense<true> : vector<16xi1>
        %s = xegpu.create_tdesc %a, %o : memref<256xf32>, vector<16xindex> -> {points}
        %t = xegpu.create_tdesc %b, %o : memref<256xf32>, vector<16xindex> -> {points}
        %v = xegpu.load %s, %k {{mode = "simt"}} : {points}, vector<16xi1> -> vector<1x8xf32>
        %w = arith.addf %v, %v : vector<1x8xf32>
        xegpu.store %w, %t, %k {{mode = "simt"}} : vector<1x8xf32>, {points}, vector<16xi1>""",
    )
    run(text, source, out, block=(LANES, 1, 1))
    chunks = offsets[:, np.newaxis] + np.arange(8)
    expected = undefined((256,), "f32")
    expected[chunks] = 2 * source[chunks]
    np.testing.assert_array_equal(out, expected)


def test_barriers_and_fences_of_the_first_kernels() -> None:
    values = np.arange(4, dtype=np.float32)
    text = kernel(
        "%a: memref<4xf32>",
        """%one = arith.constant 1 : i8
        %zero = arith.constant 0 : i8
        %b = xegpu.create_nbarrier %one, %zero {num_consumers = 4 : i8, num_producers = 4 : i8}
          : (i8, i8) -> !xegpu.nbarrier
        %id = gpu.subgroup_id : index
        %v = memref.load %a[%id] : memref<4xf32>
        xegpu.mfence {fence_op = "none", fence_scope = "local", memory_kind = "ugm"}
        xegpu.nbarrier_arrive %b : !xegpu.nbarrier
        xegpu.nbarrier_wait %b : !xegpu.nbarrier
        %c3 = arith.constant 3 : index
        %other = arith.subi %c3, %id : index
        memref.store %v, %a[%other] : memref<4xf32>""",
    )
    run(text, values, block=(4 * LANES, 1, 1))
    np.testing.assert_array_equal(values, [3, 2, 1, 0])
