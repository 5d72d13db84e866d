"""Whole kernels of XeGPU: of subgroups, of work-items that are subgroups, and of work-groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from tests.semantics.upstream.kernels import argument_of, function_of
from tests.semantics.xegpu.kernels import random_array, undefined
from tests.translate.xegpu_to_core.raised import check, compare, kernel, printed, raised, results
from xtile.semantics.sanitizer.sanitizer import sanitize
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.translate.route import Options, translate_to

SUBGROUPS = {
    "subgroup": ("%id = gpu.subgroup_id : index", "known_block_size = array<i32: 64, 1, 1>"),
    "divided number of a work-item": (
        "%number = gpu.thread_id x\n%id = arith.divui %number, %c16 : index",
        "known_block_size = array<i32: 64, 1, 1>",
    ),
    "vector compute": (
        "%id = gpu.thread_id x",
        "VectorComputeFunctionINTEL, known_block_size = array<i32: 4, 1, 1>",
    ),
}
"""How a kernel finds the number of its subgroup, of four, and what says how many there are."""

BLOCKS = {
    "subgroup": (64, 1, 1),
    "divided number of a work-item": (64, 1, 1),
    "vector compute": (4, 1, 1),
}

LAYOUT = "#l = #xegpu.layout<sg_layout = [4, 1], sg_data = [8, 64]>"

CONSTANTS = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  """


def _of_subgroups(level: str, parameters: str, body: str) -> str:
    number, attributes = SUBGROUPS[level]
    return kernel(parameters, f"{CONSTANTS}{number}\n{body}", attributes=attributes)


def _agrees(text: str, arrays: Sequence[Any], level: str, tolerance: float = 0.0) -> None:
    """Compares a kernel with its core form and on an OpenCL device, launched as its source is."""
    check(text, arrays, block=BLOCKS[level], tolerance=tolerance, on_opencl=True)


PRODUCT = """%i = arith.muli %id, %c8 : index
  %ta = xegpu.create_nd_tdesc %a[%i, 0] : memref<32x64xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tb = xegpu.create_nd_tdesc {at} : {memory} -> {block}
  %zero = arith.constant dense<0.0> : vector<8x16xf32>
  %n = arith.constant 4 : i8
  %one = arith.constant 1 : i8
  xegpu.alloc_nbarrier 2
  %bar = xegpu.init_nbarrier %one, %n : i8, i8 -> !xegpu.nbarrier
  %d:3 = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %zero, %p = %ta, %q = %tb)
    -> (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>, {block}) {{
    xegpu.nbarrier_arrive %bar : !xegpu.nbarrier
    %va = xegpu.load_nd %p : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %vb = xegpu.load_nd %q {load} : {block} -> {right}
    %t = xegpu.dpas %va, %vb, %s
      : vector<8x16xf16>, {right}, vector<8x16xf32> -> vector<8x16xf32>
    %pn = xegpu.update_nd_offset %p, [0, 16] : !xegpu.tensor_desc<8x16xf16>
    %qn = xegpu.update_nd_offset %q, {step} : {block}
    xegpu.prefetch_nd %pn : !xegpu.tensor_desc<8x16xf16>
    xegpu.nbarrier_wait %bar : !xegpu.nbarrier
    scf.yield %t, %pn, %qn : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>, {block}
  }}
  %tc = xegpu.create_nd_tdesc %c[%i, 0] : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  xegpu.store_nd %d#0, %tc : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>"""

PRODUCTS = {
    "packed": {
        "memory": "memref<64x16xf16>",
        "load": "<{packed}>",
        "right": "vector<8x16x2xf16>",
        "step": "[16, 0]",
    },
    "transposed": {
        "memory": "memref<16x64xf16>",
        "load": "<{transpose = array<i64: 1, 0>}>",
        "right": "vector<16x16xf16>",
        "step": "[0, %c16]",
    },
}


