"""Matrices of a subgroup that lie side by side are one, and so are their products."""

from __future__ import annotations

from random import Random

import ml_dtypes
import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator, fresh_seed
from tests.transforms.lift.grids import GridOfMatrices
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.lift import lift_kernels

_TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i8": np.int8}


def _accesses(text: str) -> dict[str, int]:
    names = ("vector.contract", "vector.transfer_read", "vector.transfer_write", "core.gather_load")
    return {name: text.count(f"{name} ") for name in names}


@pytest.mark.parametrize("has_flaw", [False, True], ids=["grid", "no grid"])
@pytest.mark.parametrize("repeat", range(12))
def test_random_grids(has_flaw: bool, repeat: int) -> None:
    """Whatever is joined, the numbers stay; a grid without a flaw is one matrix."""
    grid = GridOfMatrices(Random(f"{fresh_seed()} {repeat} {has_flaw}"), has_flaw)
    text, random = grid.text(), fresh_generator()
    rows, columns = (2 * size for size in grid.shape)
    depth = 64
    if grid.check:
        rows, columns, depth = rows - 3, columns - 5, depth - 7
    a, b = (
        np.asfortranarray(random.standard_normal(shape).astype(np.float16))
        for shape in ((rows, depth), (depth, columns))
    )
    given = a if grid.a_form == "n" else np.asfortranarray(a.T)
    c = np.asfortranarray(random.standard_normal((rows + 8, columns + 8)).astype(np.float32))
    d = np.full((rows + 8, columns + 8), np.nan, np.float32, order="F")
    tiles = xtile.translate(text, "tile")
    results: list[tuple[np.ndarray, np.ndarray]] = []
    for kernel in (text, tiles):
        own = c.copy(order="F"), d.copy(order="F")
        parts = [each[:rows, :columns] for each in own] if grid.flaw != "place" else own
        xtile.run(kernel, [given, b, *parts])
        results.append(own)
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=2e-3, err_msg=text)
    if not has_flaw:
        counts = _accesses(xtile.to_text(tiles, "mlir"))
        assert counts["vector.transfer_write"] == 1, text
        assert counts["vector.contract"] == grid.steps, text
        assert counts["core.gather_load"] == 0, text


_PRODUCT = """
func @k(%A: memref<{a}x128x64>{{alignment=128}}, %B: memref<{a}x64x64>{{alignment=128}},
        %C: memref<{c}x128x64>{{alignment=128}}) {{
    %one = constant {one} : {a}
    %beta = constant {beta} : {c}
    gemm.n.n %one, %A, %B, %beta, %C
}}
"""


@pytest.mark.slow
@pytest.mark.parametrize("beta", ["0", "1"])
@pytest.mark.parametrize(
    ("a", "c"), [("f16", "f32"), ("bf16", "f32"), ("f16", "f16"), ("bf16", "bf16")]
)
def test_ports_to_lanes(a: str, c: str, beta: str) -> None:
    """What lanes hold of a grid is one matrix again."""
    text = _PRODUCT.format(a=a, c=c, one="1.0", beta=f"{beta}.0")
    lanes = xtile.translate(text, "xegpu", chip="pvc")
    tiles = xtile.translate(lanes, "tile")
    assert xtile.to_text(lanes, "mlir").count("xegpu.dpas") == 8
    counts = _accesses(xtile.to_text(tiles, "mlir"))
    assert counts == {
        "vector.contract": 1,
        "vector.transfer_read": 2 + int(beta),
        "vector.transfer_write": 1,
        "core.gather_load": 0,
    }
    random = fresh_generator()
    x, y = (
        np.asfortranarray(random.standard_normal(shape).astype(_TYPES[a]))
        for shape in ((128, 64), (64, 64))
    )
    z = np.asfortranarray(random.standard_normal((128, 64)).astype(_TYPES[c]))
    expected = x.astype(np.float64) @ y.astype(np.float64) + int(beta) * z.astype(np.float64)
    xtile.run(tiles, [x, y, z])
    rounding = 2**-8 if c == "bf16" else 2**-10
    np.testing.assert_allclose(z.astype(np.float64), expected, rtol=2 * rounding, atol=2e-2)


_SHARED = """
gpu.module @m {
  gpu.func @k(%a: memref<16x16xf16>, %b: memref<16x32xf16>, %c: memref<16x32xf32>) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %ta = xegpu.create_nd_tdesc %a : memref<16x16xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<16x32xf16> -> !xegpu.tensor_desc<16x16xf16>
    %tc = xegpu.create_nd_tdesc %c : memref<16x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %a0 = xegpu.load_nd %ta[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    BETWEEN
    %a1 = xegpu.load_nd %ta[8, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8xf16>
    %b0 = xegpu.load_nd %tb[0, 0] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    %b1 = xegpu.load_nd %tb[0, 16] <{packed}> : !xegpu.tensor_desc<16x16xf16> -> vector<16xf16>
    %d0 = xegpu.dpas %a0, %b0 : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    %d1 = xegpu.dpas %a0, %b1 : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    %d2 = xegpu.dpas %a1, %b0 : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    %d3 = xegpu.dpas %a1, %b1 : vector<8xf16>, vector<16xf16> -> vector<8xf32>
    xegpu.store_nd %d0, %tc[0, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %d1, %tc[0, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %d2, %tc[8, 0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    xegpu.store_nd %d3, %tc[8, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize(
    ("between", "products"),
    [
        ("", 1),
        ("%x = arith.constant 0 : index", 1),
        ("xegpu.store_nd %a0, %ta[8, 0] : vector<8xf16>, !xegpu.tensor_desc<8x16xf16>", 4),
    ],
    ids=["nothing", "a constant", "a write of what is read afterwards"],
)
def test_reads_do_not_pass_writes(between: str, products: int) -> None:
    text = _SHARED.replace("BETWEEN", between)
    tiles = xtile.translate(text, "tile")
    assert _accesses(xtile.to_text(tiles, "mlir"))["vector.contract"] == products
    random = fresh_generator()
    a, b = (random.standard_normal(shape).astype(np.float16) for shape in ((16, 16), (16, 32)))
    results: list[np.ndarray] = []
    for kernel in (text, tiles):
        c = np.full((16, 32), np.nan, np.float32)
        xtile.run(kernel, [a.copy(), b, c])
        results.append(c)
    np.testing.assert_allclose(results[1], results[0], rtol=0, atol=1e-4)


def test_remark() -> None:
    """The place where several matrices are written as one is told."""
    told = Diagnostics()
    lift_kernels(xtile.parse(_SHARED.replace("BETWEEN", "")), told)
    said = [each.message for each in told]
    assert "matrices side by side are computed and written as one" in said
