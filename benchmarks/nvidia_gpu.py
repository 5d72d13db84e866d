"""How fast kernels of the tensor language run on an NVIDIA GPU: the yardstick is PyTorch.

    python benchmarks/nvidia_gpu.py --compile DIRECTORY     anywhere with tileiras: makes the cubins
    python benchmarks/nvidia_gpu.py --cubins DIRECTORY      on a GPU with PyTorch: runs them
    python benchmarks/nvidia_gpu.py --times                 anywhere: how long it takes to compile

A kernel and its rival are each recorded in a CUDA graph with several launches, so that no time of
the host counts. The graphs take turns; the figures are medians. Results are checked against
products in f64, or against PyTorch where it does the same sum.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measuring import conditions, cost_of_call, print_table, seconds
from nvidia_gpu_kernels import AXPBY, AXPBY_BLOCK, ROWS, SOFTMAX, SUM, Kernel, batched, gemm
from xdsl.dialects.builtin import ModuleOp

import xtile
from xtile.backends.nvidia.cubins import assemble
from xtile.backends.nvidia.tools import find_tileiras
from xtile.dialects.cuda_tile.bytecode import encode
from xtile.translate.route import Options, translate

REPEATS = 15

CHIP = "sm_90"

TYPES = ("bf16", "f16")

PRODUCTS = [
    *(
        (type, *size)
        for size in (
            (8192, 8192, 8192),
            (4096, 4096, 4096),
            (4096, 11008, 4096),
            (8000, 8008, 8040),
            (4000, 4008, 4040),
        )
        for type in TYPES
    ),
    ("f32", 8192, 8192, 8192),
    ("f32", 4096, 4096, 4096),
    ("f32", 4000, 4008, 4040),
    ("f64", 4096, 4096, 4096),
]
"""Types and sizes m, n, k of products; sizes of 8000 and 4000 are no multiples of a block."""

BATCH = 10_000
SIZE = 64
"""The batch of small products, and the size of their matrices."""

ELEMENTS = 1 << 28
"""1 GiB of f32."""

KERNELS = [
    *(gemm(*each) for each in PRODUCTS),
    *(batched(type, SIZE) for type in (*TYPES, "f32")),
    Kernel("axpby", AXPBY),
    Kernel("sum", SUM),
    Kernel("softmax", SOFTMAX),
]


@dataclass(frozen=True)
class Workload:
    """A kernel and its rival on the same arrays.

    Attributes:
        kernel: The kernel.
        name: What the table calls it.
        arguments: Its arguments.
        grid: The work-groups.
        work: Its floating-point operations, or the bytes that it must read and write.
        unit: A million million units of work in a second.
        rival: What PyTorch does.
        error: The largest relative error of what one launch has computed.
        tolerance: What it may be.
        launches: How many of them a graph has.
    """

    kernel: Kernel
    name: str
    arguments: Sequence[Any]
    grid: tuple[int, ...]
    work: int
    unit: str
    rival: Callable[[], object]
    error: Callable[[], float]
    tolerance: float
    launches: int


def column_major(torch: Any, *shape: int, dtype: Any) -> Any:
    """Standard normal numbers on the GPU in the order of the tensor language's matrices."""
    return torch.randn(*reversed(shape), dtype=dtype, device="cuda").permute(
        *reversed(range(len(shape)))
    )