@pytest.mark.parametrize("right", PRODUCTS)
@pytest.mark.parametrize("level", SUBGROUPS)
def test_product(level: str, right: str) -> None:
    words = PRODUCTS[right]
    body = PRODUCT.format(at="%b[0, 0]", block="!xegpu.tensor_desc<16x16xf16>", **words)
    memory = words["memory"]
    text = _of_subgroups(level, f"%a: memref<32x64xf16>, %b: {memory}, %c: memref<32x16xf32>", body)
    core = printed(raised(text))
    assert "gpu.barrier" in core
    # The offsets move as the loop's variable does.
    assert "-> (vector<8x16xf32>)" in core
    rng = fresh_generator()
    shape = (64, 16) if right == "packed" else (16, 64)
    a, b = random_array(rng, (32, 64), "f16"), random_array(rng, shape, "f16")
    _agrees(text, [a, b, undefined((32, 16), "f32")], level, 1e-3)


SOFTMAX = """%least = arith.constant dense<0xFF800000> : vector<{rows}xf32>
  %zeros = arith.constant dense<0.0> : vector<{rows}xf32>
  %in = xegpu.create_nd_tdesc %x : memref<32x64xf32> -> {block}
  %v = xegpu.load_nd %in[%i, 0] : {block} -> vector<{rows}x64xf32>
  %m = vector.multi_reduction <maximumf>, %v, %least [1]
    : vector<{rows}x64xf32> to vector<{rows}xf32>
  %mc = vector.shape_cast %m : vector<{rows}xf32> to vector<{rows}x1xf32>
  %mb = vector.broadcast %mc : vector<{rows}x1xf32> to vector<{rows}x64xf32>
  %d = arith.subf %v, %mb : vector<{rows}x64xf32>
  %e = math.exp %d : vector<{rows}x64xf32>
  %s = vector.multi_reduction <add>, %e, %zeros [1] : vector<{rows}x64xf32> to vector<{rows}xf32>
  %sc = vector.shape_cast %s : vector<{rows}xf32> to vector<{rows}x1xf32>
  %sb = vector.broadcast %sc : vector<{rows}x1xf32> to vector<{rows}x64xf32>
  %r = arith.divf %e, %sb : vector<{rows}x64xf32>
  %out = xegpu.create_nd_tdesc %y : memref<32x64xf32> -> {block}
  xegpu.store_nd %r, %out[%i, 0] : vector<{rows}x64xf32>, {block}"""


@pytest.mark.parametrize("level", [*SUBGROUPS, "work-group"])
def test_softmax(level: str) -> None:
    parameters = "%x: memref<32x64xf32>, %y: memref<32x64xf32>"
    x, y = random_array(fresh_generator(), (32, 64), "f32"), undefined((32, 64), "f32")
    if level == "work-group":
        body = SOFTMAX.format(rows=32, block="!xegpu.tensor_desc<32x64xf32, #l>")
        body = f"%i = arith.constant 0 : index\n{body}"
        text = kernel(parameters, body, aliases=LAYOUT)
        check(text, [x, y], block=(64, 1, 1), tolerance=1e-5, on_opencl=True)
        return
    body = SOFTMAX.format(rows=8, block="!xegpu.tensor_desc<8x64xf32>")
    text = _of_subgroups(level, parameters, f"%i = arith.muli %id, %c8 : index\n{body}")
    _agrees(text, [x, y], level, 1e-5)


