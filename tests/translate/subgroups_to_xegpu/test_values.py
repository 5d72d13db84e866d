"""Kernels compute as XeGPU of subgroups what they compute in their source, and so do their lanes.

A sample runs each time; `XTILE_WHOLE_CORPUS=1` in the environment takes all kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.seeds import fresh_generator
from tests.translate.cuda_tile_to_core.test_cutile_kernels import CASES as OF_CUTILE
from tests.translate.tiles_to_xegpu.ported import TAKES_ALL, as_xegpu, text_of
from tests.triton_kernels.corpus import CASES as OF_TRITON
from tests.triton_releases.judges import NEWEST, compiled
from xtile.text.diagnostics import DiagnosticError

EXAMPLES = Path(__file__).parents[3] / "examples"

NO_SWAP = "cannot be translated to XeGPU at level subgroup: XeGPU has no compare-and-swap"
NO_PRINT = "tt.print on a tile cannot be dealt out to subgroups"

REFUSED_OF_TRITON = {
    "checked": NO_PRINT,
    "layer_norm_backward": NO_SWAP,
    "matmul_fp8_e5m2": "loads and stores have one base, but nothing tells from which pointer",
    "maximum_by_cas": NO_SWAP,
    "spin_lock": NO_SWAP,
}
"""The kernels of Triton that XeGPU has no words for, with what is said."""

NO_SATURATION = "arith.truncf with core.saturate cannot be translated to XeGPU"

REFUSED_OF_CUTILE = {
    "layer_norm_backward": NO_SWAP,
    "quantize_e2m1": NO_SATURATION,
    "quantize_mxfp8": NO_SATURATION,
    "split_k_with_locks": NO_SWAP,
}
"""The same of those that cuTile exports."""

NOT_COMPILED = {"inline_assembly", "matmul_block_pointers"}
"""What Triton does not compile, or cannot be raised."""

SAMPLE_OF_TRITON = ("histogram_by_atomics", "matmul_f16", "pixel_shuffle", "spin_lock")
SAMPLE_OF_CUTILE = ("gather_scatter",)
LEVELS = ("subgroup", "lane")


def _chosen(cases: Mapping[str, Callable[[], object]], sample: tuple[str, ...]) -> list[str]:
    return [name for name in cases if name not in NOT_COMPILED] if TAKES_ALL else [*sample]


def _of_triton(name: str) -> ModuleOp:
    verdict = compiled(NEWEST, OF_TRITON[name]().source(), "gfx942", "ttir")
    assert verdict.accepted, verdict.said
    return xtile.parse(verdict.text, language="ttir")


UNCHECKED = {"matmul_fp8_e5m2"}
"""Kernels of which a launch would find that they are not what their accesses rely on."""


def _made(module: ModuleOp, level: str) -> ModuleOp:
    """XeGPU of subgroups, which LLVM reads, or the code of lanes that it is taken to."""
    made = as_xegpu(module, level="subgroup")
    judged = run_mlir_opt(text_of(made))
    assert judged.returncode == 0, judged.stderr
    return made if level == "subgroup" else xtile.translate(made, "lane", chip="pvc")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", _chosen(OF_TRITON, SAMPLE_OF_TRITON))
def test_kernels_of_triton(name: str, level: str) -> None:
    case, module = OF_TRITON[name](), _of_triton(name)
    if name in REFUSED_OF_TRITON:
        with pytest.raises(DiagnosticError, match=REFUSED_OF_TRITON[name]):
            as_xegpu(module, level="subgroup", may_wrap=name in UNCHECKED)
        return
    made = _made(module, level)
    arguments = case.copied_arguments()
    ones = {key for key, each in arguments.items() if type(each) is int and each == 1}
    given = [each for key, each in arguments.items() if key not in ones]
    xtile.run(made, given, case.grid)
    case.check(arguments)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", _chosen(OF_CUTILE, SAMPLE_OF_CUTILE))
def test_kernels_of_cutile(name: str, level: str, tmp_path: Path) -> None:
    case, file = OF_CUTILE[name](), tmp_path / "kernel.tileirbc"
    file.write_bytes(case.exported())
    module = xtile.parse(file)
    if name in REFUSED_OF_CUTILE:
        with pytest.raises(DiagnosticError, match=REFUSED_OF_CUTILE[name]):
            as_xegpu(module, level="subgroup")
        return
    made = _made(module, level)
    arguments = case.copied_arguments()
    xtile.run(made, arguments, case.grid)
    case.check(arguments)


def test_a_product_of_the_tensor_language() -> None:
    made = as_xegpu(xtile.parse(EXAMPLES / "matrix_unit.ir"), level="subgroup")
    text = text_of(made)
    assert "vector<8x16xf16>, vector<16x32xf16>, vector<8x32xf32> -> vector<8x32xf32>" in text
    generator = fresh_generator()
    a = np.asfortranarray(generator.standard_normal((32, 64)).astype(np.float16))
    b = np.asfortranarray(generator.standard_normal((64, 8)).astype(np.float16))
    c = np.full((32, 8), np.nan, np.float32, order="F")
    xtile.run(made, {"A": a, "B": b, "C": c})
    np.testing.assert_allclose(c, a.astype(np.float32) @ b, rtol=0, atol=1e-4)


ROWS = """
#rows = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 32]>
gpu.module @m {
  gpu.func @k(%x: memref<32x64xf32>, %y: memref<64x32xf32>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %in = xegpu.create_nd_tdesc %x : memref<32x64xf32> -> !xegpu.tensor_desc<32x64xf32, #rows>
    %out = xegpu.create_nd_tdesc %y : memref<64x32xf32>
        -> !xegpu.tensor_desc<64x32xf32, #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>>
    %v = xegpu.load_nd %in[0, 0] : !xegpu.tensor_desc<32x64xf32, #rows> -> vector<32x64xf32>
    %twice = arith.addf %v, %v : vector<32x64xf32>
    %t = vector.transpose %twice, [1, 0] : vector<32x64xf32> to vector<64x32xf32>
    xegpu.store_nd %t, %out[0, 0] : vector<64x32xf32>,
        !xegpu.tensor_desc<64x32xf32, #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("level", LEVELS)
def test_kernels_go_down_from_level_to_level(level: str) -> None:
    """What a work-group transposes, its subgroups exchange through a matrix in local memory."""
    module = xtile.parse(ROWS, language="mlir")
    made = xtile.translate(module, "xegpu", chip="pvc", xegpu_level="subgroup")
    text = text_of(made)
    assert "xegpu.store_matrix" in text
    assert "xegpu.load_matrix" in text
    assert "sg_layout" not in text
    assert "xegpu.load " not in text
    if level == "lane":
        made = xtile.translate(made, "xegpu", chip="pvc", xegpu_level="lane")
        assert "vector<16x32xf32>" not in text_of(made)
    judged = run_mlir_opt(text_of(made))
    assert judged.returncode == 0, judged.stderr
    x = fresh_generator().standard_normal((32, 64)).astype(np.float32)
    y = np.full((64, 32), np.nan, np.float32)
    xtile.run(made, [x, y])
    np.testing.assert_array_equal(y, 2 * x.T)
