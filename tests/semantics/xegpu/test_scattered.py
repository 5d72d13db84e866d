"""Loads, stores and atomic updates of scattered points against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import DTYPES, LANES, random_array, undefined
from xtile.semantics.errors import ExecutionError

SIZE = 200
MASK = [lane % 3 != 1 for lane in range(LANES)]


@pytest.fixture
def rng() -> np.random.Generator:
    return fresh_generator()


def dense(values: Any) -> str:
    """The elements of a constant vector."""
    return f"dense<[{', '.join(str(value).lower() for value in values)}]>"


CONSTANTS = """%k = arith.constant {mask} : vector<16xi1>
  %o = arith.constant {offsets} : vector<16xindex>
  %p = arith.constant {targets} : vector<16xindex>
  """

ACCESSES = {
    "offsets": """%v = xegpu.load %m[%o], %k : memref<200x{type}>, vector<16xindex>, vector<16xi1>
    -> vector<16x{type}>
  xegpu.store %v, %n[%p], %k
    : vector<16x{type}>, memref<200x{type}>, vector<16xindex>, vector<16xi1>""",
    "descriptors": """%h = arith.constant dense<1> : vector<16xindex>
  %s = xegpu.create_tdesc %m, %h : memref<200x{type}>, vector<16xindex> -> {points}
  %t = xegpu.create_tdesc %n, %p : memref<200x{type}>, vector<16xindex> -> {points}
  %c = arith.constant dense<-1> : vector<16xindex>
  %w = arith.addi %o, %c : vector<16xindex>
  %u = xegpu.update_offset %s, %w : {points}, vector<16xindex>
  xegpu.prefetch %u : {points}
  %v = xegpu.load %u, %k : {points}, vector<16xi1> -> vector<16x{type}>
  xegpu.store %v, %t, %k : vector<16x{type}>, {points}, vector<16xi1>""",
    "addresses": """%a = memref.extract_aligned_pointer_as_index %m : memref<200x{type}> -> index
  %b = arith.index_cast %a : index to i64
  %v = xegpu.load %b[%o], %k : i64, vector<16xindex>, vector<16xi1> -> vector<16x{type}>
  xegpu.store %v, %n[%p], %k
    : vector<16x{type}>, memref<200x{type}>, vector<16xindex>, vector<16xi1>""",
}


@pytest.mark.parametrize("access", ACCESSES)
@pytest.mark.parametrize("type", DTYPES)
def test_points_of_a_subgroup(type: str, access: str, rng: np.random.Generator) -> None:
    source, target = random_array(rng, (SIZE,), type), undefined((SIZE,), type)
    offsets, targets = (rng.permutation(SIZE)[:LANES] for _ in range(2))
    # What the mask leaves out may lie anywhere.
    offsets = np.where(MASK, offsets, 10**6)
    points = f"!xegpu.tensor_desc<16x{type}, #xegpu.scatter_tdesc_attr<>>"
    text = CONSTANTS.format(mask=dense(MASK), offsets=dense(offsets), targets=dense(targets))
    memory = f"%m: memref<200x{type}>, %n: memref<200x{type}>"
    text = kernel(memory, text + ACCESSES[access].format(type=type, points=points))
    run(text, source, target, block=(LANES, 1, 1))
    expected = undefined((SIZE,), type)
    expected[targets[MASK]] = source[offsets[MASK]]
    assert target.tobytes() == expected.tobytes()


def test_what_the_mask_leaves_out_is_zero(rng: np.random.Generator) -> None:
    source, target = random_array(rng, (SIZE,), "f32"), undefined((LANES,), "f32")
    text = kernel(
        "%m: memref<200xf32>, %n: memref<16xf32>",
        CONSTANTS.format(mask=dense(MASK), offsets=dense(range(16)), targets=dense(range(16)))
        + """%v = xegpu.load %m[%o], %k : memref<200xf32>, vector<16xindex>, vector<16xi1>
          -> vector<16xf32>
        %all = arith.constant dense<true> : vector<16xi1>
        xegpu.store %v, %n[%o], %all
          : vector<16xf32>, memref<16xf32>, vector<16xindex>, vector<16xi1>
        """,
    )
    run(text, source, target, block=(LANES, 1, 1))
    np.testing.assert_array_equal(target, np.where(MASK, source[:LANES], 0))


def test_chunks_of_a_subgroup(rng: np.random.Generator) -> None:
    source, target = random_array(rng, (SIZE,), "f32"), undefined((SIZE,), "f32")
    offsets = rng.permutation(SIZE // 4)[:LANES] * 4
    vectors = "vector<16xindex>, vector<16xi1>"
    text = kernel(
        "%m: memref<200xf32>, %n: memref<200xf32>",
        CONSTANTS.format(mask=dense(MASK), offsets=dense(offsets), targets=dense(offsets))
        + f"""%v = xegpu.load %m[%o], %k <{{chunk_size = 3 : i64}}>
          : memref<200xf32>, {vectors} -> vector<16x3xf32>
        xegpu.store %v, %n[%p], %k <{{chunk_size = 3 : i64}}>
          : vector<16x3xf32>, memref<200xf32>, {vectors}""",
    )
    run(text, source, target, block=(LANES, 1, 1))
    expected = undefined((SIZE,), "f32")
    for offset in offsets[MASK]:
        expected[offset : offset + 3] = source[offset : offset + 3]
    np.testing.assert_array_equal(target, expected)


LANE_LEVEL = {
    "a number": """%v = xegpu.load %m[%o], %k : memref<200xf32>, index, i1 -> f32
  xegpu.store %v, %n[%o], %k : f32, memref<200xf32>, index, i1""",
    "a chunk": """%v = xegpu.load %m[%o], %k <{chunk_size = 2 : i64}>
    : memref<200xf32>, index, i1 -> vector<2xf32>
  xegpu.store %v, %n[%o], %k <{chunk_size = 2 : i64}>
    : vector<2xf32>, memref<200xf32>, index, i1""",
    "vectors of one": """%p = vector.broadcast %o : index to vector<1xindex>
  %q = vector.broadcast %k : i1 to vector<1xi1>
  %v = xegpu.load %m[%p], %q <{chunk_size = 2 : i64}>
    : memref<200xf32>, vector<1xindex>, vector<1xi1> -> vector<2xf32>
  xegpu.store %v, %n[%p], %q <{chunk_size = 2 : i64}>
    : vector<2xf32>, memref<200xf32>, vector<1xindex>, vector<1xi1>""",
    "descriptors": """%p = vector.broadcast %o : index to vector<1xindex>
  %q = vector.broadcast %k : i1 to vector<1xi1>
  %s = xegpu.create_tdesc %m, %p : memref<200xf32>, vector<1xindex> -> !points
  %t = xegpu.create_tdesc %n, %p : memref<200xf32>, vector<1xindex> -> !points
  %v = xegpu.load %s, %q : !points, vector<1xi1> -> vector<2xf32>
  xegpu.store %v, %t, %q : vector<2xf32>, !points, vector<1xi1>""",
}


@pytest.mark.parametrize("access", LANE_LEVEL)
def test_points_of_a_lane(access: str, rng: np.random.Generator) -> None:
    source, target = random_array(rng, (SIZE,), "f32"), undefined((SIZE,), "f32")
    text = kernel(
        "%m: memref<200xf32>, %n: memref<200xf32>",
        f"""%x = gpu.thread_id x
        %c5 = arith.constant 5 : index
        %c3 = arith.constant 3 : index
        %o = arith.muli %x, %c5 : index
        %c1 = arith.constant 1 : index
        %r = arith.remui %x, %c3 : index
        %k = arith.cmpi ne, %r, %c1 : index
        {LANE_LEVEL[access]}""",
    )
    chunk = (
        "!points = !xegpu.tensor_desc<1x2xf32, #xegpu.scatter_tdesc_attr<chunk_size = 2 : i64>>\n"
    )
    run(chunk + text, source, target, block=(2 * LANES, 1, 1))
    count = 1 if access == "a number" else 2
    expected = undefined((SIZE,), "f32")
    for lane in range(2 * LANES):
        if lane % 3 != 1:
            expected[5 * lane : 5 * lane + count] = source[5 * lane : 5 * lane + count]
    np.testing.assert_array_equal(target, expected)


def test_a_mask_that_no_lane_passes() -> None:
    target = undefined((4,), "f32")
    text = kernel(
        "%m: memref<4xf32>",
        """%k = arith.constant false
        %o = arith.constant 1000 : index
        %v = xegpu.load %m[%o], %k : memref<4xf32>, index, i1 -> f32
        xegpu.store %v, %m[%o], %k : f32, memref<4xf32>, index, i1
        %c0 = arith.constant 0 : index
        memref.store %v, %m[%c0] : memref<4xf32>""",
    )
    run(text, target, block=(LANES, 1, 1))
    np.testing.assert_array_equal(target, np.array([0, np.nan, np.nan, np.nan], np.float32))


def test_a_point_outside_of_the_memory() -> None:
    text = kernel(
        "%m: memref<4xf32>",
        """%k = arith.constant dense<true> : vector<2xi1>
        %o = arith.constant dense<[1, 4]> : vector<2xindex>
        %v = xegpu.load %m[%o], %k
          : memref<4xf32>, vector<2xindex>, vector<2xi1> -> vector<2xf32>""",
    )
    with pytest.raises(ExecutionError, match=r"element 4 lies outside of the memory of %m"):
        run(text, np.zeros(4, np.float32), block=(LANES, 1, 1))


UPDATES: dict[str, Any] = {
    "addf": np.add,
    "addi": np.add,
    "andi": np.bitwise_and,
    "maximumf": np.maximum,
    "maxnumf": np.fmax,
    "maxs": np.maximum,
    "maxu": np.maximum,
    "minimumf": np.minimum,
    "minnumf": np.fmin,
    "mins": np.minimum,
    "minu": np.minimum,
    "mulf": np.multiply,
    "muli": np.multiply,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
}


def update(old: Any, value: Any, kind: str) -> Any:
    """What an atomic update stores."""
    if kind == "assign":
        return value
    if kind in ("maxu", "minu"):
        unsigned = [np.array(number).view(f"u{old.itemsize}") for number in (old, value)]
        return UPDATES[kind](*unsigned).view(old.dtype)
    return UPDATES[kind](old, value)


ATOMIC = """%id = gpu.subgroup_id : index
  %k = arith.constant {mask} : vector<16xi1>
  %o = arith.constant {offsets} : vector<16xindex>
  %s = xegpu.create_tdesc %m, %o : memref<8x{type}>, vector<16xindex> -> {points}
  %c16 = arith.constant 16 : index
  %first = arith.muli %id, %c16 : index
  %t = xegpu.create_nd_tdesc %v : memref<64x{type}> -> !xegpu.tensor_desc<16x{type}>
  %u = xegpu.create_nd_tdesc %old : memref<64x{type}> -> !xegpu.tensor_desc<16x{type}>
  %w = xegpu.load_nd %t[%first] : !xegpu.tensor_desc<16x{type}> -> vector<16x{type}>
  %r = xegpu.atomic_rmw {kind} %s, %k, %w : {points}, vector<16xi1>, vector<16x{type}>
    -> vector<16x{type}>
  xegpu.store_nd %r, %u[%first] : vector<16x{type}>, !xegpu.tensor_desc<16x{type}>"""


@pytest.mark.parametrize(
    ("kind", "type"),
    [
        *((kind, "f32") for kind in ("addf", "assign", "maximumf", "maxnumf", "minimumf")),
        *((kind, "f32") for kind in ("minnumf", "mulf")),
        *((kind, "i32") for kind in ("addi", "andi", "maxs", "maxu", "mins", "minu", "muli")),
        *((kind, "i64") for kind in ("ori", "xori", "addi")),
        ("addf", "f16"),
    ],
)
def test_atomic_updates(kind: str, type: str, rng: np.random.Generator) -> None:
    memory, values = random_array(rng, (8,), type), random_array(rng, (64,), type)
    offsets = rng.integers(0, 8, LANES)
    expected, before = memory.copy(), np.zeros(64, memory.dtype)
    with np.errstate(over="ignore"):
        for i in range(64):
            if MASK[i % LANES]:
                position = offsets[i % LANES]
                before[i] = expected[position]
                expected[position] = update(expected[position], values[i], kind)
    points = f"!xegpu.tensor_desc<16x{type}, #xegpu.scatter_tdesc_attr<>>"
    text = kernel(
        f"%m: memref<8x{type}>, %v: memref<64x{type}>, %old: memref<64x{type}>",
        ATOMIC.format(
            mask=dense(MASK), offsets=dense(offsets), type=type, points=points, kind=kind
        ),
    )
    old = undefined((64,), type)
    run(text, memory, values, old, block=(4 * LANES, 1, 1))
    np.testing.assert_array_equal(memory, expected)
    np.testing.assert_array_equal(old, before)


def test_an_atomic_update_of_a_work_group_happens_once() -> None:
    memory = np.zeros(16, np.int32)
    points = (
        "!xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>, "
        "#xegpu.layout<sg_layout = [4], sg_data = [4]>>"
    )
    text = kernel(
        "%m: memref<16xi32>",
        f"""%o = arith.constant {dense(range(16))} : vector<16xindex>
        %k = arith.constant dense<true> : vector<16xi1>
        %v = arith.constant dense<1> : vector<16xi32>
        %s = xegpu.create_tdesc %m, %o : memref<16xi32>, vector<16xindex> -> {points}
        %r = xegpu.atomic_rmw addi %s, %k, %v
          : {points}, vector<16xi1>, vector<16xi32> -> vector<16xi32>""",
    )
    run(text, memory, block=(4 * LANES, 1, 1))
    np.testing.assert_array_equal(memory, 1)


def test_an_atomic_update_of_a_lane_happens_in_each() -> None:
    memory = np.zeros(2, np.int32)
    points = "!xegpu.tensor_desc<1xi32, #xegpu.scatter_tdesc_attr<>>"
    text = kernel(
        "%m: memref<2xi32>",
        f"""%o = arith.constant dense<1> : vector<1xindex>
        %k = arith.constant dense<true> : vector<1xi1>
        %v = arith.constant dense<1> : vector<1xi32>
        %s = xegpu.create_tdesc %m, %o : memref<2xi32>, vector<1xindex> -> {points}
        %r = xegpu.atomic_rmw addi %s, %k, %v
          : {points}, vector<1xi1>, vector<1xi32> -> vector<1xi32>""",
    )
    run(text, memory, block=(4 * LANES, 1, 1))
    np.testing.assert_array_equal(memory, [0, 64])
