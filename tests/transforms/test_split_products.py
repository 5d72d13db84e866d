"""Products of f32 become products of tf32 parts, with errors as small and the same exceptions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.text.diagnostics import Diagnostics
from xtile.transforms.split_products import split_products

_HEAD = """
gpu.module @kernels {
  gpu.func @k(%a: memref<16x?xf32>, %b: memref<?x8xf32>, %c: memref<16x8xf32>, %n: index) kernel
      attributes {core.level = "tile"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %first = arith.constant dense<0.0> : vector<16x8xf32>
    %end = arith.muli %n, %c32 : index
"""

_STEP = """
      %x = vector.transfer_read %a[%c0, %k], %zero {in_bounds = [true, false]}
          : memref<16x?xf32>, vector<16x32xf32>
      %y = vector.transfer_read %b[%k, %c0], %zero {in_bounds = [false, true]}
          : memref<?x8xf32>, vector<32x8xf32>
      %next = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
          affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
          %x, %y, %sum : vector<16x32xf32>, vector<32x8xf32> into vector<16x8xf32>
"""

_TAIL = """
    vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]}
        : vector<16x8xf32>, memref<16x8xf32>
    gpu.return
  }
}
"""


def loop(step: str = _STEP, end: str = "%end", handed: str = "%next", more: str = "") -> str:
    return f"""{_HEAD}{more}
    %r = scf.for %k = %c0 to {end} step %c32 iter_args(%sum = %first) -> (vector<16x8xf32>) {{
      {step}
      scf.yield {handed} : vector<16x8xf32>
    }}{_TAIL}"""


def split(text: str) -> ModuleOp:
    return split_products(xtile.parse(text, language="mlir"))


def in_steps(step: int) -> str:
    """The loop in steps of another depth."""
    text = loop().replace("constant 32 : index", f"constant {step} : index")
    return text.replace("<16x32x", f"<16x{step}x").replace("<32x8x", f"<{step}x8x")


def run(module: ModuleOp, a: np.ndarray, b: np.ndarray, step: int = 32) -> np.ndarray:
    c = np.full((16, 8), np.nan, np.float32)
    xtile.run(module, (a, b, c, a.shape[1] // step), 1)
    return c


def both(a: np.ndarray, b: np.ndarray, step: int = 32) -> tuple[np.ndarray, np.ndarray]:
    """The product of parts, and in f32."""
    text = in_steps(step)
    return run(split(text), a, b, step), run(xtile.parse(text, language="mlir"), a, b, step)


def factors(depth: int) -> tuple[np.ndarray, np.ndarray]:
    generator = fresh_generator()
    a = generator.standard_normal((16, depth), np.float32)
    return a, generator.standard_normal((depth, 8), np.float32)


def error(result: np.ndarray, a: np.ndarray, b: np.ndarray) -> float:
    """The largest error against f64, relative to the sum of absolute values."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    return float(np.max(np.abs(result - wide_a @ wide_b) / (np.abs(wide_a) @ np.abs(wide_b))))


@pytest.mark.parametrize(("depth", "step"), [(64, 16), (256, 32), (1024, 32)])
@pytest.mark.parametrize(
    ("scale_a", "scale_b"),
    [(1, 1), (1e-38, 1e30), (1e30, 1e-40), (1e-18, 1e-18), (2.0**60, 2.0**50)],
)
def test_errors_are_those_of_multiply_adds(
    depth: int, step: int, scale_a: float, scale_b: float
) -> None:
    a, b = factors(depth)
    a, b = (a * np.float32(scale_a)), (b * np.float32(scale_b))
    ours, exact = both(a, b, step)
    assert error(ours, a, b) <= 2 * max(error(exact, a, b), 2.0**-24)


def test_one_large_term_is_as_exact_as_its_parts() -> None:
    a, b = factors(256)
    a[3, 100] = b[100, 5] = 1e9
    ours, _ = both(a, b)
    assert error(ours, a, b) <= 2.0**-21


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3.4e38, -(2.0**127)])
def test_exceptions_are_those_of_f32(value: float) -> None:
    a, b = factors(256)
    a[3, 100] = value
    ours, exact = both(a, b)
    np.testing.assert_array_equal(ours, exact)


@pytest.mark.parametrize(("depth", "step"), [(48, 16), (224, 32)])
def test_sums_of_few_terms_are_those_of_f32(depth: int, step: int) -> None:
    a, b = factors(depth)
    ours, exact = both(a, b, step)
    np.testing.assert_array_equal(ours, exact)


def test_what_it_becomes() -> None:
    text = xtile.to_text(split(loop()), "mlir")
    assert text.count("vector<16x32xtf32>, vector<32x8xtf32> into vector<16x8xf32>") == 3
    assert text.count("vector<16x32xf32>, vector<32x8xf32> into vector<16x8xf32>") == 1
    assert text.count("arith.truncf") == 4
    assert text.count("scf.for") == 2
    assert "vector.multi_reduction <maximumf>" in text
    assert "arith.cmpf uge" in text


_KEPT = {
    "few terms": loop(end="%few", more="%few = arith.constant 224 : index"),
    "sums that are used in the loop": loop(
        step=f"{_STEP} %twice = arith.addf %next, %next : vector<16x8xf32>", handed="%twice"
    ),
    "a store in the loop": loop(step=f"{_STEP} memref.store %zero, %a[%c0, %k] : memref<16x?xf32>"),
    "factors of f16": loop()
    .replace("16x?xf32", "16x?xf16")
    .replace("?x8xf32", "?x8xf16")
    .replace("vector<16x32xf32>", "vector<16x32xf16>")
    .replace("vector<32x8xf32>", "vector<32x8xf16>")
    .replace("0.0 : f32", "0.0 : f16"),
    "another level": loop().replace('"tile"', '"subgroup"'),
}


@pytest.mark.parametrize("name", _KEPT)
def test_what_stays(name: str) -> None:
    module = xtile.parse(_KEPT[name], language="mlir")
    assert split_products(module) is module


GEMM = Path(__file__).parents[2] / "examples" / "gemm.ir"


@pytest.mark.parametrize(
    ("chip", "exact", "products"), [("sm_90", False, 4), ("sm_90", True, 1), ("sm_100", False, 1)]
)
def test_where_it_is_done(chip: str, exact: bool, products: int) -> None:
    text = xtile.to_text(xtile.translate(GEMM, "cuda_tile", chip=chip, exact=exact), "mlir")
    assert text.count(" = mmaf ") == products


def test_triton_gets_products_of_f32() -> None:
    text = xtile.to_text(xtile.translate(GEMM, "triton", chip="sm_90"), "mlir")
    assert text.count("tt.dot") == 1
    assert "tf32" not in text


def test_a_remark_tells() -> None:
    diagnostics = Diagnostics()
    xtile.translate(GEMM, "cuda_tile", chip="sm_90", diagnostics=diagnostics)
    assert any("is three products of tf32 parts" in each.message for each in diagnostics)
