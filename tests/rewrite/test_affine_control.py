"""Operations of `affine` in kernels of work-items and of XeGPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import xtile
from tests.seeds import fresh_generator
from xtile.rewrite.affine_control import with_affine_lowered

OF_SUBGROUPS = """
gpu.module @m {
  gpu.func @k(%A: memref<32x32xf32>, %B: memref<32x32xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %from = xegpu.create_nd_tdesc %A : memref<32x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %to = xegpu.create_nd_tdesc %B : memref<32x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    affine.for %i = 0 to 4 {
      %row = affine.apply affine_map<(i) -> (i * 8)>(%i)
      affine.for %j = 0 to min affine_map<(n) -> (n * 16, 32)>(%n) step 16 {
        %v = xegpu.load_nd %from[%row, %j]
          : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
        affine.if affine_set<(i) : (i - 2 >= 0)>(%i) {
          %w = arith.addf %v, %v : vector<8x16xf32>
          xegpu.store_nd %w, %to[%row, %j] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
        } else {
          xegpu.store_nd %v, %to[%row, %j] : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
        }
      }
    }
    gpu.return
  }
}"""

OF_LANES = """
gpu.module @m {
  gpu.func @k(%A: memref<32x32xf32>, %B: memref<32x32xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %x = gpu.thread_id x
    affine.for %i = 0 to 32 {
      affine.parallel (%j) = (0) to (symbol(%n)) {
        %v = affine.load %A[%i, %x + %j * 16] : memref<32x32xf32>
        %factor = affine.for %k = 0 to min affine_map<(i) -> (i floordiv 16 + 1, 2)>(%i)
            iter_args(%sum = %v) -> f32 {
          %more = arith.addf %sum, %v : f32
          affine.yield %more : f32
        }
        %half = arith.constant 5.0e-01 : f32
        %w = arith.mulf %factor, %half : f32
        affine.store %w, %B[%i, %x + %j * 16] : memref<32x32xf32>
      }
    }
    gpu.return
  }
}"""

TARGETS = ("tensorlang", "cuda_tile", "triton", "xegpu", "spirv")


def expected_of(text: str, a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """What a kernel makes of A; 1 and 1.5 times are exact."""
    factors = np.where(np.arange(32) < 16, 1.0, 2.0 if text is OF_SUBGROUPS else 1.5)
    return (a * factors[:, None]).astype(np.float32)


@pytest.mark.parametrize("text", [OF_SUBGROUPS, OF_LANES], ids=["subgroups", "lanes"])
@pytest.mark.parametrize("device", ["reference", "opencl"])
def test_values(text: str, device: str) -> None:
    check(text, xtile.parse(text, language="mlir"), device)


def check(text: str, module: ModuleOp, device: str = "reference") -> None:
    a = fresh_generator().standard_normal((32, 32)).astype(np.float32)
    b = np.full_like(a, np.nan)
    xtile.run(module, [a, b, 2], device=device)
    np.testing.assert_array_equal(b, expected_of(text, a))


@pytest.mark.parametrize("text", [OF_SUBGROUPS, OF_LANES], ids=["subgroups", "lanes"])
@pytest.mark.parametrize("target", TARGETS)
def test_every_language(text: str, target: str) -> None:
    source = xtile.parse(text, language="mlir")
    assert "affine." not in str(with_affine_lowered(source))
    port = xtile.translate(source, target)
    if target != "spirv":
        check(text, port)


def test_kernels_of_linalg_keep_their_loops() -> None:
    text = """
    gpu.module @m {
      gpu.func @k(%A: memref<32xf32>) kernel {
        affine.for %i = 0 to 32 {
          %v = affine.load %A[%i] : memref<32xf32>
          affine.store %v, %A[%i] : memref<32xf32>
        }
        gpu.return
      }
    }"""
    source = xtile.parse(text, language="mlir")
    assert with_affine_lowered(source) is source
