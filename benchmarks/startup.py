"""How long the commands take to start: the yardsticks are Python itself and stock xdsl-opt.

python benchmarks/startup.py
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from measuring import Cost, conditions, cost_of_command, print_table, seconds

REPEATS = 11

BIN = Path(sys.executable).parent

SMALL_MLIR = """\
builtin.module {
  func.func @f(%a: i32, %b: i32) -> i32 {
    %c = arith.addi %a, %b : i32
    func.return %c : i32
  }
}
"""

SMALL_IR = """\
func @f(%alpha: f32, %A: memref<f32x16x16>, %B: memref<f32x16x16>) {
    %zero = constant 0.0 : f32
    axpby.n %alpha, %A, %zero, %B
}
"""

PRODUCT_IR = """\
func @product(%A: memref<f32x64x64>, %B: memref<f32x64x64>, %C: memref<f32x64x64>) {
    %one = constant 1.0 : f32
    %zero = constant 0.0 : f32
    gemm.n.n %one, %A, %B, %zero, %C
}
"""


def commands(directory: Path) -> dict[str, list[str]]:
    """What is measured."""
    small_ir, small_mlir = directory / "small.ir", directory / "small.mlir"
    small_ir.write_text(SMALL_IR)
    small_mlir.write_text(SMALL_MLIR)
    product_ir = directory / "product.ir"
    product_ir.write_text(PRODUCT_IR)
    return {
        "python -c pass": [sys.executable, "-c", "pass"],
        "python -c 'import xtile'": [sys.executable, "-c", "import xtile"],
        "python -c 'import xdsl.ir'": [sys.executable, "-c", "import xdsl.ir"],
        "xtile --help": [str(BIN / "xtile"), "--help"],
        "xtile-opt --help": [str(BIN / "xtile-opt"), "--help"],
        "xdsl-opt --help": [str(BIN / "xdsl-opt"), "--help"],
        "xtile-opt small.ir": [str(BIN / "xtile-opt"), str(small_ir)],
        "xtile-opt product.ir --translate tensorlang-to-xegpu": [
            *(str(BIN / "xtile-opt"), str(product_ir)),
            *("--translate", "tensorlang-to-xegpu"),
        ],
        "xtile-opt small.mlir": [str(BIN / "xtile-opt"), str(small_mlir)],
        "xdsl-opt small.mlir": [str(BIN / "xdsl-opt"), str(small_mlir)],
    }


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as directory:
        costs: dict[str, Cost] = {
            name: cost_of_command(command, REPEATS)
            for name, command in commands(Path(directory)).items()
        }
    rows = [[name, seconds(cost.wall), seconds(cost.cpu)] for name, cost in costs.items()]
    print_table(f"start-up, median of {REPEATS}", ["command", "wall", "CPU"], rows)
    print(conditions())


if __name__ == "__main__":
    main()
