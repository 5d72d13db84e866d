"""How fast kernels of subgroups run as tiles on an NVIDIA GPU: the yardstick is PyTorch.

    python benchmarks/subgroups_on_nvidia.py --compile DIRECTORY    anywhere with tileiras; with
        --launch-checks, blocks do the work of several work-groups
    python benchmarks/subgroups_on_nvidia.py --cubins DIRECTORY     on a GPU with PyTorch

The kernels are those of examples/, with promises of how memory is aligned, as a launch from the
source finds them out by itself. Kernel and rival are measured as in nvidia_gpu.py.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import conditions, print_table
from nvidia_gpu import CHIP, Workload, column_major, measure
from nvidia_gpu_kernels import Kernel

import xtile

EXAMPLES = Path(__file__).parents[1] / "examples"

TYPES = ("f16", "bf16")

SIZES = (4096, 8192)
"""Rows, columns and depth of products."""

BLOCKS = ((128, 128), (128, 256), (256, 128), (256, 256))
"""Rows and columns of the block of a work-group, whose subgroups have 32 x 32 elements each."""

HEADS, LENGTH = 64, 4096
"""Of attention: how many heads, and queries and keys of each."""

ATTENTIONS = ((64, 32), (64, 64), (128, 128))
"""Elements of a query, and how many keys a step has; the first is the example as it is."""

COLUMN, COLUMNS = 32768, 8192
"""The size of a column of softmax, and how many there are."""

_PROMISES = {
    "%A: memref<f16x?x?>": "%A: memref<f16x?x?> {alignment=128, stride_gcd=[1,8]}",
    "%B: memref<f16x?x?>": "%B: memref<f16x?x?> {alignment=128, stride_gcd=[1,8]}",
    "%C: memref<f32x?x?>": (
        "%C: memref<f32x?x?> {alignment=128, shape_gcd=[4,1], stride_gcd=[1,4]}"
    ),
    **{
        f"%{name}: memref<f32x?x?>": (
            f"%{name}: memref<f32x?x?> {{alignment=128, shape_gcd=[4,1], stride_gcd=[1,4]}}"
        )
        for name in "XY"
    },
    "stride_gcd=[1,$d,$d]": "alignment=128, stride_gcd=[1,$d,$d]",
}
"""What is promised of arguments."""


def _replaced(text: str, words: dict[str, str]) -> str:
    for old, new in words.items():
        text = text.replace(old, new)
    return text


def example(name: str) -> Kernel:
    """An example, with promises."""
    return Kernel(name, _replaced((EXAMPLES / f"{name}.ir").read_text(), _PROMISES))


def subgroup_gemm(type: str, rows: int, columns: int) -> Kernel:
    """The product by subgroups with other blocks, whose result has the type of the factors."""
    text = _replaced(
        example("subgroup_gemm").text,
        {
            "[64,8]": f"[{rows // 2},{columns // 32}]",
            "%block_rows = constant 128": f"%block_rows = constant {rows}",
            "%block_columns = constant 256": f"%block_columns = constant {columns}",
            "memref<f32x?x?> {alignment=128, shape_gcd=[4,1], stride_gcd=[1,4]}": (
                "memref<f16x?x?> {alignment=128, shape_gcd=[8,1], stride_gcd=[1,8]}"
            ),
            "cooperative_matrix_store.n.both_checked %ab": (
                "%rounded = cast %ab : coopmatrix<f16x32x32,matrix_acc>\n"
                "        cooperative_matrix_store.n.both_checked %rounded"
            ),
        },
    ).replace("f16x", f"{type}x")
    return Kernel(f"subgroup_gemm_{type}_{rows}_{columns}", text)


def coopmatrix_gemm(type: str) -> Kernel:
    """The product by tiles of `foreach_tile` that is added to what memory has."""
    text = example("coopmatrix_gemm").text.replace("f16x", f"{type}x")
    return Kernel(f"coopmatrix_gemm_{type}", text)


def lane_gemm(type: str, size: int, rows: int, columns: int) -> Kernel:
    """The same product, of matrices whose sizes are known and multiples of a block."""
    source = subgroup_gemm(type, rows, columns).text.replace(".both_checked", "")
    text = re.sub(
        rf"memref<{type}x\?x\?> {{.*?}}", f"memref<{type}x{size}x{size}> {{alignment=128}}", source
    )
    return Kernel(f"lane_gemm_{type}_{size}_{rows}_{columns}", text)


def flash_attention(width: int, keys: int) -> Kernel:
    """The example with other numbers in its first lines."""
    text = _replaced(
        example("flash_attention").text,
        {"$d = 64": f"$d = {width}", "$keys = 32": f"$keys = {keys}"},
    )
    return Kernel(f"flash_attention_{width}_{keys}", text)


LANES = [lane_gemm(type, size, *block) for size in SIZES for type in TYPES for block in BLOCKS[1:]]
"""What becomes XeGPU of lanes before it becomes tiles."""

KERNELS = [
    *(subgroup_gemm(type, *block) for type in TYPES for block in BLOCKS),
    *map(coopmatrix_gemm, TYPES),
    *(flash_attention(*each) for each in ATTENTIONS),
    *map(example, ("softmax", "whole_softmax", "wide_softmax")),
]


# --- what is measured ---


def product(torch: Any, type: str, size: int, rows: int, columns: int) -> Workload:
    """A large product; PyTorch multiplies the transposed matrices, which are row-major."""
    return _product(
        torch, subgroup_gemm(type, rows, columns), "subgroup_gemm", type, size, rows, columns
    )


def product_of_lanes(torch: Any, type: str, size: int, rows: int, columns: int) -> Workload:
    """The same by the port to XeGPU of lanes."""
    return _product(
        torch, lane_gemm(type, size, rows, columns), "XeGPU of lanes", type, size, rows, columns
    )


def _product(
    torch: Any, kernel: Kernel, name: str, type: str, size: int, rows: int, columns: int
) -> Workload:
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[type]
    a, b, c = (column_major(torch, size, size, dtype=dtype) for _ in range(3))
    out = torch.empty_like(c.T)
    # One rounding of the result, and sums in f32 in any order.
    tolerance = (2**-8 if type == "bf16" else 2**-11) + size * 2**-24
    return Workload(
        kernel,
        f"{name} {type} {size}^3, work-groups of {rows} x {columns}",
        (a, b, c),
        (size // rows, size // columns),
        2 * size**3,
        "TFLOP/s",
        lambda: torch.matmul(b.T, a.T, out=out),
        lambda: _error_of_product(torch, a, b, lambda rows: c[rows]),
        tolerance,
        4 if size > 4096 else 12,
    )


def _error_of_product(torch: Any, a: Any, b: Any, c: Callable[[Any], Any]) -> float:
    """The largest error of a part of the rows, relative to the sum of absolute values."""
    rows = torch.randperm(a.shape[0], device="cuda")[:256]
    exact = a[rows].double() @ b.double()
    scale = a[rows].double().abs() @ b.double().abs()
    return float(((c(rows).double() - exact).abs() / scale).max())


def updated_product(torch: Any, type: str, size: int, *, reads_c: bool) -> Workload:
    """C := A B + 0 C with an f32 result, as coopmatrix_gemm computes it.

    PyTorch computes A B in the type of A, or adds it to a matrix of f32, which is the same work.
    """
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16}[type]
    a, b = (column_major(torch, size, size, dtype=dtype) for _ in range(2))
    c = column_major(torch, size, size, dtype=torch.float32)
    out = torch.zeros(size, size, dtype=torch.float32 if reads_c else dtype, device="cuda")

    def rival() -> Any:
        if reads_c:
            return torch.addmm(out, b.T, a.T, out_dtype=torch.float32, out=out)
        return torch.matmul(b.T, a.T, out=out)

    rival_name = "torch.addmm of f32" if reads_c else "torch.matmul"
    return Workload(
        coopmatrix_gemm(type),
        f"coopmatrix_gemm {type} to f32 {size}^3, work-groups of 128 x 64; {rival_name}",
        (1.0, a, b, 0.0, c),
        (size // 128, size // 64),
        2 * size**3,
        "TFLOP/s",
        rival,
        lambda: _error_of_product(torch, a, b, lambda rows: c[rows]),
        size * 2**-24,
        4 if size > 4096 else 12,
    )


def attention(torch: Any, width: int, keys: int) -> Workload:
    """Attention that is not causal; PyTorch takes its fastest way, which is cuDNN's."""
    q, k, v, o = (column_major(torch, width, LENGTH, HEADS, dtype=torch.float16) for _ in range(4))
    rows = [each.permute(2, 1, 0)[None] for each in (q, k, v)]
    scale = width**-0.5

    def rival() -> Any:
        return torch.nn.functional.scaled_dot_product_attention(*rows, scale=scale)

    def error() -> float:
        a, b, c = (each[0, :4].double() for each in rows)
        exact = torch.softmax(scale * (a @ b.transpose(1, 2)), 2) @ c
        return float((o.permute(2, 1, 0)[:4].double() - exact).abs().max())

    return Workload(
        flash_attention(width, keys),
        f"flash_attention f16, {HEADS} heads of {LENGTH} x {width}, steps of {keys} keys",
        (q, k, v, o, scale),
        (LENGTH // 64, HEADS),
        4 * HEADS * LENGTH**2 * width,
        "TFLOP/s",
        rival,
        error,
        2e-3,
        4,
    )


def softmax(torch: Any, name: str, columns: int) -> Workload:
    """The softmax of columns, of which a work-group handles some."""
    x, y = (column_major(torch, COLUMN, COLUMNS, dtype=torch.float32) for _ in range(2))

    def error() -> float:
        exact = torch.softmax(x[:, :512].double(), 0)
        return float(((y[:, :512].double() - exact).abs() / exact).max())

    return Workload(
        example(name),
        f"{name} f32, {COLUMNS} columns of {COLUMN}",
        (x, y),
        (COLUMNS // columns,),
        8 * COLUMN * COLUMNS,
        "TB/s",
        lambda: torch.softmax(x.T, 1),
        error,
        1e-5,
        4,
    )


def compile_all(directory: Path, only: str, *, launch_checks: bool) -> None:
    """Compiles kernels to cubins with their sidecars."""
    directory.mkdir(parents=True, exist_ok=True)
    for kernel in (each for each in KERNELS if only in each.name):
        path = directory / f"{kernel.name}.cubin"
        xtile.compile(kernel.text, path, chip=CHIP, launch_checks=launch_checks)
    for kernel in (each for each in LANES if only in each.name):
        lanes = xtile.port(kernel.text, "xegpu", chip="pvc")
        path = directory / f"{kernel.name}.cubin"
        xtile.compile(lanes, path, chip=CHIP, launch_checks=launch_checks)


def run_all(cubins: Path, only: str) -> None:
    """Prints the table."""
    import torch

    makers: Sequence[Callable[[], Workload]] = [
        *(
            lambda t=type, s=size, b=block: product(torch, t, s, *b)
            for size in SIZES
            for type in TYPES
            for block in BLOCKS
        ),
        *(
            lambda t=type, s=size, b=block: product_of_lanes(torch, t, s, *b)
            for size in SIZES
            for type in TYPES
            for block in BLOCKS[1:]
        ),
        *(
            lambda t=type, s=size, c=reads_c: updated_product(torch, t, s, reads_c=c)
            for size in SIZES
            for type in TYPES
            for reads_c in (False, True)
        ),
        *(lambda each=each: attention(torch, *each) for each in ATTENTIONS),
        lambda: softmax(torch, "softmax", 8),
        lambda: softmax(torch, "wide_softmax", 1),
        lambda: softmax(torch, "whole_softmax", 1),
    ]
    rows: list[list[str]] = []
    for make in makers:
        workload = make()
        if only in workload.name:
            rows.append(measure(torch, workload, cubins))
        del workload
        torch.cuda.empty_cache()
    name = torch.cuda.get_device_name()
    headings = ["kernel", "xtile", "PyTorch", "ratio", "error"]
    print_table(f"{name}, {conditions('torch')}", headings, rows)


def main() -> None:
    """Compiles the kernels, or runs them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", type=Path, metavar="DIRECTORY")
    parser.add_argument("--launch-checks", action="store_true", help="rely on many work-groups")
    parser.add_argument("--cubins", type=Path, metavar="DIRECTORY")
    parser.add_argument("--only", default="", help="part of the names of kernels and rows")
    options = parser.parse_args()
    if options.compile is not None:
        compile_all(options.compile, options.only, launch_checks=options.launch_checks)
    elif options.cubins is not None:
        run_all(options.cubins, options.only)
    else:
        parser.error("one of --compile and --cubins is needed")


if __name__ == "__main__":
    main()
