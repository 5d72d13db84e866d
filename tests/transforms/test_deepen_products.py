"""Loops over products of little depth, several iterations of which become one."""

from __future__ import annotations

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.targets import find_target
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.deepen_products import deepen_products

SM_90 = find_target("sm_90")

KERNEL = """
gpu.module @kernels {{
  gpu.func @k(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<64x64xf32>, %first: index,
      %last: index) kernel attributes {{core.level = "tile"}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c5 = arith.constant 5 : index
    %step = arith.constant {step} : index
    %depth = memref.dim %b, %c0 : memref<?x?xf16>
    %zero = arith.constant {padding} : f16
    %nothing = arith.constant dense<0.0> : vector<8x8x64xf32>
    %sum = scf.for %k = {first} to {last} step %step iter_args(%s = %nothing)
        -> (vector<8x8x64xf32>) {{
      %next = arith.addi %k, %c5 : index
      %x = vector.transfer_read %a[%c1, {index}], %zero {{in_bounds = {of_a}}}
          : memref<?x?xf16>, vector<64x16xf16>
      %y = vector.transfer_read %b[%k, %c0], %zero {{in_bounds = {of_b}}}
          : memref<?x?xf16>, vector<16x64xf16>
      %parts = vector.shape_cast %x : vector<64x16xf16> to vector<8x8x16xf16>
      %whole = vector.shape_cast %parts : vector<8x8x16xf16> to vector<64x16xf16>
      %before = vector.shape_cast %s : vector<8x8x64xf32> to vector<64x64xf32>
      %product = vector.contract {{
          indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
              affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}
          %whole, %y, %before : vector<64x16xf16>, vector<16x64xf16> into vector<64x64xf32>
      %after = vector.shape_cast %product : vector<64x64xf32> to vector<8x8x64xf32>
      {more}
      scf.yield %after : vector<8x8x64xf32>
    }}
    %r = vector.shape_cast %sum : vector<8x8x64xf32> to vector<64x64xf32>
    vector.transfer_write %r, %c[%c0, %c0] {{in_bounds = [true, true]}}
        : vector<64x64xf32>, memref<64x64xf32>
    gpu.return
  }}
}}
"""

AS_USUAL = {
    "step": "16",
    "padding": "0.0",
    "first": "%c0",
    "last": "%depth",
    "index": "%k",
    "of_a": "[false, false]",
    "of_b": "[false, true]",
    "more": "",
}

FORMS = {
    "the depth is a size": {},
    "numbers of arguments": {"first": "%first", "last": "%last"},
    "the columns move on": {"index": "%next"},
    "all is inside": {"last": "%last", "of_a": "[true, true]", "of_b": "[true, true]"},
}


def reference(a: np.ndarray, b: np.ndarray, first: int, last: int, moved: int) -> np.ndarray:
    """What the source computes: whole steps of 16 from `first` on, with zeros outside."""
    end = first + -(-(last - first) // 16) * 16 if last > first else first
    left, right = np.zeros((64, end - first)), np.zeros((end - first, 64))
    rows = a[1:65, first + moved : end + moved]
    left[: rows.shape[0], : rows.shape[1]] = rows
    inner = b[first:end]
    right[: inner.shape[0]] = inner
    return left @ right


@pytest.mark.parametrize("depth", [0, 1, 40, 64, 111])
@pytest.mark.parametrize("form", FORMS)
def test_values(form: str, depth: int) -> None:
    """Memory behind the last step of the source has numbers, which must not count."""
    text = KERNEL.format(**{**AS_USUAL, **FORMS[form]})
    module = xtile.parse(text, language="mlir")
    deeper = deepen_products(module, SM_90)
    assert deeper is not module
    random = fresh_generator()
    is_inside = form == "all is inside"
    first = 24 if "%first" in text.partition("scf.for")[2] else 0
    rows = 160 if is_inside or first else depth
    a = random.standard_normal((80, 120 + 80 * is_inside), np.float32).astype(np.float16)
    b = random.standard_normal((rows, 64), np.float32).astype(np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    xtile.run(deeper, (a, b, c, first, depth), 1)
    moved = 5 if form == "the columns move on" else 0
    expected = reference(a.astype(float), b.astype(float), first, depth, moved)
    np.testing.assert_allclose(c, expected, rtol=0, atol=1e-4)


def test_text() -> None:
    """Four steps are one, sums are carried as products, and only A ends with the loop."""
    diagnostics = Diagnostics()
    module = xtile.parse(KERNEL.format(**AS_USUAL), language="mlir")
    text = xtile.to_text(deepen_products(module, SM_90, diagnostics), "mlir")
    assert [each.message for each in diagnostics] == ["4 steps of 16 are one of 64"]
    loop = text[text.index("scf.for") :]
    assert "-> (vector<64x64xf32>)" in loop
    assert "vector<64x64xf16>, vector<64x64xf16> into vector<64x64xf32>" in loop
    assert text.count("memref.subview") == 1


OTHERS = {
    "a step that skips": {"step": "32"},
    "a padding": {"padding": "1.0"},
    "other operations": {
        "more": "memref.store %zero, %b[%c0, %c0] : memref<?x?xf16>",
    },
    "deep enough": {"last": "%c5"},
}


@pytest.mark.parametrize("form", OTHERS)
def test_what_stays(form: str) -> None:
    module = xtile.parse(KERNEL.format(**{**AS_USUAL, **OTHERS[form]}), language="mlir")
    assert deepen_products(module, SM_90) is module


def test_authors_of_tiles_choose() -> None:
    parameters = ", ".join(
        f'{{becomes = ["{kind}"], name = "p{number}", type = "any"}}'
        for number, kind in enumerate(["memref 0 1", "memref 0 1", "memref 0 1", "value", "value"])
    )
    signature = f'core.signature = {{language = "triton", parameters = [{parameters}]}}'
    text = KERNEL.format(**AS_USUAL).replace('"tile"', f'"tile", {signature}')
    module = xtile.parse(text, language="mlir")
    assert deepen_products(module, SM_90) is module
