"""Kernels of all languages compute the same as functions of the tensor language."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.translate.core_to_tensorlang.ported import (
    Array,
    agree,
    assert_near,
    ported,
    there_and_back,
)
from tests.triton_kernels.corpus import CASES
from tests.triton_releases.judges import NEWEST, compiled
from xtile.text.diagnostics import DiagnosticError

ROOT = Path(__file__).parents[3]

LINALG = """
gpu.module @m {
  gpu.func @k(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>,
              %r: memref<?xf32>) kernel {
    %z = arith.constant 0.0 : f32
    linalg.fill ins(%z : f32) outs(%c : memref<?x?xf32>)
    linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf32>)
    linalg.exp ins(%c : memref<?x?xf32>) outs(%c : memref<?x?xf32>)
    linalg.reduce {arith.addf} ins(%c : memref<?x?xf32>) outs(%r : memref<?xf32>) dimensions = [1]
    gpu.return
  }
}
"""

WORK_GROUP = """
#rows = #xegpu.layout<sg_layout = [2, 1], sg_data = [8, 32]>
gpu.module @m {
  gpu.func @k(%x: memref<16x32xf32>, %y: memref<16x32xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %least = arith.constant dense<0xFF800000> : vector<16xf32>
    %zeros = arith.constant dense<0.0> : vector<16xf32>
    %in = xegpu.create_nd_tdesc %x : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32, #rows>
    %out = xegpu.create_nd_tdesc %y : memref<16x32xf32> -> !xegpu.tensor_desc<16x32xf32, #rows>
    %v = xegpu.load_nd %in[0, 0] : !xegpu.tensor_desc<16x32xf32, #rows> -> vector<16x32xf32>
    %m = vector.multi_reduction <maximumf>, %v, %least [1] : vector<16x32xf32> to vector<16xf32>
    %mc = vector.shape_cast %m : vector<16xf32> to vector<16x1xf32>
    %mb = vector.broadcast %mc : vector<16x1xf32> to vector<16x32xf32>
    %d = arith.subf %v, %mb : vector<16x32xf32>
    %e = math.exp %d : vector<16x32xf32>
    %s = vector.multi_reduction <add>, %e, %zeros [1] : vector<16x32xf32> to vector<16xf32>
    %sc = vector.shape_cast %s : vector<16xf32> to vector<16x1xf32>
    %sb = vector.broadcast %sc : vector<16x1xf32> to vector<16x32xf32>
    %q = arith.divf %e, %sb : vector<16x32xf32>
    xegpu.store_nd %q, %out[0, 0] : vector<16x32xf32>, !xegpu.tensor_desc<16x32xf32, #rows>
    gpu.return
  }
}
"""

SUBGROUP = """
gpu.module @m {
  gpu.func @k(%A: memref<16x64xf16>, %B: memref<64x16xf16>, %C: memref<14x16xf32>) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %subgroup = gpu.subgroup_id : index
    %row = arith.muli %subgroup, %c8 : index
    %a = xegpu.create_nd_tdesc %A : memref<16x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %b = xegpu.create_nd_tdesc %B : memref<64x16xf16> -> !xegpu.tensor_desc<16x16xf16>
    %c = xegpu.create_nd_tdesc %C : memref<14x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %sum = scf.for %k = %c0 to %c64 step %c16 iter_args(%before = %zero) -> (vector<8x16xf32>) {
      %left = xegpu.load_nd %a[%row, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
      %right = xegpu.load_nd %b[%k, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
      %after = xegpu.dpas %left, %right, %before
          : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      scf.yield %after : vector<8x16xf32>
    }
    %positive = arith.maxnumf %sum, %zero : vector<8x16xf32>
    %root = math.sqrt %positive : vector<8x16xf32>
    xegpu.store_nd %root, %c[%row, 0] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""

LANE_PRODUCT = """
gpu.module @m {
  gpu.func @k(%A: memref<8x16xf16>, %B: memref<16x16xf16>, %C: memref<8x16xf32>) kernel
      attributes {intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 16, 1, 1>} {
    %a = xegpu.create_nd_tdesc %A : memref<8x16xf16> -> !xegpu.tensor_desc<8x16xf16>
    %b = xegpu.create_nd_tdesc %B : memref<16x16xf16> -> !xegpu.tensor_desc<16x16xf16>
    %c = xegpu.create_nd_tdesc %C : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %left = xegpu.load_nd %a[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    %right = xegpu.load_nd %b[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    %sum = xegpu.dpas %left, %right : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    xegpu.store_nd %sum, %c[0, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""

LANES = """
gpu.module @m {
  gpu.func @k(%x: memref<48xf32>, %y: memref<48xi32>, %n: i32) kernel
      attributes {known_block_size = array<i32: 12, 2, 1>} {
    %i = gpu.thread_id x
    %j = gpu.thread_id y
    %b = gpu.block_id x
    %c12 = arith.constant 12 : index
    %c24 = arith.constant 24 : index
    %row = arith.muli %j, %c12 : index
    %in = arith.addi %row, %i : index
    %first = arith.muli %b, %c24 : index
    %at = arith.addi %first, %in : index
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %v = memref.load %x[%at] : memref<48xf32>
    %u = arith.fptoui %v : f32 to i32
    %steps, %left = scf.while (%count = %zero, %rest = %u) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ugt, %rest, %one : i32
      scf.condition(%more) %count, %rest : i32, i32
    } do {
    ^bb0(%count: i32, %rest: i32):
      %next = arith.addi %count, %one : i32
      %half = arith.shrui %rest, %one : i32
      scf.yield %next, %half : i32, i32
    }
    %sum = arith.addi %steps, %n : i32
    memref.store %sum, %y[%at] : memref<48xi32>
    gpu.return
  }
}
"""


def _random(*shape: int, dtype: type = np.float32) -> Array:
    numbers: Array = fresh_generator().standard_normal(shape)
    return numbers.astype(dtype)


def _empty(*shape: int) -> Array:
    return np.full(shape, np.nan, np.float32)


def _product_of_matrices(rows: int, depth: int, columns: int, shown: int) -> list[Array]:
    a, b = _random(rows, depth, dtype=np.float16), _random(depth, columns, dtype=np.float16)
    return [a, b, _empty(shown, columns)]


def test_linear_algebra() -> None:
    a, b = _random(5, 9, dtype=np.float16), _random(9, 7, dtype=np.float16)
    agree(LINALG, [a, b, _empty(5, 7), _empty(5)])


@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_tiles_of_a_work_group(device: str) -> None:
    agree(WORK_GROUP, [_random(16, 32), _empty(16, 32)], device=device)


def test_matrices_of_subgroups() -> None:
    agree(SUBGROUP, _product_of_matrices(16, 64, 16, 14))


@pytest.mark.slow
def test_parts_of_lanes() -> None:
    agree(LANE_PRODUCT, _product_of_matrices(8, 16, 16, 8))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_work_items_that_fill_no_subgroup(device: str) -> None:
    numbers = fresh_generator().integers(0, 2**31, 48).astype(np.float32)
    agree(LANES, [numbers, np.full(48, -1, np.int32), 5], grid=2, device=device)


@pytest.mark.slow
def test_a_kernel_of_cutile() -> None:
    """The port takes the arrays that the source takes."""
    text = (ROOT / "examples" / "cutile" / "rms_norm.mlir").read_text()
    agree(text, [_random(10, 150), _random(150), _empty(10, 150), 1e-5], grid=3)


def test_an_example_there_and_back() -> None:
    path = ROOT / "examples" / "matrix_unit.ir"
    arrays = [_random(32, 64, dtype=np.float16), _random(64, 8, dtype=np.float16), _empty(32, 8)]
    given = [np.asfortranarray(each) for each in arrays]
    expected = [each.copy(order="F") for each in given]
    xtile.run(path, expected)
    xtile.run(there_and_back(xtile.parse(path)), given)
    assert_near(given[2], expected[2])


# --- Triton ---

REFUSED = {
    "atomic_floats": "takes? the bits",
    "atomic_integers": "no atomic andi",
    "checked": "does not print",
    "spin_lock": "does not compare and swap",
}
"""Some of the kernels of the corpus that have no counterpart, and why."""

SAMPLE = ("add", "attention_causal", "softmax", "matmul_int8", "histogram", "prefix_sums")
"""The kernels that are run unless XTILE_ALL_PORTS is set, as `--all-ports` sets it."""

NAMES = tuple(CASES) if os.environ.get("XTILE_ALL_PORTS") else SAMPLE

KNOWN_REASONS = (
    "the tensor language",
    "cannot be translated to the tensor language",
    "tt.elementwise_inline_asm",
)


def _ported_or_why(module: ModuleOp) -> ModuleOp | str:
    try:
        return ported(module)
    except DiagnosticError as error:
        return str(error)


@pytest.mark.parametrize("name", NAMES)
def test_kernels_of_triton(name: str) -> None:
    case = CASES[name]()
    verdict = compiled(NEWEST, case.source(), "gfx942", "ttir")
    if not verdict.accepted:
        assert name == "matmul_block_pointers"
        return
    module = xtile.parse(verdict.text, language="ttir")
    made = _ported_or_why(module)
    if isinstance(made, str):
        assert name not in SAMPLE, made
        assert any(reason in made for reason in KNOWN_REASONS), made
        return
    arguments = case.copied_arguments()
    ones = {key for key, each in arguments.items() if type(each) is int and each == 1}
    xtile.run(made, [each for key, each in arguments.items() if key not in ones], case.grid)
    case.check(arguments)


def test_what_is_refused_says_why() -> None:
    names = REFUSED if os.environ.get("XTILE_ALL_PORTS") else ["spin_lock"]
    for name in names:
        verdict = compiled(NEWEST, CASES[name]().source(), "gfx942", "ttir")
        module = xtile.parse(verdict.text, language="ttir")
        with pytest.raises(DiagnosticError, match=REFUSED[name]):
            ported(module)


@pytest.mark.slow
def test_a_loop_of_work_items_that_begins_with_a_constant_vector() -> None:
    """The sums of a product in a loop begin as a constant, and the loop carries them."""
    source = ROOT / "examples" / "matrix_unit.ir"
    port = xtile.translate(source, "xegpu")
    arrays = [_random(32, 64, dtype=np.float16), _random(64, 8, dtype=np.float16), _empty(32, 8)]
    given = [np.asfortranarray(each) for each in arrays]
    expected = [each.copy(order="F") for each in given]
    xtile.run(source, expected)
    xtile.run(ported(port), given)
    assert_near(given[2], expected[2])


def test_memory_that_is_chosen_while_a_kernel_runs_is_refused() -> None:
    text = """gpu.module @m {
  gpu.func @k(%is: i1, %a: memref<8xf32>, %b: memref<8xf32>) kernel {
    %zero = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %chosen = arith.select %is, %a, %b : memref<8xf32>
    memref.store %one, %chosen[%zero] : memref<8xf32>
    gpu.return
  }
}
"""
    with pytest.raises(DiagnosticError, match="no views that may be of one memory or of another"):
        xtile.translate(text, "tensorlang")
