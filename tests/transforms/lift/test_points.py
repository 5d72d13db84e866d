"""Points that vectors of subgroups and of lanes name, as tiles of a whole work-group."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator

SUBGROUPS = 4
COUNT, CHUNK = 8, 4

KERNEL = """
gpu.module @m {{
  gpu.func @k(%from: memref<256xf32>, %where: memref<32xi32>, %to: memref<256xf32>,
      %sums: memref<16xi32>) kernel
      attributes {{known_block_size = array<i32: {items}, 1, 1>{attributes}}} {{
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c8 = arith.constant 8 : index
    %id = {id}
    %first = arith.muli %id, %c8 : index
    %known = vector.step : vector<8xindex>
    %firsts = vector.broadcast %first : index to vector<8xindex>
    %own = arith.addi %known, %firsts : vector<8xindex>
    %all = arith.constant dense<true> : vector<8xi1>
    %given = xegpu.load %where[%own], %all : memref<32xi32>, vector<8xindex>, vector<8xi1>
        -> vector<8xi32>
    %numbers = arith.index_cast %given : vector<8xi32> to vector<8xindex>
    %four = arith.constant dense<4> : vector<8xindex>
    %limit = arith.constant dense<60> : vector<8xindex>
    %mask = arith.cmpi ult, %numbers, %limit : vector<8xindex>
    %starts = arith.muli %numbers, %four : vector<8xindex>
    %places = arith.muli %own, %four : vector<8xindex>
    {body}
    gpu.return
  }}
}}
"""


def _read(starts: str = "starts", mask: str = "mask") -> str:
    return f"""%x = xegpu.load %from[%{starts}], %{mask} <{{chunk_size = 4 : i64}}>
      : memref<256xf32>, vector<8xindex>, vector<8xi1> -> vector<8x4xf32>"""


def _write(value: str = "x", places: str = "places", mask: str = "all") -> str:
    return f"""xegpu.store %{value}, %to[%{places}], %{mask} <{{chunk_size = 4 : i64}}>
      : vector<8x4xf32>, memref<256xf32>, vector<8xindex>, vector<8xi1>"""


UPDATE = """%ones = arith.constant dense<1> : vector<8xi32>
    %bins = arith.constant dense<16> : vector<8xindex>
    %bin = arith.remui %numbers, %bins : vector<8xindex>
    %d = xegpu.create_tdesc %sums, %bin : memref<16xi32>, vector<8xindex>
        -> !xegpu.tensor_desc<8xi32, #xegpu.scatter_tdesc_attr<>>
    %old = xegpu.atomic_rmw addi %d, %mask, %ones
        : !xegpu.tensor_desc<8xi32, #xegpu.scatter_tdesc_attr<>>, vector<8xi1>, vector<8xi32>
        -> vector<8xi32>"""


def _by_some(body: str) -> str:
    return f"""%is_one = arith.cmpi ult, %id, %c2 : index
    scf.if %is_one {{
      {body}
    }}"""


SAME = "%same = arith.muli %known, %four : vector<8xindex>"

BODIES = {
    "each reads and writes": f"{_read()}\n{_write()}",
    "of what all read": f"{SAME}\n{_read('same', 'all')}\n{_write(mask='mask')}",
    "all write the same": f"{SAME}\n{_read('same', 'all')}\n{_write(places='same')}",
    "some subgroups": _by_some(f"{_read()}\n{_write()}"),
    "some of what all read": f"{SAME}\n"
    + _by_some(f"{_read('same', 'all')}\n{_write(places='same')}"),
    "in a loop": f"""%n = arith.addi %id, %c2 : index
    %one = arith.constant 1 : index
    %none = arith.constant dense<0.0> : vector<8x4xf32>
    %sum = scf.for %i = %c0 to %n step %one iter_args(%s = %none) -> (vector<8x4xf32>) {{
      {_read()}
      %t = arith.addf %s, %x : vector<8x4xf32>
      scf.yield %t : vector<8x4xf32>
    }}
    {_write("sum")}""",
    "updates": UPDATE,
    "updates by some": _by_some(UPDATE),
}

LEVELS = {
    "subgroup": {"id": "gpu.subgroup_id : index", "items": "64", "attributes": ""},
    "vector compute": {
        "id": "gpu.thread_id x",
        "items": "4",
        "attributes": ", VectorComputeFunctionINTEL",
    },
}


@pytest.mark.parametrize("to", ["tile", "cuda_tile", "triton"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("level", LEVELS)
def test_values(level: str, body: str, to: str) -> None:
    text = KERNEL.format(body=BODIES[body], **LEVELS[level])
    random = fresh_generator()
    source = random.standard_normal(256).astype(np.float32)
    where = random.integers(0, 64, SUBGROUPS * COUNT).astype(np.int32)
    results = []
    for module in (text, xtile.translate(text, to)):
        written = np.full(256, np.nan, np.float32)
        sums = np.zeros(16, np.int32)
        xtile.run(module, [source, where, written, sums], 1)
        results.append((written, sums))
    (expected, counts), (found, counted) = results
    assert not np.isnan(expected).all() or counts.any()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counted, counts)


def test_text() -> None:
    """All subgroups' points are one gather and one scatter."""
    text = KERNEL.format(body=BODIES["each reads and writes"], **LEVELS["subgroup"])
    made = xtile.to_text(xtile.translate(text, "tile"), "mlir")
    assert "-> vector<8x4x4xf32>" in made
    assert made.count("core.gather_load") == 2
    assert made.count("core.scatter_store") == 1


# --- of lanes ---