ACROSS_SUBGROUPS = """%i = arith.muli %id, %c8 : index
  %zero = arith.constant 0.0 : f32
  %in = xegpu.create_nd_tdesc %x : memref<32x64xf32> -> !xegpu.tensor_desc<8x64xf32>
  %v = xegpu.load_nd %in[%i, 0] : !xegpu.tensor_desc<8x64xf32> -> vector<8x64xf32>
  %zeros = arith.constant dense<0.0> : vector<64xf32>
  %s = vector.multi_reduction <add>, %v, %zeros [0] : vector<8x64xf32> to vector<64xf32>
  %row = vector.shape_cast %s : vector<64xf32> to vector<1x64xf32>
  %bytes = memref.alloca() : memref<1024xi8, 3>
  %sums = xegpu.create_mem_desc %bytes : memref<1024xi8, 3> -> !xegpu.mem_desc<4x64xf32>
  xegpu.store_matrix %row, %sums[%id, 0] : vector<1x64xf32>, !xegpu.mem_desc<4x64xf32>, index
  gpu.barrier
  %all = xegpu.load_matrix %sums[0, 0] : !xegpu.mem_desc<4x64xf32> -> vector<4x64xf32>
  %t = vector.multi_reduction <add>, %all, %zeros [0] : vector<4x64xf32> to vector<64xf32>
  %tr = vector.shape_cast %t : vector<64xf32> to vector<1x64xf32>
  %tb = vector.broadcast %tr : vector<1x64xf32> to vector<8x64xf32>
  %r = arith.subf %v, %tb : vector<8x64xf32>
  %out = xegpu.create_nd_tdesc %y : memref<32x64xf32> -> !xegpu.tensor_desc<8x64xf32>
  xegpu.store_nd %r, %out[%i, 0] : vector<8x64xf32>, !xegpu.tensor_desc<8x64xf32>"""


@pytest.mark.parametrize("level", SUBGROUPS)
def test_sums_across_subgroups(level: str) -> None:
    """Subgroups hand their sums to each other through local memory."""
    parameters = "%x: memref<32x64xf32>, %y: memref<32x64xf32>"
    x, y = random_array(fresh_generator(), (32, 64), "f32"), undefined((32, 64), "f32")
    _agrees(_of_subgroups(level, parameters, ACROSS_SUBGROUPS), [x, y], level, 1e-4)


PAIR = "!xegpu.tensor_desc<8x16xf32, #xegpu.block_tdesc_attr<array_length = 2>>"

LAYER_NORM = f"""%i = arith.muli %id, %c8 : index
  %zeros = arith.constant dense<0.0> : vector<8xf32>
  %size = arith.constant dense<32.0> : vector<8xf32>
  %small = arith.constant dense<1.0e-5> : vector<8xf32>
  %in = xegpu.create_nd_tdesc %x : memref<32x32xf32> -> {PAIR}
  %v = xegpu.load_nd %in[%i, 0] : {PAIR} -> vector<2x8x16xf32>
  %tw = xegpu.create_nd_tdesc %w : memref<32xf32> -> !xegpu.tensor_desc<32xf32>
  %vw = xegpu.load_nd %tw[0] : !xegpu.tensor_desc<32xf32> -> vector<32xf32>
  %halves = vector.shape_cast %vw : vector<32xf32> to vector<2x1x16xf32>
  %wb = vector.broadcast %halves : vector<2x1x16xf32> to vector<2x8x16xf32>
  %s = vector.multi_reduction <add>, %v, %zeros [0, 2] : vector<2x8x16xf32> to vector<8xf32>
  %m = arith.divf %s, %size : vector<8xf32>
  %mc = vector.shape_cast %m : vector<8xf32> to vector<1x8x1xf32>
  %mb = vector.broadcast %mc : vector<1x8x1xf32> to vector<2x8x16xf32>
  %d = arith.subf %v, %mb : vector<2x8x16xf32>
  %q = arith.mulf %d, %d : vector<2x8x16xf32>
  %t = vector.multi_reduction <add>, %q, %zeros [0, 2] : vector<2x8x16xf32> to vector<8xf32>
  %u = arith.divf %t, %size : vector<8xf32>
  %e = arith.addf %u, %small : vector<8xf32>
  %f = math.rsqrt %e : vector<8xf32>
  %fc = vector.shape_cast %f : vector<8xf32> to vector<1x8x1xf32>
  %fb = vector.broadcast %fc : vector<1x8x1xf32> to vector<2x8x16xf32>
  %h = arith.mulf %d, %fb : vector<2x8x16xf32>
  %r = arith.mulf %h, %wb : vector<2x8x16xf32>
  %left = vector.extract %r[0] : vector<8x16xf32> from vector<2x8x16xf32>
  %right = vector.extract %r[1] : vector<8x16xf32> from vector<2x8x16xf32>
  %out = xegpu.create_nd_tdesc %y : memref<32x32xf32> -> !xegpu.tensor_desc<8x16xf32>
  xegpu.store_nd %left, %out[%i, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
  xegpu.store_nd %right, %out[%i, 16] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>"""


