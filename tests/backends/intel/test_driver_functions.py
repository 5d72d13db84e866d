"""Kernels that import the functions of GPU drivers compute right where the functions do.

The functions come from `driver_functions`, and the CPU's driver links them to the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import pyopencl as cl
import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.backends.intel import driver_functions
from tests.backends.intel.opencl_kernels import opencl_device
from tests.seeds import fresh_seed
from tests.semantics.upstream.kernels import argument_of
from tests.semantics.xegpu.kernels import FLOATS, random_array
from xtile.api import parse
from xtile.backends.intel.compilation import spirv_in
from xtile.dialects.gpu.functions import FuncOp as Kernel
from xtile.dialects.spirv import FuncOp, encode
from xtile.semantics.engine import launch
from xtile.targets import INTEL
from xtile.targets.lanes import for_spirv
from xtile.targets.spellings import FUNCTIONS
from xtile.translate.route import Options, translate_to

EXAMPLES = Path(__file__).parents[3] / "examples"

# What comes of several sources is not in pyopencl's cache.
pytestmark = pytest.mark.filterwarnings("ignore:Pre-build attribute access")

Array = np.ndarray[Any, Any]
Size = tuple[int, int, int]


@cache
def _context() -> cl.Context:
    return cl.Context([opencl_device().handle])


@lru_cache(maxsize=1)
def _read(kernel: str | Path) -> ModuleOp:
    return parse(kernel)


@lru_cache(maxsize=1)
def _linked(module: ModuleOp, chip: str) -> tuple[cl.Program, list[str]]:
    """A program with a driver's functions, and their names."""
    target = for_spirv(INTEL.chips[chip], FUNCTIONS)
    options = Options(target.name, target.spelling.name)
    spirv = spirv_in(translate_to(module, "spirv", options))
    functions = [op for op in spirv.walk() if isinstance(op, FuncOp) and not op.regions[0].blocks]
    names = [str(function.properties["sym_name"]).strip('"') for function in functions]
    kernels = cl.Program(_context(), encode(spirv)).compile()
    source = cl.Program(_context(), driver_functions.source(names)).compile(["-cl-std=CL3.0"])
    link = cast("Any", cl).link_program
    return link(_context(), [kernels, source]), names


def _run(program: cl.Program, block: Size, grid: Size, arguments: Sequence[Array | Any]) -> None:
    """Runs the only kernel; arrays hold the results afterwards."""
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
    given: list[Any] = list(arguments)
    arrays: dict[int, Array] = {i: a for i, a in enumerate(given) if isinstance(a, np.ndarray)}
    buffers = {i: cl.Buffer(_context(), flags, hostbuf=a) for i, a in arrays.items()}
    (kernel,) = program.all_kernels()
    queue = cl.CommandQueue(_context())
    size = tuple(a * b for a, b in zip(block, grid, strict=True))
    kernel(queue, size, block, *(buffers.get(i, argument) for i, argument in enumerate(given)))
    for i, array in arrays.items():
        cl.enqueue_copy(queue, array, buffers[i])
    queue.finish()


_GEMM = """
func @gemm(%A: memref<{type}x64x48>, %B: memref<{type}x48x96>, %C: memref<f32x64x96>)
        attributes {{subgroup_size={lanes}, work_group_size=[{lanes},4]}} {{
    %zero = constant 0.0 : f32
    %one = constant 1.0 : {type}
    gemm %one, %A, %B, %zero, %C
}}
"""


