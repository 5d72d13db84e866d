"""XeGPU of lanes becomes tiles again: fragments are parts of matrices."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.rewrite.kernels import kernels_of
from xtile.text.diagnostics import DiagnosticError, Diagnostics
from xtile.transforms.lift import lift_kernels

EXAMPLES = Path(xtile.__file__).parents[1] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["pvc", "dg2"])
@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton"])
def test_product(target: str, chip: str) -> None:
    """Where lanes hold columns, as on pvc, nothing is moved; on dg2 two lanes share a column."""
    random = fresh_generator()
    a = np.asfortranarray(random.standard_normal((32, 64)).astype(np.float16))
    b = np.asfortranarray(random.standard_normal((64, 8)).astype(np.float16))
    c = np.full((32, 8), np.nan, np.float32, order="F")
    lanes = xtile.port(EXAMPLES / "matrix_unit.ir", "xegpu", chip=chip)
    tiles = xtile.translate(lanes, target, chip="sm_90")
    text = xtile.to_text(tiles, "mlir")
    assert chip != "pvc" or "core.gather" not in text
    xtile.run(tiles, [a, b, c])
    expected = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=0, atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["tile", "triton"])
def test_softmax(target: str) -> None:
    x = np.asfortranarray(fresh_generator().standard_normal((35, 20)).astype(np.float32))
    y = np.full((35, 20), np.nan, np.float32, order="F")
    lanes = xtile.port(EXAMPLES / "softmax.ir", "xegpu", chip="pvc")
    xtile.run(xtile.translate(lanes, target, chip="sm_90"), [x, y], grid=(3,))
    powers = np.exp(x.astype(np.float64) - x.max(0))
    np.testing.assert_allclose(y, powers / powers.sum(0), rtol=1e-5, atol=0)


@pytest.mark.slow
def test_flash_attention() -> None:
    """Addresses, local variables, shuffles and fragments of f16 in one kernel."""
    random = fresh_generator()
    shape = (64, 70, 1)
    q, k, v = (
        np.asfortranarray(random.standard_normal(shape).astype(np.float16)) for _ in range(3)
    )
    o = np.full(shape, np.nan, np.float16, order="F")
    lanes = xtile.port(EXAMPLES / "flash_attention.ir", "xegpu", chip="pvc")
    xtile.run(xtile.translate(lanes, "tile", chip="sm_90"), [q, k, v, o, 0.125], grid=(2, 1))
    a, b, c = (each[:, :, 0].astype(np.float64) for each in (q, k, v))
    scores = 0.125 * (b.T @ a)
    powers = np.exp(scores - scores.max(0))
    np.testing.assert_allclose(o[:, :, 0], c @ (powers / powers.sum(0)), rtol=0, atol=4e-3)


REVERSED_SUMS = """
gpu.module @m {
  gpu.func @k(%A: memref<3x16xf32>, %B: memref<3x16xf32>)
      workgroup(%all: memref<16xf32, 3>, %more: memref<16xf32, 3>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %row = gpu.block_id x
    %lane = gpu.thread_id x
    %last = arith.constant 15 : index
    %opposite = arith.subi %last, %lane : index
    %a = memref.load %A[%row, %lane] : memref<3x16xf32>
    %twice = arith.addf %a, %a : f32
    memref.store %a, %all[%lane] : memref<16xf32, 3>
    memref.store %twice, %more[%lane] : memref<16xf32, 3>
    gpu.barrier
    %b = memref.load %all[%opposite] : memref<16xf32, 3>
    %c = memref.load %more[%lane] : memref<16xf32, 3>
    %sum = arith.addf %b, %c : f32
    memref.store %sum, %B[%row, %lane] : memref<3x16xf32>
    gpu.return
  }
}
"""


@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton"])
def test_attributions_in_local_memory(target: str) -> None:
    a = fresh_generator().standard_normal((3, 16)).astype(np.float32)
    b = np.full((3, 16), np.nan, np.float32)
    lanes = xtile.parse(REVERSED_SUMS, language="mlir")
    xtile.run(xtile.translate(lanes, target, chip="sm_90"), [a, b], grid=(3,))
    np.testing.assert_array_equal(b, a[:, ::-1] + 2 * a)


def _launched(*blocks: str) -> str:
    """The kernel without a size of its own, beside a host that launches it with these."""
    device = REVERSED_SUMS.replace(" {known_block_size = array<i32: 16, 1, 1>}", "").replace(
        "kernel attributes", "kernel"
    )
    launches = "\n".join(
        f"gpu.launch_func @m::@k blocks in (%c3, %c1, %c1) threads in ({block}, %c1, %c1) "
        "args(%A : memref<3x16xf32>, %B : memref<3x16xf32>)"
        for block in blocks
    )
    return f"""module attributes {{gpu.container_module}} {{ {device}
    func.func @main(%A: memref<3x16xf32>, %B: memref<3x16xf32>, %n: index) {{
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      {launches}
      return
    }} }}"""


def test_the_block_of_the_launches() -> None:
    """Launches that agree say how many work-items a work-group has, and a remark says so."""
    diagnostics = Diagnostics()
    lanes = xtile.parse(_launched("%c16", "%c16"), language="mlir")
    tiles = lift_kernels(lanes, diagnostics)
    (kernel,) = kernels_of(tiles)
    assert "known_block_size is [16, 1, 1], as the launches" in "".join(map(str, diagnostics))
    (own,) = kernels_of(lift_kernels(xtile.parse(REVERSED_SUMS, language="mlir")))
    assert kernel.body.is_structurally_equivalent(own.body)
    a = fresh_generator().standard_normal((3, 16)).astype(np.float32)
    b = np.full((3, 16), np.nan, np.float32)
    xtile.run(tiles, [a, b, 1])
    np.testing.assert_array_equal(b, a[:, ::-1] + 2 * a)


@pytest.mark.parametrize("blocks", [("%c16", "%c8"), ("%n",), ("%c16", "%n")])
def test_launches_that_do_not_agree(blocks: tuple[str, ...]) -> None:
    lanes = xtile.parse(_launched(*blocks), language="mlir")
    with pytest.raises(DiagnosticError, match="its launches do not agree on a constant for how"):
        lift_kernels(lanes)


SINGLE_POINTS = """
gpu.module @m {
  gpu.func @k(%A: memref<64xf32>, %B: memref<64xf32>, %n: index) kernel
      attributes {known_block_size = array<i32: 16, 1, 1>} {
    %block = gpu.block_id x
    %x = gpu.thread_id x
    %c16 = arith.constant 16 : index
    %first = arith.muli %block, %c16 : index
    %i = arith.addi %first, %x : index
    %inside = arith.cmpi ult, %i, %n : index
    %all = arith.constant true
    %address = memref.extract_aligned_pointer_as_index %A : memref<64xf32> -> index
    %from = arith.index_cast %address : index to i64
    %v = xegpu.load %from[%i], %inside : i64, index, i1 -> f32
    %w = arith.addf %v, %v : f32
    xegpu.store %w, %B[%i], %all : f32, memref<64xf32>, index, i1
    gpu.return
  }
}"""


@pytest.mark.parametrize("target", ["tile", "cuda_tile", "triton", "spirv"])
@pytest.mark.parametrize("count", [0, 37, 64])
def test_single_points_of_xegpu(target: str, count: int) -> None:
    """A work-item that the mask leaves out loads 0."""
    a = fresh_generator().standard_normal(64).astype(np.float32)
    b = np.full_like(a, np.nan)
    module = xtile.parse(SINGLE_POINTS, language="mlir")
    if target == "spirv":
        xtile.run(module, [a, b, count], grid=(4,), device="opencl")
    else:
        xtile.run(xtile.translate(module, target), [a, b, count], grid=(4,))
    np.testing.assert_array_equal(b, np.where(np.arange(64) < count, 2 * a, 0))
