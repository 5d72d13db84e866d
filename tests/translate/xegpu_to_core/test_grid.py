"""Kernels of work-groups keep how many subgroups share their matrices."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.transforms.distribute.kernels import read
from xtile.dialects.core.attributes import subgroup_grid_of
from xtile.dialects.gpu.functions import FuncOp
from xtile.targets.compilers import XTILE
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.route import Options, translate_to

PRODUCT = """
#a = #xegpu.layout<sg_layout = [{r}, {c}], sg_data = [{m}, 32]>
#b = #xegpu.layout<sg_layout = [{r}, {c}], sg_data = [32, {n}]>
#c = #xegpu.layout<sg_layout = [{r}, {c}], sg_data = [{m}, {n}]>
gpu.module @kernels {{
  gpu.func @product(%A: memref<64x32xf16>, %B: memref<32x64xf16>, %C: memref<64x64xf32>) kernel {{
    %c0 = arith.constant 0 : index
    %a = xegpu.create_nd_tdesc %A : memref<64x32xf16> -> !xegpu.tensor_desc<64x32xf16, #a>
    %b = xegpu.create_nd_tdesc %B : memref<32x64xf16> -> !xegpu.tensor_desc<32x64xf16, #b>
    %c = xegpu.create_nd_tdesc %C : memref<64x64xf32> -> !xegpu.tensor_desc<64x64xf32, #c>
    %x = xegpu.load_nd %a[0, 0] : !xegpu.tensor_desc<64x32xf16, #a> -> vector<64x32xf16>
    %y = xegpu.load_nd %b[0, 0] : !xegpu.tensor_desc<32x64xf16, #b> -> vector<32x64xf16>
    %p = xegpu.dpas %x, %y {{layout_a = #a, layout_b = #b, layout_cd = #c}}
        : vector<64x32xf16>, vector<32x64xf16> -> vector<64x64xf32>
    xegpu.store_nd %p, %c[0, 0] : vector<64x64xf32>, !xegpu.tensor_desc<64x64xf32, #c>
    gpu.return
  }}
}}
"""


def kernel(rows: int, columns: int) -> str:
    return PRODUCT.format(r=rows, c=columns, m=64 // rows, n=64 // columns)


def function_of(module: ModuleOp) -> FuncOp:
    (function,) = (each for each in module.walk() if isinstance(each, FuncOp))
    return function


@pytest.mark.parametrize("grid", [(4, 1), (2, 2), (2, 4), (8, 4)])
def test_a_grid_is_kept(grid: tuple[int, int]) -> None:
    """Each subgroup has the part of the sums that the layout says, at every level."""
    module = xtile.parse(kernel(*grid), language="mlir")
    options = Options("pvc", compiler=XTILE)
    assert subgroup_grid_of(function_of(translate_to(module, "tile", options))) == grid
    made = translate_to(module, "subgroup", options)
    function = function_of(made)
    assert subgroup_grid_of(function) is None
    assert function.known_block_size is not None
    assert function.known_block_size.get_values() == (16 * grid[0] * grid[1], 1, 1)
    assert f"vector<{64 // grid[0]}x{64 // grid[1]}xf32>" in xtile.to_text(made, "mlir")
    again = xtile.to_text(translate_to(translate_to(module, "tile", options), "xegpu"), "mlir")
    assert (
        f"sg_layout = [{grid[0]}, {grid[1]}], sg_data = [{64 // grid[0]}, {64 // grid[1]}]" in again
    )
    a, b = (fresh_generator().standard_normal(s).astype(np.float16) for s in ((64, 32), (32, 64)))
    out = np.full((64, 64), np.nan, np.float32)
    xtile.run(made, (a, b, out), 1)
    np.testing.assert_allclose(out, a.astype(np.float64) @ b.astype(np.float64), atol=1e-4)


@pytest.mark.parametrize(
    ("grid", "chip", "lanes"), [((16, 8), "pvc", 16), ((1, 1), "pvc", 16), ((4, 2), "dg2", 8)]
)
def test_what_a_chip_does_not_have_is_not_kept(
    grid: tuple[int, int], chip: str, lanes: int
) -> None:
    """A work-group of `pvc` has 64 subgroups, of 1024 elements at most; `dg2` has 256 each."""
    module = xtile.parse(kernel(*grid), language="mlir")
    made = translate_to(module, "subgroup", Options(chip, compiler=XTILE))
    sizes = function_of(made).known_block_size
    assert sizes is not None
    assert sizes.get_values()[0] not in (0, grid[0] * grid[1] * lanes)
    assert sizes.get_values()[0] <= 1024


@pytest.mark.parametrize("grid", ["array<i64: 3, 2>", "array<i64: 4>", "array<i64: 0, 1>", '"two"'])
def test_what_is_no_grid(grid: str) -> None:
    text = f"""
    gpu.module @kernels {{
      gpu.func @k() kernel attributes {{core.level = "tile", core.subgroup_grid = {grid}}} {{
        gpu.return
      }}
    }}
    """
    with pytest.raises(DiagnosticError, match="subgroup_grid must be two powers of two"):
        read(text)
