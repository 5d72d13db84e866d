"""Kernels of other languages become Triton with layouts and buffer operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from tests.translate.triton_to_amdg.laid_out import said_of
from tests.triton_releases.judges import NEWEST
from xtile.opt import main
from xtile.translate.route import Options, translate

PRODUCT = """
func @product(%A: memref<f16x32x64>{alignment=16}, %B: memref<f16x64x32>{alignment=16},
              %C: memref<f32x32x32>{alignment=16}) {
    %zero = constant 0.0 : f32
    %one = constant 1.0 : f16
    gemm %one, %A, %B, %zero, %C
}
"""

LINALG = """
gpu.module @kernels {
  gpu.func @product(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) kernel {
    linalg.matmul ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) outs(%c : memref<32x32xf32>)
    gpu.return
  }
}
"""


def checked(module: ModuleOp) -> str:
    """The text of a module that Triton takes, whose accesses are all buffer operations."""
    assert not said_of(module, NEWEST, "gfx942")
    text = xtile.to_text(module, "mlir")
    assert text.count("amdg.buffer_load") >= 2
    assert text.count("amdg.buffer_store") == 1
    assert "tt.load" not in text
    assert "#ttg.amd_mfma<" in text
    return text


@pytest.mark.parametrize("way", ["directly", "through views of CUDA Tile IR"])
def test_the_tensor_language(way: str) -> None:
    """memref and gemm, then tensor_view and partition_view, then buffer operations."""
    source = xtile.parse(PRODUCT, language="tensorlang")
    if way == "directly":
        made = translate(source, "tensorlang-to-amdg", Options("gfx942"))
    else:
        tiles = translate(source, "tensorlang-to-cuda_tile")
        text = xtile.to_text(tiles, "mlir")
        assert text.count("make_tensor_view") == text.count("make_partition_view") == 3
        made = translate(tiles, "cuda_tile-to-amdg", Options("gfx942", warps=1))
    assert "contiguity = 8" in checked(made)
    generator = fresh_generator()
    a = np.asfortranarray(generator.standard_normal((32, 64)).astype(np.float16))
    b = np.asfortranarray(generator.standard_normal((64, 32)).astype(np.float16))
    c = np.full((32, 32), np.nan, np.float32, order="F")
    xtile.run(made, [a, b, c], (1,))
    wanted = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, wanted, rtol=0, atol=1e-3)


def test_linalg() -> None:
    checked(translate(xtile.parse(LINALG, language="mlir"), "linalg-to-amdg", Options("gfx942")))


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "product.ir"
    path.write_text(PRODUCT)
    command = [str(path), "--translate", "tensorlang-to-amdg", "--chip", "gfx1100"]
    assert main([*command, "--num-warps", "2", "--triton-version", "3.4"]) == 0
    text = capsys.readouterr().out
    assert '"ttg.num-warps" = 2' in text
    assert '"ttg.threads-per-warp" = 32' in text
    assert "amdgpu.buffer_load" in text
    with pytest.raises(SystemExit, match="2"):
        main([str(path), "--num-warps", "2"])
    assert "--num-warps: is for kernels that --translate gives layouts" in capsys.readouterr().err