LANES = """
gpu.module @m {{
  gpu.func @k(%from: memref<256xf32>, %to: memref<256xf32>, %sums: memref<4xi32>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %id = gpu.thread_id x
    %first = arith.muli %id, %c4 : index
    %at = vector.broadcast %first : index to vector<1xindex>
    %limit = arith.constant dense<100> : vector<1xindex>
    %mask = arith.cmpi ult, %at, %limit : vector<1xindex>
    {body}
    gpu.return
  }}
}}
"""

MEMORY = "memref<256xf32>, vector<1xindex>, vector<1xi1>"
POINTS = "!xegpu.tensor_desc<1x4xf32, #xegpu.scatter_tdesc_attr<chunk_size = 4 : i64>>"

OF_LANES = {
    "a chunk": f"""
    %x = xegpu.load %from[%at], %mask <{{chunk_size = 4 : i64}}> : {MEMORY} -> vector<4xf32>
    %y = arith.addf %x, %x : vector<4xf32>
    xegpu.store %y, %to[%at], %mask <{{chunk_size = 4 : i64}}> : vector<4xf32>, {MEMORY}""",
    "descriptors of points in a loop": f"""
    %d = xegpu.create_tdesc %from, %at : memref<256xf32>, vector<1xindex> -> {POINTS}
    %step = arith.constant dense<8> : vector<1xindex>
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %e, %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %d, %s = %zero)
        -> ({POINTS}, vector<4xf32>) {{
      %x = xegpu.load %p, %mask : {POINTS}, vector<1xi1> -> vector<4xf32>
      %t = arith.addf %s, %x : vector<4xf32>
      %n = xegpu.update_offset %p, %step : {POINTS}, vector<1xindex>
      scf.yield %n, %t : {POINTS}, vector<4xf32>
    }}
    xegpu.store %sum, %to[%at], %mask <{{chunk_size = 4 : i64}}> : vector<4xf32>, {MEMORY}""",
    "updates": """
    %n = arith.remui %id, %c4 : index
    %bin = vector.broadcast %n : index to vector<1xindex>
    %d = xegpu.create_tdesc %sums, %bin : memref<4xi32>, vector<1xindex>
        -> !xegpu.tensor_desc<1xi32, #xegpu.scatter_tdesc_attr<>>
    %one = arith.constant dense<1> : vector<1xi32>
    %old = xegpu.atomic_rmw addi %d, %mask, %one
        : !xegpu.tensor_desc<1xi32, #xegpu.scatter_tdesc_attr<>>, vector<1xi1>, vector<1xi32>
        -> vector<1xi32>""",
    "in a branch": f"""
    %is_one = arith.cmpi ult, %id, %c8 : index
    scf.if %is_one {{
      %x = xegpu.load %from[%at], %mask <{{chunk_size = 4 : i64}}> : {MEMORY} -> vector<4xf32>
      xegpu.store %x, %to[%at], %mask <{{chunk_size = 4 : i64}}> : vector<4xf32>, {MEMORY}
    }}""",
}


@pytest.mark.parametrize("to", ["tile", "cuda_tile", "triton"])
@pytest.mark.parametrize("body", OF_LANES)
def test_points_of_lanes(body: str, to: str) -> None:
    text = LANES.format(body=OF_LANES[body])
    source = fresh_generator().integers(-9, 10, 256).astype(np.float32)
    results = []
    for module in (text, xtile.translate(text, to)):
        written, sums = np.full(256, np.nan, np.float32), np.zeros(4, np.int32)
        xtile.run(module, [source, written, sums], 1)
        results.append((written, sums))
    (expected, counts), (found, counted) = results
    assert not np.isnan(expected).all() or counts.any()
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(counted, counts)


BLOCKS_IN_A_LOOP = """
gpu.module @m {
  gpu.func @k(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c8 = arith.constant 8 : index
    %id = gpu.subgroup_id : index
    %row = arith.muli %id, %c8 : index
    %ta = xegpu.create_nd_tdesc %a[%row, 0] : memref<16x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b[0, 0] : memref<64x16xf16> -> !xegpu.tensor_desc<16x16xf16>
    %tc = xegpu.create_nd_tdesc %c[%row, 0] : memref<16x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %zero = arith.constant dense<0.0> : vector<8xf32>
    %da, %db, %sum = scf.for %k = %c0 to %c64 step %c16
        iter_args(%pa = %ta, %pb = %tb, %s = %zero)
        -> (!xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf16>, vector<8xf32>) {
      %x = xegpu.load_nd %pa : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
      %y = xegpu.load_nd %pb <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
      %d = xegpu.dpas %x, %y, %s : vector<8xf16>, vector<16xf16>, vector<8xf32> -> vector<8xf32>
      %na = xegpu.update_nd_offset %pa, [0, 16] : !xegpu.tensor_desc<8x16xf16>
      %nb = xegpu.update_nd_offset %pb, [16, 0] : !xegpu.tensor_desc<16x16xf16>
      scf.yield %na, %nb, %d
          : !xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf16>, vector<8xf32>
    }
    xegpu.store_nd %sum, %tc : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("to", ["tile", "cuda_tile", "triton"])
def test_descriptors_of_blocks_in_a_loop(to: str) -> None:
    random = fresh_generator()
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((16, 64), (64, 16)))
    c = np.full((16, 16), np.nan, np.float32)
    made = xtile.translate(BLOCKS_IN_A_LOOP, to)
    xtile.run(made, [a, b, c], 1)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    if to == "tile":
        # The loop's variable takes the place of what was handed on.
        text = xtile.to_text(made, "mlir")
        assert "iter_args" in text
        assert text.count("vector.transfer_read") == 2