@pytest.mark.parametrize("level", SUBGROUPS)
def test_layer_norm(level: str) -> None:
    """Rows that are loaded as two blocks by one instruction, and a row of weights."""
    parameters = "%x: memref<32x32xf32>, %w: memref<32xf32>, %y: memref<32x32xf32>"
    generator = fresh_generator()
    x, w = random_array(generator, (32, 32), "f32"), random_array(generator, (32,), "f32")
    text = _of_subgroups(level, parameters, LAYER_NORM)
    _agrees(text, [x, w, undefined((32, 32), "f32")], level, 1e-4)


ATTENTION = """%i = arith.muli %id, %c8 : index
  %least = arith.constant dense<0xFF800000> : vector<8xf32>
  %zeros = arith.constant dense<0.0> : vector<8xf32>
  %none = arith.constant dense<0.0> : vector<8x16xf32>
  %tq = xegpu.create_nd_tdesc %q : memref<32x16xf16> -> !xegpu.tensor_desc<8x16xf16>
  %tk = xegpu.create_nd_tdesc %k : memref<64x16xf16> -> !xegpu.tensor_desc<16x16xf16>
  %tv = xegpu.create_nd_tdesc %v : memref<64x16xf16> -> !xegpu.tensor_desc<16x16xf16>
  %to = xegpu.create_nd_tdesc %o : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %vq = xegpu.load_nd %tq[%i, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
  %r:3 = scf.for %j = %c0 to %c64 step %c16 iter_args(%acc = %none, %max = %least, %sum = %zeros)
    -> (vector<8x16xf32>, vector<8xf32>, vector<8xf32>) {
    %kt = xegpu.load_nd %tk[%j, 0] <{transpose = array<i64: 1, 0>}>
      : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    %s = xegpu.dpas %vq, %kt : vector<8x16xf16>, vector<16x16xf16> -> vector<8x16xf32>
    %m = vector.multi_reduction <maximumf>, %s, %max [1] : vector<8x16xf32> to vector<8xf32>
    %mc = vector.shape_cast %m : vector<8xf32> to vector<8x1xf32>
    %mb = vector.broadcast %mc : vector<8x1xf32> to vector<8x16xf32>
    %d = arith.subf %s, %mb : vector<8x16xf32>
    %p = math.exp %d : vector<8x16xf32>
    %fd = arith.subf %max, %m : vector<8xf32>
    %f = math.exp %fd : vector<8xf32>
    %sf = arith.mulf %sum, %f : vector<8xf32>
    %sn = vector.multi_reduction <add>, %p, %sf [1] : vector<8x16xf32> to vector<8xf32>
    %fc = vector.shape_cast %f : vector<8xf32> to vector<8x1xf32>
    %fb = vector.broadcast %fc : vector<8x1xf32> to vector<8x16xf32>
    %scaled = arith.mulf %acc, %fb : vector<8x16xf32>
    %ph = arith.truncf %p : vector<8x16xf32> to vector<8x16xf16>
    %vv = xegpu.load_nd %tv[%j, 0] <{packed}>
      : !xegpu.tensor_desc<16x16xf16> -> vector<8x16x2xf16>
    %n = xegpu.dpas %ph, %vv, %scaled
      : vector<8x16xf16>, vector<8x16x2xf16>, vector<8x16xf32> -> vector<8x16xf32>
    scf.yield %n, %m, %sn : vector<8x16xf32>, vector<8xf32>, vector<8xf32>
  }
  %sc = vector.shape_cast %r#2 : vector<8xf32> to vector<8x1xf32>
  %sb = vector.broadcast %sc : vector<8x1xf32> to vector<8x16xf32>
  %result = arith.divf %r#0, %sb : vector<8x16xf32>
  xegpu.store_nd %result, %to[%i, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>"""


