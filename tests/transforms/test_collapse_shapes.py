"""Tiles are computed in the shape that memory and products have, with the same values."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.transforms.collapse_shapes import collapse_shapes

_HEAD = """
gpu.module @kernels {
  gpu.func @k(%x: memref<64x32xf32>, %y: memref<64x32xf32>, %s: f32, %n: index) kernel
      attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %flat = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]}
        : memref<64x32xf32>, vector<64x32xf32>
    %a = vector.shape_cast %flat : vector<64x32xf32> to vector<4x16x32xf32>
"""

_TAIL = """
    %done = vector.shape_cast %r : vector<4x16x32xf32> to vector<64x32xf32>
    vector.transfer_write %done, %y[%c0, %c0] {in_bounds = [true, true]}
        : vector<64x32xf32>, memref<64x32xf32>
    gpu.return
  }
}
"""

_REDUCED = """
    %first = arith.constant dense<1.5> : vector<4x16xf32>
    %sums = vector.multi_reduction <add>, %a, %first [2]
        : vector<4x16x32xf32> to vector<4x16xf32>
    %column = vector.shape_cast %sums : vector<4x16xf32> to vector<4x16x1xf32>
    %e = math.absf %column : vector<4x16x1xf32>
    %thin = vector.shape_cast %e : vector<4x16x1xf32> to vector<64x1xf32>
    %wide = vector.broadcast %thin : vector<64x1xf32> to vector<64x32xf32>
    %sum = vector.shape_cast %wide : vector<64x32xf32> to vector<4x16x32xf32>
    %r = arith.addf %a, %sum : vector<4x16x32xf32>"""

COLLAPSED = {
    "numbers": """
    %half = arith.constant dense<0.5> : vector<4x16x32xf32>
    %scale = vector.broadcast %s : f32 to vector<4x16x32xf32>
    %p = arith.mulf %a, %scale : vector<4x16x32xf32>
    %r = arith.addf %p, %half : vector<4x16x32xf32>""",
    "a row": """
    %i = vector.step : vector<32xindex>
    %i32 = arith.index_cast %i : vector<32xindex> to vector<32xi32>
    %f = arith.sitofp %i32 : vector<32xi32> to vector<32xf32>
    %all = vector.broadcast %f : vector<32xf32> to vector<4x16x32xf32>
    %r = arith.mulf %a, %all : vector<4x16x32xf32>""",
    "a loop": """
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%b = %a) -> (vector<4x16x32xf32>) {
      %next = arith.addf %b, %a : vector<4x16x32xf32>
      scf.yield %next : vector<4x16x32xf32>
    }""",
    "a branch": """
    %is_small = arith.cmpi slt, %n, %c3 : index
    %r = scf.if %is_small -> (vector<4x16x32xf32>) {
      %c = math.absf %a : vector<4x16x32xf32>
      scf.yield %c : vector<4x16x32xf32>
    } else {
      scf.yield %a : vector<4x16x32xf32>
    }""",
    "a branch with one side": """
    %is_small = arith.cmpi slt, %n, %c3 : index
    scf.if %is_small {
      memref.store %s, %x[%c0, %c1] : memref<64x32xf32>
    }
    %r = arith.addf %a, %a : vector<4x16x32xf32>""",
    "a selection": """
    %is_less = arith.cmpf olt, %a, %a : vector<4x16x32xf32>
    %twice = arith.addf %a, %a : vector<4x16x32xf32>
    %r = arith.select %is_less, %a, %twice : vector<4x16x32xi1>, vector<4x16x32xf32>""",
    "two transpositions": """
    %t = vector.transpose %a, [1, 0, 2] : vector<4x16x32xf32> to vector<16x4x32xf32>
    %r = vector.transpose %t, [1, 0, 2] : vector<16x4x32xf32> to vector<4x16x32xf32>""",
    "a reduction": _REDUCED,
}

SOME_LEFT = {
    "a part of the merged dimensions is the same": """
    %i = vector.step : vector<16xindex>
    %i32 = arith.index_cast %i : vector<16xindex> to vector<16xi32>
    %f = arith.sitofp %i32 : vector<16xi32> to vector<16xf32>
    %thin = vector.shape_cast %f : vector<16xf32> to vector<16x1xf32>
    %all = vector.broadcast %thin : vector<16x1xf32> to vector<4x16x32xf32>
    %r = arith.mulf %a, %all : vector<4x16x32xf32>""",
    "a part of the merged dimensions is reduced": """
    %first = arith.constant dense<0.0> : vector<16x32xf32>
    %e = math.absf %a : vector<4x16x32xf32>
    %sums = vector.multi_reduction <add>, %e, %first [0]
        : vector<4x16x32xf32> to vector<16x32xf32>
    %all = vector.broadcast %sums : vector<16x32xf32> to vector<4x16x32xf32>
    %r = arith.subf %e, %all : vector<4x16x32xf32>""",
    "a transposition": """
    %e = math.absf %a : vector<4x16x32xf32>
    %t = vector.transpose %e, [0, 2, 1] : vector<4x16x32xf32> to vector<4x32x16xf32>
    %u = arith.addf %t, %t : vector<4x32x16xf32>
    %r = vector.transpose %u, [0, 2, 1] : vector<4x32x16xf32> to vector<4x16x32xf32>""",
    "a loop that may run never": """
    %r = scf.while (%b = %a) : (vector<4x16x32xf32>) -> vector<4x16x32xf32> {
      %total = vector.extract %b[0, 0, 0] : f32 from vector<4x16x32xf32>
      %goes_on = arith.cmpf ogt, %total, %s : f32
      scf.condition(%goes_on) %b : vector<4x16x32xf32>
    } do {
    ^bb0(%b: vector<4x16x32xf32>):
      %one = arith.constant dense<1.0> : vector<4x16x32xf32>
      %next = arith.subf %b, %one : vector<4x16x32xf32>
      scf.yield %next : vector<4x16x32xf32>
    }""",
    "a loop that hands on what it was given": """
    %r, %last = scf.while (%b = %a) : (vector<4x16x32xf32>)
        -> (vector<4x16x32xf32>, vector<4x16x32xf32>) {
      %total = vector.extract %b[0, 0, 0] : f32 from vector<4x16x32xf32>
      %goes_on = arith.cmpf ogt, %total, %s : f32
      %c:2 = scf.if %goes_on -> (vector<4x16x32xf32>, vector<4x16x32xf32>) {
        %one = arith.constant dense<1.0> : vector<4x16x32xf32>
        %next = arith.subf %b, %one : vector<4x16x32xf32>
        scf.yield %next, %a : vector<4x16x32xf32>, vector<4x16x32xf32>
      } else {
        scf.yield %a, %b : vector<4x16x32xf32>, vector<4x16x32xf32>
      }
      scf.condition(%goes_on) %c#0, %c#1 : vector<4x16x32xf32>, vector<4x16x32xf32>
    } do {
    ^bb0(%b: vector<4x16x32xf32>, %unused: vector<4x16x32xf32>):
      scf.yield %b : vector<4x16x32xf32>
    }""",
}


def results(body: str, collapse: bool) -> list[np.ndarray]:
    module = xtile.parse(_HEAD + body + _TAIL, language="mlir")
    if collapse:
        module = collapse_shapes(module)
    found: list[np.ndarray] = []
    for n in (0, 5):
        y = np.full((64, 32), np.nan, np.float32)
        xtile.run(module, (X.copy(), y, 0.25, n), 1)
        found.append(y)
    return found


X = fresh_generator().standard_normal((64, 32), np.float32)


@pytest.mark.parametrize("name", [*COLLAPSED, *SOME_LEFT])
def test_values(name: str) -> None:
    body = {**COLLAPSED, **SOME_LEFT}[name]
    for before, after in zip(results(body, False), results(body, True), strict=True):
        assert not np.isnan(after).any()
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize("name", COLLAPSED)
def test_nothing_has_more_dimensions(name: str) -> None:
    module = xtile.parse(_HEAD + COLLAPSED[name] + _TAIL, language="mlir")
    text = xtile.to_text(collapse_shapes(module), "mlir")
    assert "4x16" not in text
    assert "16x4" not in text


def test_a_reduction_is_one_of_the_merged_dimension() -> None:
    module = xtile.parse(_HEAD + _REDUCED + _TAIL, language="mlir")
    text = xtile.to_text(collapse_shapes(module), "mlir")
    assert "<add>, %flat, %0 [1] : vector<64x32xf32> to vector<64xf32>" in text
    assert "dense<1.500000e+00> : vector<64xf32>" in text
    assert text.count("shape_cast") == 1


def test_kernels_of_other_levels_stay() -> None:
    body = _HEAD + "%r = math.absf %a : vector<4x16x32xf32>" + _TAIL
    module = xtile.parse(body.replace('"tile"', '"subgroup"'), language="mlir")
    assert collapse_shapes(module) is module


def test_kernels_without_merged_dimensions_stay() -> None:
    casts = """
    %a = vector.shape_cast %flat : vector<64x32xf32> to vector<64x1x32xf32>
    %r = math.absf %a : vector<64x1x32xf32>
    %done = vector.shape_cast %r : vector<64x1x32xf32> to vector<64x32xf32>
    """
    tail = _TAIL[_TAIL.index("vector.transfer_write") :]
    module = xtile.parse(_HEAD[: _HEAD.index("%a =")] + casts + tail, language="mlir")
    assert collapse_shapes(module) is module