def product(torch: Any, type: str, m: int, n: int, k: int) -> Workload:
    """A large product; PyTorch multiplies the transposed matrices, which are row-major."""
    names = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"}
    dtype = getattr(torch, names[type])
    a = column_major(torch, m, k, dtype=dtype)
    b = column_major(torch, k, n, dtype=dtype)
    c = column_major(torch, m, n, dtype=dtype)
    out = torch.empty_like(c.T)
    groups = torch.cuda.get_device_properties(0).multi_processor_count

    def error() -> float:
        # A part of the rows in f64; the whole product would take a second.
        rows = torch.randperm(m, device="cuda")[:256]
        exact = a[rows].double() @ b.double()
        scale = a[rows].double().abs() @ b.double().abs()
        return float(((c[rows].double() - exact).abs() / scale).max())

    # One rounding of the result, and sums of k products in f32 in any order.
    own = {"bf16": 2**-8, "f16": 2**-11}.get(type, 0)
    tolerance = own + k * (2**-53 if type == "f64" else 2**-24)
    return Workload(
        gemm(type, m, n, k),
        f"gemm {type} {m} x {n} x {k}",
        (a, b, c),
        # Two multiprocessors work on a block of 256 x 256 of narrow factors.
        (groups if type in ("f32", "f64") else groups // 2,),
        2 * m * n * k,
        "TFLOP/s",
        lambda: torch.matmul(b.T, a.T, out=out),
        error,
        tolerance,
        4 if m * n * k > 1 << 37 else 12,
    )


def batch(torch: Any, type: str) -> Workload:
    """A batch of small products."""
    dtype = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}[type]
    a, b, c = (column_major(torch, SIZE, SIZE, BATCH, dtype=dtype) for _ in range(3))
    rows = [x.permute(2, 1, 0) for x in (a, b)]
    out = torch.empty_like(rows[0])

    def error() -> float:
        exact = rows[1].double() @ rows[0].double()
        scale = rows[1].double().abs() @ rows[0].double().abs()
        return float(((c.permute(2, 1, 0).double() - exact).abs() / scale).max())

    tolerance = {"bf16": 2**-8, "f16": 2**-11, "f32": 0}[type] + SIZE * 2**-24
    return Workload(
        batched(type, SIZE),
        f"{BATCH} products {type} {SIZE} x {SIZE} x {SIZE}",
        (a, b, c),
        (BATCH,),
        3 * BATCH * SIZE * SIZE * a.element_size(),
        "TB/s",
        lambda: torch.bmm(rows[1], rows[0], out=out),
        error,
        tolerance,
        20,
    )