@pytest.mark.parametrize("level", SUBGROUPS)
def test_flash_attention(level: str) -> None:
    parameters = (
        "%q: memref<32x16xf16>, %k: memref<64x16xf16>, %v: memref<64x16xf16>, %o: memref<32x16xf32>"
    )
    text = _of_subgroups(level, parameters, ATTENTION)
    rng = fresh_generator()
    q, k, v = (random_array(rng, (rows, 16), "f16") for rows in (32, 64, 64))
    _agrees(text, [q, k, v, undefined((32, 16), "f32")], level, 2e-2)
    (_, _, _, actual) = results(raised(text), [q, k, v, undefined((32, 16), "f32")])
    scores = q.astype(np.float64) @ k.astype(np.float64).T
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    expected = weights @ v.astype(np.float64) / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=2e-2)


HISTOGRAM = """%at = arith.muli %id, %c16 : index
  %zero = arith.constant 0 : i32
  %first = vector.broadcast %at : index to vector<16xindex>
  %step = vector.step : vector<16xindex>
  %points = arith.addi %first, %step : vector<16xindex>
  %all = arith.constant dense<true> : vector<16xi1>
  %v = xegpu.load %x[%points], %all
    : memref<64xi32>, vector<16xindex>, vector<16xi1> -> vector<16xi32>
  %seven = arith.constant dense<7> : vector<16xi32>
  %b = arith.andi %v, %seven : vector<16xi32>
  %bins = arith.index_castui %b : vector<16xi32> to vector<16xindex>
  %ones = arith.constant dense<1> : vector<16xi32>
  %t = xegpu.create_tdesc %y, %bins : memref<8xi32>, vector<16xindex>
    -> !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>>
  %old = xegpu.atomic_rmw addi %t, %all, %ones
    : !xegpu.tensor_desc<16xi32, #xegpu.scatter_tdesc_attr<>>, vector<16xi1>, vector<16xi32>
    -> vector<16xi32>"""


# A reference device whose lanes hold positions of their own updates once for each lane.
@pytest.mark.parametrize("level", ["subgroup", "vector compute"])
def test_histogram(level: str) -> None:
    x = random_array(fresh_generator(), (64,), "i32")
    text = _of_subgroups(level, "%x: memref<64xi32>, %y: memref<8xi32>", HISTOGRAM)
    _agrees(text, [x, np.zeros(8, np.int32)], level)
    (_, counts) = results(raised(text), [x, np.zeros(8, np.int32)])
    np.testing.assert_array_equal(counts, np.bincount(x & 7, minlength=8))


