"""What the sanitizer sees of XeGPU's operations."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.upstream.kernels import argument_of, function_of, kernel
from tests.semantics.xegpu.kernels import LANES
from xtile.semantics.sanitizer.report import Kind
from xtile.semantics.sanitizer.sanitizer import sanitize

BLOCK = "!xegpu.tensor_desc<8x16xf32>"

START = f"""%id = gpu.subgroup_id : index
  %c8 = arith.constant 8 : index
  %i = arith.muli %id, %c8 : index
  %t = xegpu.create_nd_tdesc %a : memref<16x16xf32> -> {BLOCK}
  %v = arith.constant dense<1.0> : vector<{{vector}}xf32>
  """


def reports(body: str, vector: str) -> list[Kind]:
    """What is wrong with a kernel of two subgroups."""
    text = kernel("%a: memref<16x16xf32>", START.format(vector=vector) + body)
    memory = argument_of(np.zeros((16, 16), np.float32))
    found = sanitize(function_of(text), [memory], (1, 1, 1), block=(2 * LANES, 1, 1))
    return [report.kind for report in found]


@pytest.mark.parametrize("vector", ["8x16", "8"])
def test_blocks_of_subgroups_do_not_conflict(vector: str) -> None:
    body = f"xegpu.store_nd %v, %t[%i, 0] : vector<{vector}xf32>, {BLOCK}"
    assert reports(body, vector) == []


@pytest.mark.parametrize("vector", ["8x16", "8"])
def test_blocks_of_subgroups_conflict(vector: str) -> None:
    body = f"""%w = xegpu.load_nd %t[0, 0] : {BLOCK} -> vector<{vector}xf32>
      %x = arith.addf %v, %w : vector<{vector}xf32>
      xegpu.store_nd %x, %t[%i, 0] : vector<{vector}xf32>, {BLOCK}"""
    assert reports(body, vector) == [Kind.CONFLICT]


def test_blocks_outside_of_the_region_are_no_accesses() -> None:
    body = f"xegpu.store_nd %v, %t[-3, 9] : vector<8x16xf32>, {BLOCK}"
    assert Kind.OUT_OF_BOUNDS not in reports(body, "8x16")


def test_a_part_of_a_subgroup_loads_a_block() -> None:
    body = f"""%x = gpu.lane_id
      %k = arith.cmpi ult, %x, %c8 : index
      scf.if %k {{
        %w = xegpu.load_nd %t[%i, 0] : {BLOCK} -> vector<8xf32>
      }}"""
    assert reports(body, "8") == [Kind.NOT_UNIFORM]


def test_offsets_differ_in_a_subgroup() -> None:
    body = f"""%x = gpu.lane_id
      %w = xegpu.load_nd %t[%x, 0] : {BLOCK} -> vector<8xf32>"""
    assert reports(body, "8") == [Kind.NOT_UNIFORM]


@pytest.mark.parametrize(("stored", "found"), [("%half", []), ("%all", [Kind.UNSPECIFIED])])
def test_points_that_load_several_elements_leave_those_of_others_unspecified(
    stored: str, found: list[Kind]
) -> None:
    mask = ", ".join(["true"] * 8 + ["false"] * 8)
    points = ", ".join(str(2 * i) for i in range(16))
    body = f"""%half = arith.constant dense<[{mask}]> : vector<16xi1>
      %all = arith.constant dense<true> : vector<16xi1>
      %points = arith.constant dense<[{points}]> : vector<16xindex>
      %p = memref.extract_aligned_pointer_as_index %a : memref<16x16xf32> -> index
      %b = arith.index_cast %p : index to i64
      %two = xegpu.load %b[%points], %half <{{chunk_size = 2 : i64}}>
          : i64, vector<16xindex>, vector<16xi1> -> vector<16x2xf32>
      %c1 = arith.constant 1 : index
      %is_first = arith.cmpi ult, %id, %c1 : index
      scf.if %is_first {{
        xegpu.store %two, %b[%points], {stored} <{{chunk_size = 2 : i64}}>
            : vector<16x2xf32>, i64, vector<16xindex>, vector<16xi1>
      }}"""
    text = kernel("%a: memref<16x16xf32>", START.format(vector="8x16") + body)
    memory = argument_of(np.zeros((16, 16), np.float32))
    reported = sanitize(function_of(text), [memory], (1, 1, 1), block=(LANES, 1, 1))
    assert [report.kind for report in reported] == found
