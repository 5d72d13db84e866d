"""A matrix product whose sizes no tile divides, for a work-group, a subgroup and a lane."""

from __future__ import annotations

import numpy as np
import pytest

from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import kernel, run
from tests.semantics.xegpu.kernels import LANES, random_array, undefined

M, N, K = 41, 53, 37

WORK_GROUP = """%x = gpu.block_id x
  %y = gpu.block_id y
  %c32 = arith.constant 32 : index
  %i = arith.muli %y, %c32 : index
  %j = arith.muli %x, %c32 : index
  %ta = xegpu.create_nd_tdesc %a : memref<41x37xf16> -> !xegpu.tensor_desc<32x16xf16, #l>
  %tb = xegpu.create_nd_tdesc %b : memref<37x53xf16> -> !xegpu.tensor_desc<16x32xf16, #l>
  %tc = xegpu.create_nd_tdesc %c : memref<41x53xf32> -> !xegpu.tensor_desc<32x32xf32, #l>
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %d = scf.for %k = %c0 to %c37 step %c16 iter_args(%s = %zero) -> (vector<32x32xf32>) {
    %va = xegpu.load_nd %ta[%i, %k] : !xegpu.tensor_desc<32x16xf16, #l> -> vector<32x16xf16>
    %vb = xegpu.load_nd %tb[%k, %j] : !xegpu.tensor_desc<16x32xf16, #l> -> vector<16x32xf16>
    %n = xegpu.dpas %va, %vb, %s {layout_cd = #l}
      : vector<32x16xf16>, vector<16x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
    scf.yield %n : vector<32x32xf32>
  }
  %e = xegpu.convert_layout %d <{input_layout = #l, target_layout = #m}> : vector<32x32xf32>
  xegpu.store_nd %e, %tc[%i, %j] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32, #l>"""

SUBGROUP = """%x = gpu.block_id x
  %y = gpu.block_id y
  %id = gpu.subgroup_id : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %i0 = arith.muli %y, %c2 : index
  %sg = arith.remui %id, %c2 : index
  %i1 = arith.addi %i0, %sg : index
  %i = arith.muli %i1, %c8 : index
  %j0 = arith.muli %x, %c2 : index
  %sj = arith.divui %id, %c2 : index
  %j1 = arith.addi %j0, %sj : index
  %j = arith.muli %j1, %c16 : index
  %ta = xegpu.create_nd_tdesc %a[%i, 0] : memref<41x37xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tb = xegpu.create_nd_tdesc %b[0, %j] : memref<37x53xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tc = xegpu.create_nd_tdesc %c[%i, %j] : memref<41x53xf32> -> !xegpu.tensor_desc<8x16xf32>
  %zero = arith.constant dense<0.0> : vector<{c}xf32>
  %d:3 = scf.for %k = %c0 to %c37 step %c16 iter_args(%s = %zero, %p = %ta, %q = %tb)
    -> (vector<{c}xf32>, !xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf16>) {{
    %va = xegpu.load_nd %p : !xegpu.tensor_desc<8x16xf16> -> vector<{a}xf16>
    %vb = xegpu.load_nd %q <{{packed}}> : !xegpu.tensor_desc<16x16xf16> -> vector<{b}xf16>
    %n = xegpu.dpas %va, %vb, %s
      : vector<{a}xf16>, vector<{b}xf16>, vector<{c}xf32> -> vector<{c}xf32>
    %pn = xegpu.update_nd_offset %p, [0, 16] : !xegpu.tensor_desc<8x16xf16>
    %qn = xegpu.update_nd_offset %q, [%c16, 0] : !xegpu.tensor_desc<16x16xf16>
    scf.yield %n, %pn, %qn
      : vector<{c}xf32>, !xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf16>
  }}
  xegpu.store_nd %d#0, %tc : vector<{c}xf32>, !xegpu.tensor_desc<8x16xf32>"""

CONSTANTS = """%c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c37 = arith.constant 37 : index
  """

KERNELS = {
    "work-group": (WORK_GROUP, (2, 2, 1)),
    "subgroup": (SUBGROUP.format(a="8x16", b="8x16x2", c="8x16"), (2, 3, 1)),
    "lane": (SUBGROUP.format(a="8", b="16", c="8"), (2, 3, 1)),
}


@pytest.mark.parametrize("level", KERNELS)
def test_product(level: str) -> None:
    rng = fresh_generator()
    a, b = random_array(rng, (M, K), "f16"), random_array(rng, (K, N), "f16")
    c = undefined((M, N), "f32")
    body, grid = KERNELS[level]
    text = kernel(
        "%a: memref<41x37xf16>, %b: memref<37x53xf16>, %c: memref<41x53xf32>", CONSTANTS + body
    )
    aliases = """#l = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>
    #m = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 32]>
    """
    run(aliases + text, a, b, c, grid=grid, block=(2 * LANES, 2, 1))
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    # Products of f16 are exact in f32, in which at most K of them are added up.
    tolerance = K * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b))
    assert (np.abs(c - wide_a @ wide_b) <= tolerance).all()