@pytest.mark.parametrize("level", SUBGROUPS)
def test_descriptors_in_branches_and_while(level: str) -> None:
    """What changes of a descriptor is handed on, its memory, too."""
    body = """%even = arith.remui %id, %c8 : index
  %c2 = arith.constant 2 : index
  %odd = arith.remui %id, %c2 : index
  %is_odd = arith.cmpi eq, %odd, %c1 : index
  %ta = xegpu.create_nd_tdesc %a : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %tb = xegpu.create_nd_tdesc %b : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  %i = arith.muli %id, %c8 : index
  %t = scf.if %is_odd -> (!xegpu.tensor_desc<8x16xf32>) {
    %m = xegpu.update_nd_offset %ta, [%i, 0] : !xegpu.tensor_desc<8x16xf32>
    scf.yield %m : !xegpu.tensor_desc<8x16xf32>
  } else {
    scf.yield %tb : !xegpu.tensor_desc<8x16xf32>
  }
  %u:2 = scf.while (%p = %t, %n = %c0) : (!xegpu.tensor_desc<8x16xf32>, index)
    -> (!xegpu.tensor_desc<8x16xf32>, index) {
    %go = arith.cmpi ult, %n, %id : index
    scf.condition(%go) %p, %n : !xegpu.tensor_desc<8x16xf32>, index
  } do {
  ^bb0(%p: !xegpu.tensor_desc<8x16xf32>, %n: index):
    %next = xegpu.update_nd_offset %p, [0, 1] : !xegpu.tensor_desc<8x16xf32>
    %more = arith.addi %n, %c1 : index
    scf.yield %next, %more : !xegpu.tensor_desc<8x16xf32>, index
  }
  %v = xegpu.load_nd %u#0 : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
  %to = xegpu.create_nd_tdesc %o : memref<32x16xf32> -> !xegpu.tensor_desc<8x16xf32>
  xegpu.store_nd %v, %to[%i, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>"""
    parameters = "%a: memref<32x16xf32>, %b: memref<32x16xf32>, %o: memref<32x16xf32>"
    rng = fresh_generator()
    a, b = (random_array(rng, (32, 16), "f32") for _ in range(2))
    text = _of_subgroups(level, parameters, body)
    check(text, [a, b, undefined((32, 16), "f32")], block=BLOCKS[level])


def test_the_block_of_a_launch_in_the_module() -> None:
    """A kernel without known_block_size has the one of all its launches."""
    text = kernel(
        "%x: memref<8x16xf32>",
        """%t = xegpu.create_nd_tdesc %x : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
        %v = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
        xegpu.store_nd %v, %t[0, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>""",
    )
    host = """func.func @main(%x: memref<8x16xf32>) {
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c16, %c1, %c1)
        args(%x : memref<8x16xf32>)
      return
    }"""
    wanted = "known_block_size = array<i32: 16, 1, 1>"
    together = f"module attributes {{gpu.container_module}} {{ {text}\n{host} }}"
    assert wanted in printed(raised(together))
    assert wanted not in printed(raised(text))


def test_a_block_without_a_size() -> None:
    """Work-items that are subgroups may be as many as a launch likes."""
    text = _of_subgroups("vector compute", "%x: memref<64xi32>, %y: memref<8xi32>", HISTOGRAM)
    open_text = text.replace(", known_block_size = array<i32: 4, 1, 1>", "")
    x = random_array(fresh_generator(), (64,), "i32")
    for block in ((2, 1, 1), (4, 1, 1)):
        wanted = results(text, [x, np.zeros(8, np.int32)], block=block)
        compare(
            results(open_text, [x, np.zeros(8, np.int32)], block=block, device="opencl"), wanted
        )


def test_products_use_the_matrix_unit() -> None:
    body = PRODUCT.format(
        at="%b[0, 0]",
        block="!xegpu.tensor_desc<16x16xf16>",
        **{**PRODUCTS["packed"], "memory": "memref<64x32xf16>"},
    )
    parameters = "%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x16xf32>"
    text = _of_subgroups("subgroup", parameters, body)
    lanes = printed(xtile.translate(text, "lane", chip="pvc"))
    assert "xegpu.dpas" in lanes
    assert "<{packed}>" in lanes


WORK_GROUP_PRODUCT = """%c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : vector<32x32xf32>
  %ta = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<32x16xf16, #a>
  %tb = xegpu.create_nd_tdesc %b : memref<64x32xf16> -> !xegpu.tensor_desc<16x32xf16, #b>
  %d = scf.for %k = %c0 to %c64 step %c16 iter_args(%s = %zero) -> (vector<32x32xf32>) {
    %va = xegpu.load_nd %ta[0, %k] : !xegpu.tensor_desc<32x16xf16, #a> -> vector<32x16xf16>
    %vb = xegpu.load_nd %tb[%k, 0] : !xegpu.tensor_desc<16x32xf16, #b> -> vector<16x32xf16>
    %t = xegpu.dpas %va, %vb, %s
      : vector<32x16xf16>, vector<16x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
    scf.yield %t : vector<32x32xf32>
  }
  %tc = xegpu.create_nd_tdesc %c : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32, #c>
  xegpu.store_nd %d, %tc[0, 0] : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32, #c>"""

