"""What stock `xdsl-opt` prints after passes of ours, it reads again without options."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from xdsl.xdsl_opt_main import xDSLOptMain

import xtile

EXAMPLES = Path(__file__).parents[1] / "examples"
KERNELS = ("axpby", "fused_kernel", "reductions")
PASSES = (
    "tensorlang-to-core",
    "tensorlang-to-subgroup",
    "tensorlang-to-tile",
    "tensorlang-to-xegpu",
    "tensorlang-to-spirv",
    "tensorlang-to-cuda_tile",
)


def xdsl_opt(*arguments: str) -> str:
    """What stock xdsl-opt prints."""
    output = StringIO()
    with redirect_stdout(output):
        xDSLOptMain(args=list(arguments)).run()
    return output.getvalue()


def source(kernel: str, directory: Path) -> str:
    """The path of an example as MLIR text."""
    path = directory / f"{kernel}.mlir"
    path.write_text(xtile.to_text(xtile.parse(EXAMPLES / f"{kernel}.ir"), "mlir"))
    return str(path)


@pytest.mark.parametrize("name", PASSES)
def test_what_passes_print_is_read_again(name: str, tmp_path: Path) -> None:
    for kernel in KERNELS:
        printed = xdsl_opt(source(kernel, tmp_path), "-p", name)
        path = tmp_path / "printed.mlir"
        path.write_text(printed)
        assert xdsl_opt(str(path)) == printed


def test_one_process_reads_what_another_prints(tmp_path: Path) -> None:
    command = str(Path(sys.executable).with_name("xdsl-opt"))
    lowering = subprocess.run(
        [command, source("reductions", tmp_path), "-p", "tensorlang-to-tile"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert "arith.select" in lowering.stdout
    assert "vector<1024xi1>" in lowering.stdout
    path = tmp_path / "tile.mlir"
    path.write_text(lowering.stdout)
    again = subprocess.run(
        [command, str(path)], capture_output=True, text=True, check=True, timeout=120
    )
    assert again.stdout == lowering.stdout
