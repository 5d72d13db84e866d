"""Kernels compute as XeGPU what they compute in their source, and so they do on the way back.

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

NO_SWAP = "cannot be translated to XeGPU at level work-group: XeGPU has no compare-and-swap"
NO_PRINT = "cannot be translated to XeGPU at level work-group: XeGPU has no printing"
NO_SATURATION = "arith.truncf with core.saturate cannot be translated to XeGPU"

REFUSED_OF_TRITON = {
    "checked": NO_PRINT,
    "layer_norm_backward": NO_SWAP,
    "maximum_by_cas": NO_SWAP,
    "spin_lock": NO_SWAP,
}
"""The kernels of Triton that XeGPU has no words for, with what is said."""

REFUSED_OF_CUTILE = {
    "layer_norm_backward": NO_SWAP,
    "quantize_e2m1": NO_SATURATION,
    "quantize_mxfp8": NO_SATURATION,
    "split_k_with_locks": NO_SWAP,
}
"""The same of those that cuTile exports."""

NOT_COMPILED = {"inline_assembly", "matmul_block_pointers"}
"""What Triton does not compile, or cannot be raised."""

SAMPLE_OF_TRITON = ("histogram_by_atomics", "matmul_f16", "prefix_sums", "softmax")
SAMPLE_OF_CUTILE = ("attention", "extremes", "gather_scatter", "split_k_matmul")


def _chosen(cases: Mapping[str, Callable[[], object]], sample: tuple[str, ...]) -> list[str]:
    return [name for name in cases if name not in NOT_COMPILED] if TAKES_ALL else [*sample]


def _of_triton(name: str) -> ModuleOp:
    verdict = compiled(NEWEST, OF_TRITON[name]().source(), "gfx942", "ttir")
    assert verdict.accepted, verdict.said
    return xtile.parse(verdict.text, language="ttir")


def _check_text(module: ModuleOp) -> None:
    """LLVM's own reader and verifier take it."""
    judged = run_mlir_opt(text_of(module))
    assert judged.returncode == 0, judged.stderr


@pytest.mark.parametrize("device", ["reference", "opencl"])
@pytest.mark.parametrize("name", _chosen(OF_TRITON, SAMPLE_OF_TRITON))
def test_kernels_of_triton(name: str, device: str) -> None:
    case, module = OF_TRITON[name](), _of_triton(name)
    if name in REFUSED_OF_TRITON:
        with pytest.raises(DiagnosticError, match=REFUSED_OF_TRITON[name]):
            as_xegpu(module)
        return
    made = as_xegpu(module)
    _check_text(made)
    arguments = case.copied_arguments()
    ones = {key for key, each in arguments.items() if type(each) is int and each == 1}
    given = [each for key, each in arguments.items() if key not in ones]
    xtile.run(made, given, case.grid, device=device)
    case.check(arguments)


@pytest.mark.parametrize("device", ["reference", "opencl"])
@pytest.mark.parametrize("name", _chosen(OF_CUTILE, SAMPLE_OF_CUTILE))
def test_kernels_of_cutile(name: str, device: str, tmp_path: Path) -> None:
    case, file = OF_CUTILE[name](), tmp_path / "kernel.tileirbc"
    file.write_bytes(case.exported())
    module = xtile.parse(file)
    if name in REFUSED_OF_CUTILE:
        with pytest.raises(DiagnosticError, match=REFUSED_OF_CUTILE[name]):
            as_xegpu(module)
        return
    made = as_xegpu(module)
    _check_text(made)
    arguments = case.copied_arguments()
    xtile.run(made, arguments, case.grid, device=device)
    case.check(arguments)


@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_a_product_of_the_tensor_language(device: str) -> None:
    made = as_xegpu(xtile.parse(EXAMPLES / "matrix_unit.ir"))
    assert "xegpu.dpas" in text_of(made)
    _check_text(made)
    generator = fresh_generator()
    a = np.asfortranarray(generator.standard_normal((32, 64)).astype(np.float16))
    b = np.asfortranarray(generator.standard_normal((64, 8)).astype(np.float16))
    c = np.full((32, 8), np.nan, np.float32, order="F")
    xtile.run(made, {"A": a, "B": b, "C": c}, device=device)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b, rtol=0, atol=1e-4)


@pytest.mark.slow
def test_a_group_of_matrices() -> None:
    made = as_xegpu(xtile.parse(EXAMPLES / "batched_gemm.ir"))
    assert "memref<?xmemref<" in text_of(made)


LINALG = """
gpu.module @kernels {
  gpu.func @layer(%a: memref<40x48xf32>, %b: memref<48x24xf32>, %c: memref<40x24xf32>) kernel {
    linalg.matmul ins(%a, %b : memref<40x48xf32>, memref<48x24xf32>) outs(%c : memref<40x24xf32>)
    gpu.return
  }
}
"""


def test_a_product_of_linalg() -> None:
    made = as_xegpu(LINALG)
    generator = fresh_generator()
    a = generator.standard_normal((40, 48)).astype(np.float32)
    b = generator.standard_normal((48, 24)).astype(np.float32)
    c = generator.standard_normal((40, 24)).astype(np.float32)
    wanted = c.astype(np.float64) + a.astype(np.float64) @ b
    xtile.run(made, [a, b, c])
    np.testing.assert_allclose(c, wanted, rtol=0, atol=1e-3)


SCAN = """
func @k(%x: memref<i64x32>, %y: memref<i64x32>)
    attributes {subgroup_size=32, work_group_size=[32,1]} {
  parallel {
    %lane = subgroup_local_id : i32
    %i = cast %lane : index
    %a = load %x[%i] : i64
    %b = subgroup_exclusive_scan_add %a : i64
    store %b, %y[%i]
  }
}
"""


def test_a_scan_that_leaves_out_the_own_number() -> None:
    """It moves numbers by one, at positions that are indices already."""
    made = as_xegpu(xtile.parse(SCAN, language="tensorlang"))
    x = fresh_generator().integers(-(2**40), 2**40, 32)
    y = np.full(32, -1)
    xtile.run(made, [x, y])
    np.testing.assert_array_equal(y, np.cumsum(x) - x)


def test_memory_may_be_null_and_lists_of_addresses() -> None:
    text = """
    tt.func public @k(%p: !tt.ptr<i64>, %q: !tt.ptr<f32>, %o: !tt.ptr<f32>) {
      %word = tt.load %p : !tt.ptr<i64>
      %at = tt.int_to_ptr %word : i64 -> !tt.ptr<f32>
      %x = tt.load %at : !tt.ptr<f32>
      tt.store %o, %x : !tt.ptr<f32>
      tt.return
    }
    """
    made = as_xegpu(xtile.parse(text, language="ttir"))
    out = np.full(1, np.nan, np.float32)
    xtile.run(made, [[np.array([2.5], np.float32)], None, out])
    assert out.tolist() == [2.5]