WORK_GROUP_LAYOUTS = "\n".join(
    f"#{name} = #xegpu.layout<sg_layout = [2, 2], sg_data = {data}>"
    for name, data in (("a", [16, 16]), ("b", [16, 16]), ("c", [16, 16]))
)


@pytest.mark.parametrize("target", ["opencl", "cuda_tile"])
def test_products_of_work_groups(target: str) -> None:
    """On a CPU, and on the reference device as CUDA Tile IR."""
    parameters = "%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>"
    text = kernel(parameters, WORK_GROUP_PRODUCT, aliases=WORK_GROUP_LAYOUTS)
    generator = fresh_generator()
    a, b = (random_array(generator, shape, "f16") for shape in ((32, 64), (64, 32)))
    c = undefined((32, 32), "f32")
    if target == "opencl":
        xtile.run(text, [a, b, c], block=(64, 1, 1), device="opencl")
    else:
        xtile.run(xtile.translate(text, "cuda_tile", chip="sm_90"), [a, b, c])
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=0, atol=1e-3)


_POINTERS = """core.signature = {language = "triton", parameters = [
    {becomes = ["pointer"], name = "x", type = "!tt.ptr<f32>"},
    {becomes = ["pointer"], name = "y", type = "!tt.ptr<f32>"},
    {becomes = ["value"], name = "n", type = "i64"}]}, known_block_size = array<i32: 16, 1, 1>,
    xegpu.level = "work-group\""""

_WHOLE = "#xegpu.layout<sg_layout = [1], sg_data = [32]>"

_DESCRIPTOR = (
    f"!xegpu.tensor_desc<32xf32, #xegpu.block_tdesc_attr<boundary_check = false>, {_WHOLE}>"
)


def _behind(size: int) -> str:
    """Copies 32 elements that lie n times so many bytes and three elements behind a pointer."""
    return kernel(
        "%x: i64, %y: i64, %n: i64",
        f"""%size = arith.constant {size} : i64
        %three = arith.constant 12 : i64
        %moved = arith.muli %n, %size : i64
        %at = arith.addi %x, %moved : i64
        %from = arith.addi %three, %at : i64
        %tx = xegpu.create_nd_tdesc %from, shape : [32], strides : [1] : i64 -> {_DESCRIPTOR}
        %v = xegpu.load_nd %tx[0] <{{layout = {_WHOLE}}}> : {_DESCRIPTOR} -> vector<32xf32>
        %ty = xegpu.create_nd_tdesc %y, shape : [32], strides : [1] : i64 -> {_DESCRIPTOR}
        xegpu.store_nd %v, %ty[0] <{{layout = {_WHOLE}}}> : vector<32xf32>, {_DESCRIPTOR}""",
        attributes=_POINTERS,
    )


