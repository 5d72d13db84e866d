"""How fast kernels of tiles run on OpenCL's CPU device, beside numpy, PyTorch and copies.

python benchmarks/tiles.py [PART OF A NAME ...]

The kernels are CUDA Tile IR that cuTile Python exports (`cutile_kernels.py`), XeGPU of work-groups,
and Triton's (`tests/triton_kernels/jit`). A kernel and its rival take turns, each after a pause and
a call that is not counted.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import torch
from cutile_kernels import export
from workloads import Array, Workload, copy_of, cpu_device, print_rows

import xtile
from xtile.backends.intel.opencl.device import OpenclDevice

JIT = Path(__file__).parents[1] / "tests" / "triton_kernels" / "jit"

DIRECTORY = Path(tempfile.mkdtemp(prefix="xtile-benchmarks-"))

XEGPU_MATMUL = """\
// C := A B. A work-group of 4 x 4 subgroups computes 128 x 128 elements.
#a = #xegpu.layout<sg_layout = [4, 4], sg_data = [32, 32]>
#b = #xegpu.layout<sg_layout = [4, 4], sg_data = [32, 32]>
#c = #xegpu.layout<sg_layout = [4, 4], sg_data = [32, 32]>
gpu.module @kernels {
  gpu.func @product(%A: memref<1024x1024xf16>, %B: memref<1024x1024xf16>, %C: memref<1024x1024xf32>)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %c1024 = arith.constant 1024 : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %i = arith.muli %x, %c128 : index
    %j = arith.muli %y, %c128 : index
    %a = xegpu.create_nd_tdesc %A : memref<1024x1024xf16> -> !xegpu.tensor_desc<128x32xf16, #a>
    %b = xegpu.create_nd_tdesc %B : memref<1024x1024xf16> -> !xegpu.tensor_desc<32x128xf16, #b>
    %c = xegpu.create_nd_tdesc %C : memref<1024x1024xf32> -> !xegpu.tensor_desc<128x128xf32, #c>
    %zero = arith.constant {layout_result_0 = #c} dense<0.0> : vector<128x128xf32>
    %sum = scf.for %k = %c0 to %c1024 step %c32 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
      %l = xegpu.load_nd %a[%i, %k] : !xegpu.tensor_desc<128x32xf16, #a> -> vector<128x32xf16>
      %r = xegpu.load_nd %b[%k, %j] : !xegpu.tensor_desc<32x128xf16, #b> -> vector<32x128xf16>
      %next = xegpu.dpas %l, %r, %acc {layout_result_0 = #c}
        : vector<128x32xf16>, vector<32x128xf16>, vector<128x128xf32> -> vector<128x128xf32>
      scf.yield %next : vector<128x128xf32>
    }
    xegpu.store_nd %sum, %c[%i, %j] : vector<128x128xf32>, !xegpu.tensor_desc<128x128xf32, #c>
    gpu.return
  }
}
"""


def random(*shape: int, dtype: Any = np.float32) -> Array:
    """Standard normal numbers, row by row."""
    return np.random.default_rng().standard_normal(shape, np.float32).astype(dtype)


def unwritten(*shape: int, dtype: Any = np.float32) -> Array:
    """An output; what a kernel forgets to write stays NaN."""
    return np.full(shape, np.nan, dtype)


def product(
    name: str,
    source: str | Path,
    shape: tuple[int, int, int],
    grid: Sequence[int],
    dtype: Any = np.float32,
) -> Workload:
    """C := A B with a result in f32; numpy multiplies f32."""
    m, n, k = shape
    a, b, c = random(m, k, dtype=dtype), random(k, n, dtype=dtype), unwritten(m, n)
    left, right = a.astype(np.float32), b.astype(np.float32)
    expected = np.empty((m, n), np.float32)

    def is_right() -> bool:
        # Each of the two adds up the products in an order of its own.
        bound = 2 * k * np.finfo(np.float32).eps * np.max(np.abs(left) @ np.abs(right))
        return bool(np.max(np.abs(c - left @ right)) <= bound)

    def rival() -> object:
        return np.matmul(left, right, out=expected)

    work = 2 * m * n * k
    return Workload(name, source, [a, b, c], tuple(grid), work, "GFLOP/s", rival, work, is_right)


def by_rows(
    name: str,
    function: Callable[..., Array],
    inputs: Sequence[Array],
    numbers: Sequence[float],
    device: OpenclDevice,
) -> Workload:
    """A function of rows; its rival copies the matrix."""
    x, y = inputs[0], unwritten(*inputs[0].shape)

    def is_right() -> bool:
        some = [each.astype(float) for each in (x[:64], *inputs[1:])]
        return bool(np.allclose(y[:64], function(*some), rtol=1e-4, atol=1e-5))

    size = 2 * x.nbytes
    title = f"{name} f32 {' x '.join(map(str, x.shape))}"
    arguments = [*inputs, y, *numbers]
    grid, copy = (len(x), 1, 1), copy_of(x, device)
    return Workload(
        title, export(name, DIRECTORY), arguments, grid, size, "GB/s", copy, size, is_right
    )


def _softmax(x: Array) -> Array:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _rms_norm(x: Array, weight: Array) -> Array:
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-5) * weight


def _layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    centered = x - x.mean(axis=1, keepdims=True)
    return _rms_norm(centered, weight) + bias


def causal_attention(heads: int, length: int, depth: int) -> Workload:
    """Attention in f16; PyTorch computes in f32."""
    q, k, v = (random(heads, length, depth, dtype=np.float16) for _ in range(3))
    out = unwritten(heads, length, depth, dtype=np.float16)
    wide = [torch.from_numpy(each.astype(np.float32))[None] for each in (q, k, v)]

    def rival() -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(*wide, is_causal=True)

    def is_right() -> bool:
        return bool(np.allclose(out, rival()[0].numpy(), rtol=4e-3, atol=4e-3))

    scale = float(np.log2(np.e) / np.sqrt(depth))
    work = 2 * heads * length * length * depth
    return Workload(
        f"causal attention f16 {heads} x {length} x {depth}",
        export("causal_attention", DIRECTORY),
        [q, k, v, out, scale],
        (length // 64, heads, 1),
        work,
        "GFLOP/s",
        rival,
        work,
        is_right,
    )


def of_triton(function: str, types: Mapping[str, str], constants: Mapping[str, Any]) -> str:
    """The text that Triton makes of a function, given as its module and its name."""
    sys.path.insert(0, str(JIT))
    module, name = function.split(".")
    kernel = getattr(import_module(module), name)
    parsed = xtile.parse(kernel, signature=types, constexprs=constants, target="gfx942")
    return xtile.to_text(parsed, "mlir")


def triton_softmax(rows: int, columns: int) -> Workload:
    """The softmax of rows, of which a program has one; PyTorch does the same."""
    numbers = ("x_stride", "out_stride", "columns")
    types = {**dict.fromkeys(("x_ptr", "out_ptr"), "*fp32"), **dict.fromkeys(numbers, "i32")}
    source = of_triton("reductions.softmax", types, {"BLOCK": columns})
    x, y = random(rows, columns), unwritten(rows, columns)
    values = {"x_ptr": x, "out_ptr": y, **dict.fromkeys(numbers, columns)}
    given, size = torch.from_numpy(x), 2 * x.nbytes
    return Workload(
        f"Triton's softmax f32 {rows} x {columns}; PyTorch",
        source,
        [values[name] for name in types],
        (rows, 1, 1),
        size,
        "GB/s",
        lambda: torch.softmax(given, 1),
        size,
        lambda: bool(np.allclose(y[:64], _softmax(x[:64].astype(float)), rtol=1e-4, atol=1e-5)),
    )


def triton_matmul(size: int, tile: tuple[int, int, int]) -> Workload:
    """C := A B in f32 by programs in groups."""
    numbers = {"M": size, "N": size, "K": size}
    numbers |= {"stride_am": size, "stride_bk": size, "stride_cm": size}
    ones = {"stride_ak": 1, "stride_bn": 1, "stride_cn": 1}
    types = {**dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp32"), **dict.fromkeys(numbers, "i32")}
    blocks = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), tile, strict=True))
    constants = {**ones, **blocks, "GROUP": 8, "PRECISION": "ieee", "ACTIVATION": ""}
    source = of_triton("products.matmul", types, constants)
    programs = -(-size // tile[0]) * -(-size // tile[1])
    name = f"Triton's matmul f32 {size}^3, tiles {'x'.join(map(str, tile))}"
    made = product(name, source, (size, size, size), (programs, 1, 1))
    return replace(made, arguments=[*made.arguments, *numbers.values()])


def addition(length: int, device: OpenclDevice) -> Workload:
    """c := a + b."""
    a, b, c = random(length), random(length), unwritten(length)
    return Workload(
        f"add f32 {length}",
        export("add", DIRECTORY),
        [a, b, c],
        (length // 16384, 1, 1),
        3 * a.nbytes,
        "GB/s",
        copy_of(a, device),
        2 * a.nbytes,
        lambda: bool(np.array_equal(c, a + b)),
    )


def main() -> None:
    """Measures and prints."""
    device = cpu_device()
    size = (1024, 1024, 1024)
    bf16, f16 = ml_dtypes.bfloat16, np.float16

    def rows(name: str, function: Callable[..., Array], vectors: int) -> Workload:
        inputs = [random(4096, 4096), *(random(4096) for _ in range(vectors))]
        return by_rows(name, function, inputs, [1e-5] if vectors else [], device)

    makers: dict[str, Callable[[], Workload]] = {
        "matmul f32": lambda: product(
            "matmul f32 1024^3", export("matmul", DIRECTORY), size, (8, 8, 1)
        ),
        "matmul bf16": lambda: product(
            "matmul bf16 1024^3", export("matmul_bf16", DIRECTORY), size, (8, 8, 1), bf16
        ),
        "persistent matmul f16": lambda: product(
            "persistent matmul f16 1000 x 1008 x 1040",
            export("persistent_matmul", DIRECTORY),
            (1000, 1008, 1040),
            (8, 1, 1),
            f16,
        ),
        "softmax": lambda: rows("softmax", _softmax, 0),
        "rms_norm": lambda: rows("rms_norm", _rms_norm, 1),
        "layer_norm": lambda: rows("layer_norm", _layer_norm, 2),
        "causal attention": lambda: causal_attention(8, 1024, 64),
        "add": lambda: addition(2**26, device),
        "Triton softmax": lambda: triton_softmax(4096, 4096),
        "Triton matmul": lambda: triton_matmul(1024, (128, 128, 32)),
        "XeGPU matmul": lambda: product(
            "work-group XeGPU matmul f16 1024^3", XEGPU_MATMUL, size, (8, 8, 1), f16
        ),
    }
    wanted = sys.argv[1:] or [""]
    chosen = [maker for name, maker in makers.items() if any(part in name for part in wanted)]
    print_rows(device, chosen, "cuda-tile", "torch", "triton")


if __name__ == "__main__":
    main()
