"""How fast products of the tensor language run through Triton's compiler on an NVIDIA GPU.

    python benchmarks/tensorlang_through_triton.py --compile DIRECTORY   with Triton, no GPU
    python benchmarks/tensorlang_through_triton.py --cubins DIRECTORY    on a GPU with PyTorch

`examples/subgroup_gemm.ir`, with other blocks and with sizes that are known, becomes text in
Triton's `tt`, which knows no vendor: AMD's GPUs get the same. The yardstick is Triton's own product
in `@triton.jit` with the same tiles, warps and stages, and PyTorch. Each is recorded in a CUDA
graph; the graphs take turns; figures are medians.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measuring import conditions, print_table
from nvidia_gpu import CHIP, REPEATS, column_major, graph_of, seconds_of
from subgroups_on_nvidia import lane_gemm
from triton_on_nvidia import FOLDERS, Launcher, compile_by_triton
from triton_workloads import WORKLOADS, Workload

import xtile

SIZE = 4096
LAUNCHES = 5

STAGES = (3, 4)
"""How many tiles are on their way at once; the faster number counts for xtile and for Triton."""

TYPES = {"bf16": "bfloat16", "f16": "float16"}

BLOCKS = {
    "matmul bf16 4096x4096x4096, tiles 128x256x64": ("bf16", 256, 128),
    "matmul bf16 4096x4096x4096, tiles 128x128x64": ("bf16", 128, 128),
}
"""For products of Triton the type, rows and columns of a block; columns of one are rows of the
other, whose matrices are column-major."""


def rivals() -> Sequence[Workload]:
    """Triton's own products."""
    return [each for each in WORKLOADS if each.name in BLOCKS]


def compile_all(directory: Path) -> None:
    """Compiles each product by Triton, from `@triton.jit` and from the tensor language."""
    from xtile.backends.sidecar import write_machine_code
    from xtile.backends.triton.compilation import compile_with_triton
    from xtile.backends.triton.layouts import Options

    directory.mkdir(parents=True, exist_ok=True)
    sys.path[:0] = map(str, FOLDERS)
    for rival in rivals():
        compile_by_triton(rival, directory / f"{rival.file}.triton.cubin")
        type, rows, columns = BLOCKS[rival.name]
        module = xtile.parse(lane_gemm(type, SIZE, rows, columns).text)
        for stages in STAGES:
            code = compile_with_triton(
                module, CHIP, options=Options(rival.warps, stages), launch_checks=True
            )
            write_machine_code(directory / f"{rival.file}.{stages}.cubin", code)


def measure(torch: Any, rival: Workload, cubins: Path) -> list[str]:
    """A row of the table."""
    type, rows, columns = BLOCKS[rival.name]
    dtype = getattr(torch, TYPES[type])
    a, b, c = (column_major(torch, SIZE, SIZE, dtype=dtype) for _ in range(3))
    out = torch.empty_like(c.T)
    grid = (SIZE // rows, SIZE // columns)
    launches: list[Callable[[], object]] = []
    for stages in STAGES:
        prepared = xtile.prepare(cubins / f"{rival.file}.{stages}.cubin", (a, b, c), grid)
        launches.append(lambda each=prepared: each.enqueue(_stream(torch)))
    errors: list[float] = []
    exact = a[:256].double() @ b.double()
    for launch in launches:
        c.fill_(float("nan"))
        launch()
        torch.cuda.synchronize()
        errors.append(float((c[:256].double() - exact).abs().max() / exact.abs().max()))
    arrays = rival.arrays(torch)
    launcher = Launcher(cubins / f"{rival.file}.triton.cubin", rival, arrays)
    launches.append(lambda: launcher.enqueue(_stream(torch)))
    launches.append(lambda: torch.matmul(b.T, a.T, out=out))
    graphs = [graph_of(torch, launch, LAUNCHES) for launch in launches]
    times: list[list[float]] = [[] for _ in graphs]
    for _ in range(REPEATS):
        for graph, own in zip(graphs, times, strict=True):
            own.append(seconds_of(torch, graph, LAUNCHES))
    *ours, triton, pytorch = map(statistics.median, times)
    best = min(ours)
    verdict = "" if max(errors) <= rival.tolerance else " WRONG"
    rates = [f"{rival.work / each / 1e12:.3g} {rival.unit}" for each in (best, triton, pytorch)]
    ratios = [f"{each / best:.2f}" for each in (triton, pytorch)]
    return [
        rival.name,
        *rates,
        *ratios,
        str(STAGES[ours.index(best)]),
        f"{max(errors):.1e}{verdict}",
    ]


def _stream(torch: Any) -> int:
    return torch.cuda.current_stream().cuda_stream


def run_all(cubins: Path) -> None:
    """Prints the table."""
    import torch

    torch.manual_seed(0)
    rows = [measure(torch, rival, cubins) for rival in rivals()]
    headings = [
        "kernel",
        "xtile",
        "Triton",
        "PyTorch",
        "to Triton",
        "to PyTorch",
        "stages",
        "error",
    ]
    print_table(f"{torch.cuda.get_device_name()}, {conditions('torch')}", headings, rows)


def main() -> None:
    """Compiles the kernels, or runs them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compile", type=Path, metavar="DIRECTORY")
    parser.add_argument("--cubins", type=Path, metavar="DIRECTORY")
    options = parser.parse_args()
    if options.compile is not None:
        compile_all(options.compile)
    elif options.cubins is not None:
        run_all(options.cubins)
    else:
        parser.error("one of --compile and --cubins is needed")


if __name__ == "__main__":
    main()