@pytest.mark.parametrize(("size", "type"), [(4, "f32"), (1, "i8")])
def test_addresses_are_pointers_to_elements_where_they_are_whole_ones(size: int, type: str) -> None:
    text = _behind(size)
    core = printed(raised(text))
    assert f"%x: !core.ptr<{type}>, %y: !core.ptr<f32>, %n: i64" in core
    assert "integer_to_pointer" not in core
    x = fresh_generator().standard_normal(64).astype(np.float32)
    for port in (text, xtile.translate(text, "triton")):
        y = np.full(32, np.nan, np.float32)
        xtile.run(port, [x, y, 20 // size], grid=1)
        np.testing.assert_array_equal(y, x[8:40])


def test_ports_with_pointers_become_the_tensor_language() -> None:
    y, x = np.full(32, np.nan, np.float32), fresh_generator().standard_normal(64)
    port = xtile.translate(_behind(4), "tensorlang")
    assert "%x: memref<f32x?>" in xtile.to_text(port, "tensorlang")
    xtile.run(port, [x.astype(np.float32), y, 5], grid=1)
    np.testing.assert_array_equal(y, x.astype(np.float32)[8:40])
    with pytest.raises(DiagnosticError, match="does not take memory of i8 for memory of f32"):
        xtile.translate(_behind(1), "tensorlang")


SETS = """%one = arith.constant 1 : i8
  %two = arith.constant 2 : i8
  %set = arith.shrui %id, %c1 : index
  %small = arith.index_cast %set : index to i8
  %name = arith.addi %small, %one : i8
  %b = xegpu.init_nbarrier %name, %two : i8, i8 -> !xegpu.nbarrier
  %m = memref.alloca() : memref<256xi8, 3>
  %d = xegpu.create_mem_desc %m : memref<256xi8, 3> -> !xegpu.mem_desc<4x16xf32>
  %partner = arith.xori %id, %c1 : index
  %t = xegpu.create_nd_tdesc %x[%id, 0] : memref<4x16xf32> -> !xegpu.tensor_desc<1x16xf32>
  %own = xegpu.load_nd %t : !xegpu.tensor_desc<1x16xf32> -> vector<1x16xf32>
  %end = arith.addi %n, {more} : index
  %r = scf.for %i = %c0 to %end step %c1 iter_args(%v = %own) -> (vector<1x16xf32>) {{
    xegpu.store_matrix %v, %d[%id, 0] : vector<1x16xf32>, !xegpu.mem_desc<4x16xf32>, index
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    %w = arith.addf %v, %v : vector<1x16xf32>
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
    %o = xegpu.load_matrix %d[%partner, 0]
      : !xegpu.mem_desc<4x16xf32>, index -> vector<1x16xf32>
    xegpu.nbarrier_arrive %b : !xegpu.nbarrier
    xegpu.nbarrier_wait %b : !xegpu.nbarrier
    %s = arith.addf %w, %o : vector<1x16xf32>
    scf.yield %s : vector<1x16xf32>
  }}
  xegpu.store_nd %r, %t : vector<1x16xf32>, !xegpu.tensor_desc<1x16xf32>"""
"""Two subgroups each exchange lines, which each adds to twice its own."""


def _of_sets(level: str, more: str = "%c0") -> str:
    return _of_subgroups(level, "%x: memref<4x16xf32>, %n: index", SETS.format(more=more))


@pytest.mark.slow
@pytest.mark.parametrize("level", SUBGROUPS)
def test_sets_of_subgroups_wait_for_each_other(level: str) -> None:
    """They wait for the whole work-group, which is more than they need."""
    text, block = _of_sets(level), BLOCKS[level]
    x = fresh_generator().integers(-9, 9, (4, 16)).astype(np.float32)
    expected = x.copy()
    for _ in range(3):
        expected = 2 * expected + expected[[1, 0, 3, 2]]
    core = check(text, [x, 3], block=block, on_opencl=True)
    assert core.count("gpu.barrier") == 2
    for own in (text, core):
        (found, _) = results(own, [x, 3], block=block)
        np.testing.assert_array_equal(found, expected)
        given = [argument_of(x.copy()), argument_of(3)]
        assert sanitize(function_of(own), given, (1, 1, 1), block=block) == []
    lanes = xtile.translate(text, "xegpu", chip="pvc", xegpu_level="lane")
    (found, _) = results(lanes, [x, 3])
    np.testing.assert_array_equal(found, expected)


def test_a_remark_says_that_all_wait() -> None:
    said = Diagnostics()
    translate_to(xtile.parse(_of_sets("subgroup")), "core", Options(), said)
    messages = [each.message for each in said]
    assert "all 4 subgroups of the work-group wait here, where sets of 2 of them do" in messages


def test_sets_of_subgroups_that_wait_unequally_often() -> None:
    with pytest.raises(DiagnosticError, match=r"scf\.for, which not all subgroups may enter equal"):
        raised(_of_sets("subgroup", "%set"))
