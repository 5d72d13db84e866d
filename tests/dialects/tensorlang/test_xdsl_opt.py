"""Stock `xdsl-opt`, as a process of its own, on files that hold every instruction."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tests.dialects.tensorlang.round_trip import (
    assert_equivalent,
    ir_text,
    locations,
    mlir_text,
    module_from_ir,
    module_from_mlir,
)
from tests.generators.tensorlang_kernels import random_kernel
from xtile.dialects.tensorlang.ops import OPERATIONS

SEEDS = (29, 17, 35, 71, 83, 85, 90)
"""Of random kernels that have every instruction between them."""

KERNEL_SIZE = 40


def xdsl_opt(path: Path, *arguments: str) -> str:
    """What stock xdsl-opt prints for a file."""
    command = [str(Path(sys.executable).with_name("xdsl-opt")), str(path), *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def module() -> ModuleOp:
    """Random kernels with every instruction in one module, with locations of `.ir` text."""
    functions = [
        function.clone()
        for seed in SEEDS
        for function in random_kernel(seed, KERNEL_SIZE).body.block.ops
    ]
    for i, function in enumerate(functions):
        function.properties["sym_name"] = StringAttr(f"kernel{i}")
    everything = ModuleOp(functions)
    assert {cls.name for cls in OPERATIONS} <= {operation.name for operation in everything.walk()}
    return module_from_ir(ir_text(everything), "dir/kernels.ir")


@pytest.mark.parametrize("arguments", [[], ["--print-op-generic"]], ids=["custom", "generic"])
@pytest.mark.parametrize("generic", [False, True], ids=["from custom", "from generic"])
def test_every_instruction(
    module: ModuleOp, generic: bool, arguments: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "kernels.mlir"
    path.write_text(mlir_text(module, generic=generic, debuginfo=True, local_scope=True))
    printed = xdsl_opt(path, "--print-debuginfo", *arguments)
    assert 'loc("dir/kernels.ir":1:1)' in printed
    assert ('"tensorlang.constant"()' in printed) == bool(arguments)
    reread = module_from_mlir(printed)
    assert_equivalent(module, reread, printed)
    assert locations(reread) == locations(module)


SAXPY_IR = """\
; y := alpha x + y ⪯ 2
func @saxpy(%alpha: f32, %x: memref<f32x?> {alignment=64}, %y: memref<f32x?>) {
    %one = constant 1.0 : f32
    axpby %alpha, %x, %one, %y ; größer
}
"""

SAXPY_MLIR = """\
builtin.module {
  tensorlang.func @saxpy(%alpha: f32, %x: !tensorlang.memref<?xf32> {alignment = 64 : i64}, \
%y: !tensorlang.memref<?xf32>) {
    %one = tensorlang.constant 1.0 : f32
    tensorlang.axpby %alpha, %x, %one, %y
  }
}
"""


def test_the_text_that_it_prints(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY_MLIR)
    assert xdsl_opt(path).rstrip("\n") == SAXPY_MLIR.rstrip("\n")


def test_the_target_and_the_pass(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.mlir"
    path.write_text(mlir_text(module_from_ir(SAXPY_IR)))
    assert xdsl_opt(path, "-p", "tensorlang-verify", "-t", "tensorlang") == SAXPY_IR


def test_errors_of_the_verifier(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mlir"
    path.write_text(SAXPY_MLIR.replace("constant 1.0", "constant 1"))
    command = [str(Path(sys.executable).with_name("xdsl-opt")), str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode != 0
    assert "f32 needs a floating constant, such as 1.0, but this is an integer" in result.stderr
