"""LLVM 22 deals the text out to subgroups, and takes products down to the matrix unit."""

from __future__ import annotations

from pathlib import Path

import pytest

import xtile
from tests.mlir_opt import run_mlir_opt
from tests.translate.tiles_to_xegpu.ported import as_xegpu, text_of, tile_kernel

TO_SUBGROUPS = "--pass-pipeline=builtin.module(gpu.module(xegpu-wg-to-sg-distribute))"

TO_MACHINE_CODE = (
    "--gpu-lower-to-xevm-pipeline=xegpu-op-level=workgroup zebin-chip=pvc binary-format=isa"
)

EXAMPLES = Path(__file__).parents[3] / "examples"


def _run(text: str, passes: str) -> str:
    done = run_mlir_opt(text, passes)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("level", ["work-group", "subgroup"])
def test_a_product_reaches_the_matrix_unit(level: str) -> None:
    text = text_of(as_xegpu(xtile.parse(EXAMPLES / "matrix_unit.ir"), level=level))
    code = _run(text, TO_MACHINE_CODE)
    assert "intel_sub_group_f16_f16_matrix_mad_k16" in code
    assert "intel_sub_group_2d_block_read_16b_8r16x1c" in code
    assert "intel_sub_group_2d_block_write_32b_8r16x1c" in code


BLOCKS = """%zero = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%c0, %c0], %zero : memref<64x64xf32>, vector<64x64xf32>
    %y = arith.addf %x, %x : vector<64x64xf32>
    {more}"""

STORE = "vector.transfer_write %y, %b[%c0, %c0] : vector<64x64xf32>, memref<64x64xf32>"

SUM = """%start = arith.constant dense<0.0> : vector<64xf32>
    %s = vector.multi_reduction <add>, %y, %start [1] : vector<64x64xf32> to vector<64xf32>
    %column = vector.shape_cast %s : vector<64xf32> to vector<64x1xf32>
    %all = vector.broadcast %column : vector<64x1xf32> to vector<64x64xf32>
    vector.transfer_write %all, %b[%c0, %c0] : vector<64x64xf32>, memref<64x64xf32>"""


@pytest.mark.parametrize("level", ["work-group", "subgroup"])
def test_elementwise_kernels_on_blocks_reach_the_end(level: str) -> None:
    parameters = "%a: memref<64x64xf32>, %b: memref<64x64xf32>"
    text = text_of(as_xegpu(tile_kernel(parameters, BLOCKS.format(more=STORE)), level=level))
    assert "intel_sub_group_2d_block_write_32b_8r16x1c" in _run(text, TO_MACHINE_CODE)


def test_a_reduction_is_dealt_out_to_subgroups() -> None:
    parameters = "%a: memref<64x64xf32>, %b: memref<64x64xf32>"
    text = text_of(as_xegpu(tile_kernel(parameters, BLOCKS.format(more=SUM))))
    dealt = _run(text, TO_SUBGROUPS)
    assert "sg_layout" not in dealt
    assert "vector.multi_reduction" in dealt
