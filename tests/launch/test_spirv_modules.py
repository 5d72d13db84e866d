"""Kernels that are SPIR-V run with the arguments and the grid of their source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import xtile
from tests.seeds import fresh_generator
from xtile.arguments.kernel import kernels_of, signatures_of
from xtile.dialects.core.signature import SIGNATURE_ATTRIBUTE
from xtile.launch import ArgumentError
from xtile.text.diagnostics import DiagnosticError

TENSOR = """
func @double(%A: memref<f32x?x?>, %B: memref<f32x?x?>) {
    %two = constant 2.0 : f32
    %zero = constant 0.0 : f32
    axpby %two, %A, %zero, %B
}
"""

CUDA_TILE = """
cuda_tile.module @kernels {
  entry @double(%x: tile<ptr<f32>>, %y: tile<ptr<f32>>) {
    %lanes = iota : tile<16xi32>
    %block, %1, %2 = get_tile_block_id : tile<i32>
    %c16 = constant <i32: 16> : tile<i32>
    %start = muli %block, %c16 : tile<i32>
    %starts = reshape %start : tile<i32> -> tile<1xi32>
    %all = broadcast %starts : tile<1xi32> -> tile<16xi32>
    %at = addi %all, %lanes : tile<16xi32>
    %from = reshape %x : tile<ptr<f32>> -> tile<1xptr<f32>>
    %froms = broadcast %from : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %read = offset %froms, %at : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %v, %t = load_ptr_tko weak %read : tile<16xptr<f32>> -> tile<16xf32>, token
    %w = addf %v, %v : tile<16xf32>
    %to = reshape %y : tile<ptr<f32>> -> tile<1xptr<f32>>
    %tos = broadcast %to : tile<1xptr<f32>> -> tile<16xptr<f32>>
    %write = offset %tos, %at : tile<16xptr<f32>>, tile<16xi32> -> tile<16xptr<f32>>
    %u = store_ptr_tko weak %write, %w : tile<16xptr<f32>>, tile<16xf32> -> token
    return
  }
}
"""

TRITON = """
tt.func public @double(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
  %c32 = arith.constant 32 : i32
  %program = tt.get_program_id x : i32
  %start = arith.muli %program, %c32 : i32
  %range = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %starts = tt.splat %start : i32 -> tensor<32xi32>
  %at = arith.addi %starts, %range : tensor<32xi32>
  %limit = tt.splat %n : i32 -> tensor<32xi32>
  %mask = arith.cmpi slt, %at, %limit : tensor<32xi32>
  %from = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %read = tt.addptr %from, %at : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  %v = tt.load %read, %mask : tensor<32x!tt.ptr<f32>>
  %w = arith.addf %v, %v : tensor<32xf32>
  %to = tt.splat %y : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>
  %write = tt.addptr %to, %at : tensor<32x!tt.ptr<f32>>, tensor<32xi32>
  tt.store %write, %w, %mask : tensor<32x!tt.ptr<f32>>
  tt.return
}
"""

XEGPU = """
gpu.module @m {
  gpu.func @double(%A: memref<8x16xf32>, %B: memref<8x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = xegpu.create_nd_tdesc %A : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %b = xegpu.create_nd_tdesc %B : memref<8x16xf32> -> !xegpu.tensor_desc<8x16xf32>
    %v = xegpu.load_nd %a[%c0, %c0] : !xegpu.tensor_desc<8x16xf32> -> vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    xegpu.store_nd %w, %b[%c0, %c0] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.return
  }
}
"""


class Double:
    """A kernel in one language, and a launch of it."""

    def __init__(
        self, text: str, shape: tuple[int, ...], grid: int, block: int | None, *extra: Any
    ) -> None:
        self.text, self.grid, self.block = text, grid, block
        order = "F" if text is TENSOR else "C"
        x = fresh_generator().standard_normal(shape).astype(np.float32)
        self.x, self.y = np.asarray(x, order=order), np.full(shape, np.nan, np.float32, order=order)
        # Nothing but the second array may be written.
        self.x.flags.writeable = False
        self.extra = extra

    def check(self, kernel: Any, device: str = "opencl") -> None:
        """Runs the kernel, or what became of it."""
        self.y[...] = np.nan
        arguments = [self.x, self.y, *self.extra]
        xtile.run(kernel, arguments, self.grid, device=device, block=self.block)
        np.testing.assert_array_equal(self.y, 2 * self.x)


LAUNCHES: dict[str, tuple[Any, ...]] = {
    "tensorlang": (TENSOR, (33, 21), 1, None),
    "cuda_tile": (CUDA_TILE, (48,), 3, None),
    "triton": (TRITON, (75,), 3, None, 75),
    "xegpu": (XEGPU, (8, 16), 1, 16),
}


@pytest.mark.slow
@pytest.mark.parametrize("language", LAUNCHES)
def test_a_module_takes_the_arguments_of_its_source(language: str) -> None:
    launch = Double(*LAUNCHES[language])
    read = "tensorlang" if language == "tensorlang" else "ttir" if language == "triton" else "mlir"
    source = xtile.parse(launch.text, language=read)
    made = xtile.translate(source, "spirv", chip="cpu")
    again = xtile.parse(xtile.to_text(made, "mlir"), language="mlir")
    assert signatures_of(made)["double"].written == {1}
    assert signatures_of(again) == signatures_of(made)
    launch.check(again)


def spirv_of(source: str = TENSOR) -> str:
    return xtile.to_text(xtile.translate(source, "spirv", chip="cpu"), "mlir")


@pytest.mark.parametrize("device", ["reference", "field"])
def test_devices_without_a_driver_say_which_has_one(device: str) -> None:
    with pytest.raises(ArgumentError, match=r"@double is SPIR-V.*run it with the device 'opencl'"):
        xtile.run(xtile.parse(spirv_of(), language="mlir"), [], device=device)


def without_signature() -> Any:
    module = xtile.parse(spirv_of(), language="mlir")
    for kernel in kernels_of(module).values():
        del kernel.attributes[SIGNATURE_ATTRIBUTE]
    return module


def test_spirv_of_others_does_not_say_what_its_arguments_are() -> None:
    with pytest.raises(ArgumentError, match="does not say what its arguments are; run the kernel"):
        xtile.run(without_signature(), [], device="opencl")


def test_a_signature_of_another_kernel_is_refused() -> None:
    text = spirv_of().replace('type = "memref<f32x?x?>"', 'type = "memref<f32x?x4>"', 1)
    with pytest.raises(DiagnosticError, match="kernel 'double' takes 8 arguments, 2 of them"):
        xtile.run(xtile.parse(text, language="mlir"), [], device="opencl")


def test_one_kernel_of_several(tmp_path: Path) -> None:
    two = TENSOR + TENSOR.replace("@double", "@other").replace("2.0", "3.0")
    module = xtile.parse(spirv_of(two), language="mlir")
    with pytest.raises(ArgumentError, match="choose entry from 'double', 'other'"):
        xtile.run(module, [], device="opencl")
    path = tmp_path / "k.spv"
    xtile.compile(module, path, chip="cpu", entry="other")
    assert b"other" in path.read_bytes()
    assert b"double" not in path.read_bytes()
    assert [*kernels_of(module)] == ["double", "other"]


def test_a_check_compares_what_a_driver_runs() -> None:
    launch = Double(*LAUNCHES["tensorlang"])
    module = xtile.parse(spirv_of(), language="mlir")
    arguments = {"A": launch.x, "B": launch.y}
    result = xtile.check(launch.text, module, arguments, 1, field=False, devices=["opencl"])
    assert {each.verdict.value for each in result.comparisons if each.device == "opencl"} == {
        "agrees"
    }
    assert result.agrees
