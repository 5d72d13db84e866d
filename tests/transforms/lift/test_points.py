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