def memory_bound(torch: Any) -> list[Workload]:
    """Kernels that read or write 1 GiB."""
    x = torch.randn(ELEMENTS, device="cuda")
    y = torch.randn(ELEMENTS, device="cuda")
    half = ELEMENTS // 2
    x_half, y_half = x[:half], y[:half]
    before = y_half.clone()
    columns = ELEMENTS // ROWS
    x_matrix, y_matrix = x.view(columns, ROWS), y.view(columns, ROWS)
    sums, out = torch.empty(columns, device="cuda"), torch.empty(columns, device="cuda")
    scratch = before.clone()

    def axpby_error() -> float:
        return float((scratch - (before + 0.5 * x_half)).abs().max())

    def sum_error() -> float:
        exact, scale = x_matrix.double().sum(1), x_matrix.double().abs().sum(1)
        return float(((sums.double() - exact).abs() / scale).max())

    def softmax_error() -> float:
        exact = torch.softmax(x_matrix[:4096].double(), 1)
        return float(((y_matrix[:4096].double() - exact).abs() / exact).max())

    return [
        Workload(
            Kernel("axpby", AXPBY),
            "axpby, 1 GiB in two vectors",
            (0.5, x_half, 1.0, scratch),
            (half // AXPBY_BLOCK,),
            3 * 4 * half,
            "TB/s",
            lambda: torch.add(y_half, x_half, alpha=0.5, out=y_half),
            axpby_error,
            1e-6,
            4,
        ),
        Workload(
            Kernel("sum", SUM),
            "sum of columns, 1 GiB",
            (x_matrix.T, sums),
            (columns,),
            4 * ELEMENTS,
            "TB/s",
            lambda: torch.sum(x_matrix, 1, out=out),
            sum_error,
            ROWS * 2**-24,
            4,
        ),
        Workload(
            Kernel("softmax", SOFTMAX),
            "softmax of columns, 1 GiB",
            (x_matrix.T, y_matrix.T),
            (columns,),
            2 * 4 * ELEMENTS,
            "TB/s",
            lambda: torch.softmax(x_matrix, 1),
            softmax_error,
            1e-5,
            4,
        ),
    ]


def graph_of(torch: Any, enqueue: Callable[[], object], launches: int) -> Any:
    """A CUDA graph of several launches."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        enqueue()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(launches):
                enqueue()
    return graph


def seconds_of(torch: Any, graph: Any, launches: int) -> float:
    """The time of one launch of a graph."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) / 1e3 / launches


def measure(torch: Any, workload: Workload, cubins: Path) -> list[str]:
    """A row of the table."""
    path = cubins / f"{workload.kernel.name}.cubin"
    prepared = xtile.prepare(path, workload.arguments, workload.grid)

    def enqueue() -> None:
        prepared.enqueue(torch.cuda.current_stream().cuda_stream)

    enqueue()
    torch.cuda.synchronize()
    error = workload.error()
    graphs = [graph_of(torch, f, workload.launches) for f in (enqueue, workload.rival)]
    times: list[list[float]] = [[], []]
    for _ in range(REPEATS):
        for graph, own in zip(graphs, times, strict=True):
            own.append(seconds_of(torch, graph, workload.launches))
    ours, rival = map(statistics.median, times)
    verdict = "" if error <= workload.tolerance else " WRONG"
    return [
        workload.name,
        f"{workload.work / ours / 1e12:.3g} {workload.unit}",
        f"{workload.work / rival / 1e12:.3g} {workload.unit}",
        f"{rival / ours:.3f}",
        f"{error:.1e}{verdict}",
    ]


def compile_all(directory: Path, only: str) -> None:
    """Compiles kernels to cubins with their sidecars."""
    directory.mkdir(parents=True, exist_ok=True)
    for kernel in KERNELS:
        if only in kernel.name:
            xtile.compile(kernel.text, directory / f"{kernel.name}.cubin", chip=CHIP)


def time_of(text: str) -> list[str]:
    """How long a text takes to become CUDA Tile IR, bytecode and a cubin, in this process."""

    def lowered() -> ModuleOp:
        return translate(xtile.parse(text), "tensorlang-to-cuda_tile", Options(CHIP))

    module = lowered()
    code = encode(module)
    costs = [
        cost_of_call(lambda: xtile.parse(text), REPEATS),
        cost_of_call(lambda: encode(lowered()), REPEATS),
        cost_of_call(lambda: assemble(code, CHIP, find_tileiras()), 3),
    ]
    return [str(len(code)), *(seconds(cost.cpu) for cost in costs[:2]), seconds(costs[2].wall)]


def print_times() -> None:
    """Prints how long the kernels take to compile."""
    rows = [[kernel.name, *time_of(kernel.text)] for kernel in KERNELS]
    headings = ["kernel", "bytes", "read", "text to bytecode", "tileiras, wall"]
    print_table(f"For {CHIP}, {conditions()}", headings, rows)


def run_all(cubins: Path, only: str) -> None:
    """Prints the table."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    makers: list[Callable[[], Sequence[Workload]]] = [
        *(lambda each=each: [product(torch, *each)] for each in PRODUCTS),
        *(lambda t=t: [batch(torch, t)] for t in (*TYPES, "f32")),
        lambda: memory_bound(torch),
    ]
    rows: list[list[str]] = []
    for make in makers:
        for workload in make():
            if only in workload.name:
                rows.append(measure(torch, workload, cubins))
        torch.cuda.empty_cache()
    name = torch.cuda.get_device_name()
    headings = ["kernel", "xtile", "PyTorch", "ratio", "error"]
    print_table(f"{name}, {conditions('torch')}", headings, rows)


def main() -> None:
    """Compiles the kernels, or runs them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", type=Path, metavar="DIRECTORY")
    parser.add_argument("--cubins", type=Path, metavar="DIRECTORY")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--only", default="", help="part of the names of kernels and rows")
    options = parser.parse_args()
    if options.compile is not None:
        compile_all(options.compile, options.only)
    elif options.times:
        print_times()
    elif options.cubins is not None:
        run_all(options.cubins, options.only)
    else:
        parser.error("one of --compile, --cubins and --times is needed")


if __name__ == "__main__":
    main()