@pytest.mark.parametrize("type", ["f16", "bf16"])
@pytest.mark.parametrize(("chip", "lanes"), [("pvc", 16), ("dg2", 8)])
def test_products(type: str, chip: str, lanes: int) -> None:
    program, names = _linked(_read(_GEMM.format(type=type, lanes=lanes)), chip)
    assert any("matrix_mad" in name for name in names)
    assert any("2d_block" in name for name in names) == (chip == "pvc")
    rng = np.random.default_rng(fresh_seed())
    # The modes of the tensor language are counted from the contiguous one.
    a, b = random_array(rng, (48, 64), type), random_array(rng, (96, 48), type)
    c = np.full((96, 64), np.nan, np.float32)
    _run(program, (lanes, 4, 1), (1, 1, 1), [a, b, c])
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    # 48 products are added up in f32, each sum with an error of half its last place.
    bound = 48 * 2.0**-24 * (np.abs(wide_b) @ np.abs(wide_a))
    assert (np.abs(c - wide_b @ wide_a) <= bound).all()


_EVERY_BLOCK = """
gpu.module @m {
gpu.func @k(%in8: memref<64x128xi8>, %in16: memref<64x64xbf16>, %in32: memref<64x64xi32>,
            %out8: memref<64x128xi8>, %out16: memref<64x64xbf16>, %out32: memref<64x64xi32>,
            %outf: memref<64x64xf32>)
    kernel attributes {intel_reqd_sub_group_size = 16 : i32,
                       known_block_size = array<i32: 16, 1, 1>} {
  %none = arith.constant dense<0> : vector<8xi32>
  %nothing = arith.constant dense<0.0> : vector<8xf32>
  %a8 = xegpu.create_nd_tdesc %in8 : memref<64x128xi8> -> !xegpu.tensor_desc<8x32xi8>
  %b8 = xegpu.create_nd_tdesc %in8 : memref<64x128xi8> -> !xegpu.tensor_desc<32x16xi8>
  %a16 = xegpu.create_nd_tdesc %in16 : memref<64x64xbf16> -> !xegpu.tensor_desc<8x16xbf16>
  %b16 = xegpu.create_nd_tdesc %in16 : memref<64x64xbf16> -> !xegpu.tensor_desc<16x16xbf16>
  %two = xegpu.create_nd_tdesc %in16 : memref<64x64xbf16>
    -> !xegpu.tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>>
  %t32 = xegpu.create_nd_tdesc %in32 : memref<64x64xi32> -> !xegpu.tensor_desc<16x8xi32>
  %c8 = xegpu.create_nd_tdesc %out8 : memref<64x128xi8> -> !xegpu.tensor_desc<8x32xi8>
  %c16 = xegpu.create_nd_tdesc %out16 : memref<64x64xbf16> -> !xegpu.tensor_desc<8x16xbf16>
  %c32 = xegpu.create_nd_tdesc %out32 : memref<64x64xi32> -> !xegpu.tensor_desc<8x16xi32>
  %cf = xegpu.create_nd_tdesc %outf : memref<64x64xf32> -> !xegpu.tensor_desc<8x16xf32>
  xegpu.prefetch_nd %a16[8, 16] : !xegpu.tensor_desc<8x16xbf16>

  %v0 = xegpu.load_nd %a8[60, 96] : !xegpu.tensor_desc<8x32xi8> -> vector<16xi8>
  %v1 = xegpu.load_nd %b8[8, 120] <{packed}> : !xegpu.tensor_desc<32x16xi8> -> vector<32xi8>
  %v2 = xegpu.load_nd %a16[-3, 56] : !xegpu.tensor_desc<8x16xbf16> -> vector<8xbf16>
  %v3 = xegpu.load_nd %b16[56, 0] <{packed}> : !xegpu.tensor_desc<16x16xbf16> -> vector<16xbf16>
  %v4 = xegpu.load_nd %t32[56, 4] <{transpose = array<i64: 1, 0>}>
    : !xegpu.tensor_desc<16x8xi32> -> vector<8xi32>
  %v5 = xegpu.load_nd %two[8, 40]
    : !xegpu.tensor_desc<8x16xbf16, #xegpu.block_tdesc_attr<array_length = 2>> -> vector<16xbf16>
  %v6 = vector.extract_strided_slice %v5 {offsets = [8], sizes = [8], strides = [1]}
    : vector<16xbf16> to vector<8xbf16>

  %d0 = xegpu.dpas %v0, %v1, %none : vector<16xi8>, vector<32xi8>, vector<8xi32> -> vector<8xi32>
  %d1 = xegpu.dpas %v2, %v3, %nothing
    : vector<8xbf16>, vector<16xbf16>, vector<8xf32> -> vector<8xf32>
  xegpu.store_nd %v0, %c8[4, 32] : vector<16xi8>, !xegpu.tensor_desc<8x32xi8>
  xegpu.store_nd %v6, %c16[60, 8] : vector<8xbf16>, !xegpu.tensor_desc<8x16xbf16>
  xegpu.store_nd %v4, %c32[0, 56] : vector<8xi32>, !xegpu.tensor_desc<8x16xi32>
  xegpu.store_nd %d0, %c32[16, -4] : vector<8xi32>, !xegpu.tensor_desc<8x16xi32>
  xegpu.store_nd %d1, %cf[16, 16] : vector<8xf32>, !xegpu.tensor_desc<8x16xf32>
  gpu.return
}
}
"""
"""Every kind of access, some of them in part outside of the memory."""


