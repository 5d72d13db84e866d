"""Kernels of subgroups that become code of lanes by way of tiles, on chips with lanes."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

import xtile
from tests.generators.xegpu_kernels import XeGPUKernel, arguments
from tests.seeds import fresh_generator, fresh_random
from xtile.text.diagnostics import DiagnosticError, Diagnostics

VECTOR_COMPUTE = "VectorComputeFunctionINTEL, known_block_size = array<i32: 1, 1, 1>"
SUBGROUP = "known_block_size = array<i32: 16, 1, 1>"


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["pvc", "dg2"])
@pytest.mark.parametrize("level", [VECTOR_COMPUTE, SUBGROUP])
@pytest.mark.parametrize("number", range(6))
def test_random_kernels(number: int, level: str, chip: str) -> None:
    text = XeGPUKernel(fresh_random()).text(level)
    expected = arguments(fresh_generator())
    found = deepcopy(expected)
    xtile.run(text, expected, 1)
    made = xtile.translate(text, "xegpu", chip=chip, xegpu_level="lane")
    xtile.run(made, found, 1)
    # The order of sums is not specified.
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-5, atol=1e-5)


PRODUCT = """
gpu.module @m {
  gpu.func @k(%a: memref<32x64xf16>, %b: memref<64x16xf16>, %c: memref<32x16xf32>) kernel
      attributes {VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %id = gpu.thread_id x
    %row = arith.muli %id, %c8 : index
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %ta = xegpu.create_nd_tdesc %a[%row, 0] : memref<32x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b[0, 0] : memref<64x16xf16> -> !xegpu.tensor_desc<16x16xf16>
    %da, %db, %sum = scf.for %k = %c0 to %c64 step %c16
        iter_args(%pa = %ta, %pb = %tb, %s = %zero)
        -> (!xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf16>, vector<8x16xf32>) {
      %x = xegpu.load_nd %pa : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
      %y = xegpu.load_nd %pb <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
      %d = xegpu.dpas %x, %y, %s
          : vector<8x16xf16>, vector<8x16x2xf16>, vector<8x16xf32> -> vector<8x16xf32>
      %na = xegpu.update_nd_offset %pa, [0, 16] : !xegpu.tensor_desc<8x16xf16>
      %nb = xegpu.update_nd_offset %pb, [16, 0] : !xegpu.tensor_desc<16x16xf16>
      scf.yield %na, %nb, %d
          : !xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf16>, vector<8x16xf32>
    }
    %tc = xegpu.create_nd_tdesc %c[%row, 0] : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %sum, %tc : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""


def test_a_product_of_vector_compute() -> None:
    """It is one of the chip's subgroups, on its matrix unit."""
    made = xtile.translate(PRODUCT, "xegpu", chip="pvc", xegpu_level="lane")
    text = xtile.to_text(made, "mlir")
    assert "xegpu.dpas" in text
    assert "intel_reqd_sub_group_size = 16" in text
    random = fresh_generator()
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((32, 64), (64, 16)))
    c = np.full((32, 16), np.nan, np.float32)
    xtile.run(made, [a, b, c], 1)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


MASK = """
gpu.module @m {{
  gpu.func @k(%x: memref<16xf32>, %n: index) kernel attributes {{
      known_block_size = array<i32: 16, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %mask = vector.create_mask %n : vector<16xi1>
    %at = vector.step : vector<16xindex>
    %zero = arith.constant dense<1.0> : vector<16xf32>
    {more}
    xegpu.store %{value}, %x[%at], %mask : vector<16xf32>, memref<16xf32>, vector<16xindex>,
        vector<16xi1>
    gpu.return
  }}
}}
"""


def test_a_remark_says_why() -> None:
    diagnostics = Diagnostics()
    xtile.translate(
        MASK.format(more="", value="zero"),
        "xegpu",
        chip="pvc",
        xegpu_level="lane",
        diagnostics=diagnostics,
    )
    (said,) = [each for each in diagnostics if each.message.startswith("by tiles:")]
    assert "vector.create_mask on vectors cannot be spread over a subgroup's lanes" in said.message
    assert "6.13" in said.render()


def test_the_first_reason_is_the_one_that_is_said() -> None:
    """Where tiles have no counterpart either."""
    more = """%y = vector.bitcast %zero : vector<16xf32> to vector<128xi4>
    %z = vector.bitcast %y : vector<128xi4> to vector<16xf32>"""
    with pytest.raises(DiagnosticError, match=r"create_mask on vectors cannot be spread"):
        xtile.translate(MASK.format(more=more, value="z"), "xegpu", chip="pvc", xegpu_level="lane")


BITS = """
gpu.module @m {
  gpu.func @k(%x: memref<32x16xf32>, %y: memref<32x32xf16>) kernel attributes {
      known_block_size = array<i32: 64, 1, 1>} {
    %id = gpu.subgroup_id : index
    %c8 = arith.constant 8 : index
    %row = arith.muli %id, %c8 : index
    %from = xegpu.create_nd_tdesc %x : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a = xegpu.load_nd %from[%row, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    %b = vector.bitcast %a : vector<8x16xf32> to vector<8x32xf16>
    %c = vector.transpose %b, [1, 0] : vector<8x32xf16> to vector<32x8xf16>
    %to = xegpu.create_nd_tdesc %y : memref<32x32xf16> -> !xegpu.tensor_desc<32x8xf16>
    xegpu.store_nd %c, %to[0, %row] : vector<32x8xf16>, !xegpu.tensor_desc<32x8xf16>
    gpu.return
  }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("target", ["pvc", "dg2", "cuda_tile"])
def test_bits_of_a_subgroups_matrix(target: str) -> None:
    """Each subgroup's numbers become twice as many."""
    if target == "cuda_tile":
        made = xtile.translate(BITS, target)
    else:
        made = xtile.translate(BITS, "xegpu", chip=target, xegpu_level="lane")
    numbers = fresh_generator().integers(-99, 99, (32, 32)).astype(np.float16)
    found = np.full((32, 32), np.nan, np.float16)
    xtile.run(made, [numbers.view(np.float32), found], 1)
    np.testing.assert_array_equal(found, numbers.T)
