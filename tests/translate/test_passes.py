"""The translations as passes: in stock xdsl-opt, in xtile-opt and from Python."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

import xtile
from tests.mlir_opt import run_mlir_opt
from xtile.text.diagnostics import DiagnosticError
from xtile.translate.passes import pass_named
from xtile.translate.route import Options, translate

KERNEL = """\
func @f(%alpha: f16, %A: memref<f16x64x64>, %B: memref<f16x64x64>, %beta: f32,
        %C: memref<f32x64x64>) {
    gemm.n.n %alpha, %A, %B, %beta, %C
}
"""

NARROW = """\
func @f(%A: memref<i8x64>) {
    parallel {
        %a = constant 1 : coopmatrix<i8x64x8,matrix_b>
        %b = cooperative_matrix_extract %a[1] : i8
    }
}
"""

STEPS = "tensorlang-to-core,core-distribute{{chip={0}}},core-cleanup,core-to-xegpu{{chip={0}}}"


def _module(text: str = KERNEL) -> ModuleOp:
    return xtile.parse(text, language="tensorlang")


def _pass(name: str, **options: object) -> ModulePass:
    kind: Any = pass_named(name)
    return kind(**options)


def _xdsl_opt(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("xdsl-opt")), str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The kernel as MLIR text, which stock xdsl-opt reads."""
    result = tmp_path / "kernel.mlir"
    result.write_text(xtile.to_text(_module(), "mlir"))
    return result


@pytest.mark.parametrize("chip", ["pvc", "dg2"])
def test_stock_xdsl_opt_runs_the_whole_route(path: Path, chip: str) -> None:
    at_once = _xdsl_opt(path, "-p", f"tensorlang-to-xegpu{{chip={chip}}}", "--print-op-generic")
    assert at_once.returncode == 0, at_once.stderr
    assert ('"xegpu.dpas"' in at_once.stdout) == (chip == "pvc")
    accepted = run_mlir_opt(at_once.stdout)
    assert (accepted.returncode, accepted.stderr) == (0, "")


def test_stock_xdsl_opt_runs_the_steps(path: Path) -> None:
    by_steps = _xdsl_opt(path, "-p", STEPS.format("pvc"))
    assert by_steps.returncode == 0, by_steps.stderr
    assert by_steps.stdout == _xdsl_opt(path, "-p", "tensorlang-to-xegpu").stdout


def test_stock_xdsl_opt_tells_that_a_pass_failed(tmp_path: Path) -> None:
    path = tmp_path / "kernel.mlir"
    path.write_text(xtile.to_text(_module(NARROW), "mlir"))
    result = _xdsl_opt(path, "-p", "tensorlang-to-core")
    assert result.returncode != 0
    assert "give the function the attribute subgroup_size" in result.stderr


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["pvc", "bmg", "dg2"])
def test_the_steps_are_the_route(chip: str) -> None:
    expected = xtile.to_text(translate(_module(), "tensorlang-to-xegpu", Options(chip)), "mlir")
    whole, stepwise = _module(), _module()
    _pass("tensorlang-to-xegpu", chip=chip).apply(Context(), whole)
    for step in (
        _pass("tensorlang-to-core"),
        _pass("core-distribute", chip=chip),
        _pass("core-cleanup"),
        _pass("subgroup-to-xegpu", chip=chip),
    ):
        step.apply(Context(), stepwise)
    assert xtile.to_text(whole, "mlir") == expected
    assert xtile.to_text(stepwise, "mlir") == expected


@pytest.mark.parametrize("name", ["tensorlang-to-xegpu", "core-to-xegpu", "core-distribute"])
def test_unknown_chips(name: str) -> None:
    with pytest.raises(ValueError, match=r"there is no chip 'xe9'; [a-z-]+ is for pvc, bmg, dg2"):
        _pass(name, chip="xe9")


def test_a_failure_is_located_and_known_to_xdsl() -> None:
    with pytest.raises(PassFailedException) as caught:
        _pass("tensorlang-to-core").apply(Context(), _module(NARROW))
    assert isinstance(caught.value, DiagnosticError)
    assert str(caught.value).startswith(
        "<text>:4.14-50: error: which component entry 1 of coopmatrix<i8x64x8,matrix_b> is depends "
        "on the subgroup size; give the function the attribute subgroup_size\n"
    )


@pytest.mark.parametrize("chip", ["pvc", "cpu"])
def test_stock_xdsl_opt_writes_spirv(path: Path, chip: str) -> None:
    at_once = _xdsl_opt(path, "-p", f"tensorlang-to-spirv{{chip={chip}}}", "-t", "spirv-asm")
    assert at_once.returncode == 0, at_once.stderr
    module = translate(_module(), "tensorlang-to-spirv", Options(chip))
    assert at_once.stdout.rstrip() == xtile.to_text(module, "spirv-asm").rstrip()
    steps = f"tensorlang-to-core,core-to-spirv{{chip={chip}}}"
    assert _xdsl_opt(path, "-p", steps, "-t", "spirv-asm").stdout == at_once.stdout


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["pvc", "cpu"])
def test_the_lane_level_becomes_spirv(chip: str) -> None:
    lanes = translate(_module(), "tensorlang-to-lane", Options(chip))
    _pass("lane-to-spirv", chip=chip).apply(Context(), lanes)
    module = translate(_module(), "tensorlang-to-spirv", Options(chip))
    assert xtile.to_text(lanes, "spirv-asm") == xtile.to_text(module, "spirv-asm")


def test_cuda_tile_in_stock_xdsl_opt(path: Path) -> None:
    result = _xdsl_opt(path, "-p", "tensorlang-to-cuda_tile{chip=sm_100}")
    assert result.returncode == 0, result.stderr
    assert "mmaf" in result.stdout


def test_cuda_tile_from_python() -> None:
    module = _module()
    _pass("tensorlang-to-cuda_tile", chip="sm_80").apply(Context(), module)
    assert "cuda_tile.entry" in {operation.name for operation in module.walk()}


def test_cuda_tile_names_the_chips_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"'pvc' is a chip of Intel's; [a-z_-]+ is for sm_80"):
        _pass("core-to-cuda_tile", chip="pvc")