def test_every_block_access() -> None:
    """What the driver's functions do is what the reference device does."""
    module = _read(_EVERY_BLOCK)
    program, names = _linked(module, "pvc")
    assert len([name for name in names if "2d_block" in name]) == 10
    rng = np.random.default_rng(fresh_seed())
    bf16 = FLOATS["bf16"]
    inputs = [
        rng.integers(-128, 128, (64, 128)).astype(np.int8),
        # Products and sums of small integers are exact.
        rng.integers(-8, 8, (64, 64)).astype(bf16),
        rng.integers(-(2**31), 2**31, (64, 64)).astype(np.int32),
    ]
    outputs = [
        np.full((64, 128), -1, np.int8),
        np.full((64, 64), np.nan, ml_dtypes.bfloat16),
        np.full((64, 64), -1, np.int32),
        np.full((64, 64), np.nan, np.float32),
    ]
    expected = [array.copy() for array in outputs]
    (kernel,) = (op for op in module.walk() if isinstance(op, Kernel))
    launch(kernel, [argument_of(a) for a in [*inputs, *expected]], (1, 1, 1), block=None)
    found = [array.copy() for array in outputs]
    _run(program, (16, 1, 1), (1, 1, 1), [*inputs, *found])
    for before, one, other in zip(outputs, expected, found, strict=True):
        assert not np.array_equal(before.view(np.uint8), one.view(np.uint8))
        assert np.array_equal(one.view(np.uint8), other.view(np.uint8))


def test_flash_attention() -> None:
    """The example's kernel with blocks, products, local memory and exchanges between lanes."""
    program, names = _linked(_read(EXAMPLES / "flash_attention.ir"), "pvc")
    assert sum("2d_block" in name for name in names) == 2
    length, heads, depth = 80, 2, 64
    rng = np.random.default_rng(fresh_seed())
    q, k, v = (rng.standard_normal((heads, length, depth)).astype(np.float16) for _ in range(3))
    out = np.full((heads, length, depth), np.nan, np.float16)
    sizes = [np.int64(length), np.int64(heads), np.int64(length * depth)]
    arguments = [argument for array in (q, k, v, out) for argument in (array, *sizes)]
    _run(program, (16, 4, 1), (2, heads, 1), [*arguments, np.float32(0.125)])
    wide_q, wide_k, wide_v = (array.astype(np.float64) for array in (q, k, v))
    scores = 0.125 * wide_q @ wide_k.swapaxes(1, 2)
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = weights / weights.sum(axis=2, keepdims=True) @ wide_v
    # Weights are rounded to f16 before they are multiplied, and the result once more.
    assert np.abs(out - expected).max() <= 4 * 2.0**-11 * np.abs(wide_v).max()
