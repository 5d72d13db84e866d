"""What the operations of a subgroup become: masks for branches, points for elements, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.translate.tiles_to_xegpu.ported import as_xegpu, text_of
from xtile.text.diagnostics import DiagnosticError


def _kernel(parameters: str, body: str) -> str:
    return f"""
    gpu.module @kernels {{
      gpu.func @k({parameters}) kernel attributes {{core.level = "subgroup",
          intel_reqd_sub_group_size = 16 : i32, known_block_size = array<i32: 32, 1, 1>}} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c16 = arith.constant 16 : index
        %subgroup = gpu.subgroup_id : index
        %first = arith.muli %subgroup, %c16 : index
        {body}
        gpu.return
      }}
    }}"""


def _made(parameters: str, body: str) -> ModuleOp:
    return as_xegpu(_kernel(parameters, body), level="subgroup")


READ = """%zero = arith.constant 0 : i32
%v = vector.transfer_read %x[%first], %zero {in_bounds = [true]} : memref<32xi32>, vector<16xi32>
"""

NESTED = """%w = core.map %v : vector<16xi32> -> vector<16xi32> {
^bb0(%row: index, %column: index, %each: i32):
  %at = arith.addi %first, %row : index
  %inside = arith.cmpi slt, %each, %n : i32
  %made = scf.if %inside -> (i32) {
    %is_even = arith.cmpi ult, %at, %c16 : index
    %inner = scf.if %is_even -> (i32) {
      %loaded = memref.load %x[%row] : memref<32xi32>
      scf.yield %loaded : i32
    } else {
      memref.store %each, %y[%at] : memref<32xi32>
      scf.yield %n : i32
    }
    scf.yield %inner : i32
  } else {
    %quotient = arith.divsi %n, %each : i32
    scf.yield %quotient : i32
  }
  core.yield %made : i32
}
"""


def test_branches_of_a_map_are_masks() -> None:
    """What is not taken is neither accessed nor divided by."""
    body = READ + NESTED + "vector.transfer_write %w, %z[%first] : vector<16xi32>, memref<32xi32>"
    parameters = "%x: memref<32xi32>, %y: memref<32xi32>, %z: memref<32xi32>, %n: i32"
    made = _made(parameters, body)
    assert "core.map" not in text_of(made)
    assert "scf.if" not in text_of(made)
    x = fresh_generator().integers(-3, 4, 32).astype(np.int32)
    n, y, z = 2, np.full(32, -77, np.int32), np.full(32, -78, np.int32)
    xtile.run(made, [x, y, z, n])
    inside, below = x < n, np.arange(32) < 16
    quotient = (n / np.where(inside, 1, x)).astype(np.int32)
    expected = np.where(inside, np.where(below, np.resize(x[:16], 32), n), quotient)
    np.testing.assert_array_equal(z, expected)
    np.testing.assert_array_equal(y, np.where(inside & ~below, x, -77))


def test_an_update_by_one_work_item_is_one_point() -> None:
    body = """%lane = gpu.lane_id
    %is_first = arith.cmpi eq, %lane, %c0 : index
    scf.if %is_first {
      %one = arith.constant 1 : i32
      %old = memref.atomic_rmw addi %one, %x[%subgroup] : (i32, memref<32xi32>) -> i32
      memref.store %old, %y[%subgroup] : memref<32xi32>
    }"""
    made = _made("%x: memref<32xi32>, %y: memref<32xi32>", body)
    assert "!xegpu.tensor_desc<1xi32" in text_of(made)
    for level in (made, xtile.translate(made, "core"), xtile.translate(made, "lane", chip="pvc")):
        x, y = np.arange(32, dtype=np.int32), np.full(32, -77, np.int32)
        xtile.run(level, [x, y])
        assert x.tolist() == [1, 2, *range(2, 32)]
        assert y.tolist() == [0, 1, *[-77] * 30]


@pytest.mark.slow
def test_elements_move_between_lanes() -> None:
    """Shapes, transposes and parts of vectors of a subgroup, in the code of lanes."""
    body = """%zero = arith.constant 0 : i32
    %v = vector.transfer_read %x[%first, %c0], %zero {in_bounds = [true, true]}
        : memref<32x16xi32>, vector<16x16xi32>
    %t = vector.transpose %v, [1, 0] : vector<16x16xi32> to vector<16x16xi32>
    %s = vector.extract_strided_slice %t {offsets = [3, 0], sizes = [4, 16], strides = [1, 1]}
        : vector<16x16xi32> to vector<4x16xi32>
    %i = vector.insert_strided_slice %s, %v {offsets = [5, 0], strides = [1, 1]}
        : vector<4x16xi32> into vector<16x16xi32>
    %f = vector.shape_cast %i : vector<16x16xi32> to vector<8x32xi32>
    %b = vector.shape_cast %f : vector<8x32xi32> to vector<16x16xi32>
    vector.transfer_write %b, %y[%first, %c0] {in_bounds = [true, true]}
        : vector<16x16xi32>, memref<32x16xi32>"""
    parameters = "%x: memref<32x16xi32>, %y: memref<32x16xi32>"
    x = fresh_generator().integers(-100, 100, (32, 16)).astype(np.int32)
    expected = x.copy()
    for first in (0, 16):
        expected[first + 5 : first + 9] = x[first : first + 16].T[3:7]
    made = _made(parameters, body)
    for kernel in (made, xtile.translate(made, "xegpu", chip="pvc", xegpu_level="lane")):
        y = np.full((32, 16), -77, np.int32)
        xtile.run(kernel, [x, y])
        np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("parameters", "body", "message"),
    [
        (
            "%x: memref<32xi32>, %n: i32",
            READ + "%e = core.fragment_extract %v[0] : vector<16xi32> -> i32\n"
            "memref.store %e, %x[%c0] : memref<32xi32>",
            (
                "core.fragment_extract cannot be translated to XeGPU at level subgroup: which "
                "element is whose only lanes know; ask for level lane"
            ),
        ),
        (
            "%x: memref<32xi32>",
            READ
            + """%lane = gpu.lane_id
            %l = arith.index_cast %lane : index to i32
            %w = core.map %v : vector<16xi32> -> vector<16xi32> {
            ^bb0(%row: index, %column: index, %each: i32):
              %sum = arith.addi %each, %l : i32
              core.yield %sum : i32
            }
            vector.transfer_write %w, %x[%first] : vector<16xi32>, memref<32xi32>""",
            (
                "the region of core.map computes with a number that differs between the "
                "work-items of a subgroup, and only lanes know which elements are theirs; ask "
                "for level lane"
            ),
        ),
        (
            "%x: memref<32xi32>, %p: !core.ptr<i32>, %q: !core.ptr<i32>",
            READ
            + """%a = core.pointer_to_integer %p : !core.ptr<i32> -> i64
            %b = core.pointer_to_integer %q : !core.ptr<i32> -> i64
            %as = vector.broadcast %a : i64 to vector<16xi64>
            %bs = vector.broadcast %b : i64 to vector<16xi64>
            %zeros = arith.constant dense<0> : vector<16xi32>
            %is = arith.cmpi eq, %v, %zeros : vector<16xi32>
            %at = arith.select %is, %as, %bs : vector<16xi1>, vector<16xi64>
            %w = core.map %at : vector<16xi64> -> vector<16xi32> {
            ^bb0(%row: index, %column: index, %each: i64):
              %pointer = core.integer_to_pointer %each : i64 -> !core.ptr<i32>
              %m = core.view %pointer to offset: [0], sizes: [1], strides: [1]
                  : !core.ptr<i32> to memref<1xi32>
              %loaded = memref.load %m[%c0] : memref<1xi32>
              core.yield %loaded : i32
            }
            vector.transfer_write %w, %x[%first] : vector<16xi32>, memref<32xi32>""",
            (
                "XeGPU's loads and stores have one base, but nothing tells from which pointer "
                "these pointers are counted; add offsets to a pointer"
            ),
        ),
    ],
)
def test_what_vectors_of_subgroups_cannot_say(parameters: str, body: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as raised:
        _made(parameters, body)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.span is not None
    assert diagnostic.message == message


@pytest.mark.parametrize(
    ("level", "hints"), [(0, "l1_hint l2_hint l3_hint"), (1, "l2_hint l3_hint")]
)
def test_prefetches_are_cached_from_their_level_on(level: int, hints: str) -> None:
    body = f"core.prefetch %x[%c0, %c16] block [16, 16] level {level} : memref<64x64xf16>"
    shown = ", ".join(f"{hint} = #xegpu.cache_hint<cached>" for hint in hints.split())
    line = f"xegpu.prefetch_nd %0[0, 16] <{{{shown}}}> : !xegpu.tensor_desc<16x16xf16>"
    assert line in text_of(_made("%x: memref<64x64xf16>", body))
