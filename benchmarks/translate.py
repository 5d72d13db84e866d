"""How long translating the tensor language to XeGPU takes, by the length of the kernel.

python benchmarks/translate.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measuring import Cost, conditions, cost_of_call, cost_of_command, print_table, seconds

import xtile
from xtile.translate.route import translate

BIN = Path(sys.executable).parent
ROUTE = "tensorlang-to-xegpu"

LENGTHS = {10: 7, 100: 3, 1000: 1}
"""How often a kernel with so many instructions is translated."""

HEAD = """\
func @f(%alpha: f16, %A: memref<f16x128x64>, %B: memref<f16x64x128>, %beta: f32,
        %C: memref<f32x128x128>) {
"""
GEMM = "    gemm.n.n %alpha, %A, %B, %beta, %C\n"


def kernel(length: int) -> str:
    """A kernel with this number of products, each on the matrix unit."""
    return HEAD + GEMM * length + "}\n"


def row(length: int, directory: Path) -> list[str]:
    """The line of the table for one length."""
    path = directory / f"gemm{length}.ir"
    path.write_text(kernel(length))
    command = [str(BIN / "xtile-opt"), str(path), "--translate", ROUTE]
    repeats = LENGTHS[length]
    cold = cost_of_command(command, repeats)
    module = xtile.parse(path)
    warm = cost_of_call(lambda: translate(module, ROUTE), repeats)
    everything = cost_of_call(
        lambda: xtile.to_text(translate(xtile.parse(path), ROUTE), "mlir"), repeats
    )
    return [
        str(length),
        *(_cells(cold)),
        seconds(warm.cpu),
        seconds(everything.cpu),
        _each(warm, length),
    ]


def _cells(cost: Cost) -> list[str]:
    return [seconds(cost.wall), seconds(cost.cpu)]


def _each(cost: Cost, length: int) -> str:
    return seconds(cost.cpu / length)


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as directory:
        rows = [row(length, Path(directory)) for length in LENGTHS]
    headings = [
        "gemm instructions",
        "command, wall",
        "command, CPU",
        "translation, CPU",
        "with text in and out, CPU",
        "translation of each, CPU",
    ]
    print_table(f"{ROUTE}; medians", headings, rows)
    print(conditions())


if __name__ == "__main__":
    main()
